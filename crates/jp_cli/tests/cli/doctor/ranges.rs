//! A workspace that asks for a range of versions: what is installed, updated, refused and found.

use serde_json::json;

use super::{fix_of, follow, jp};
use crate::{kit::Ran, shop::Shop};

fn asks_for(shop: &Shop, range: &str) {
    let config = format!("[tooling]\ngreet = \"{range}\"\n");
    shop.sandbox.write("workspace/.jp/config.toml", &config);
}

fn run(shop: &Shop, words: &[&str]) -> Ran {
    jp(&shop.sandbox, words)
}

#[test]
fn a_range_of_the_workspace_decides_which_version_is_installed_and_used() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!([]));
    shop.publish("2.0.0", &json!([]));
    asks_for(&shop, "1");
    run(&shop, &["tool", "outdated"])
        .exits(1)
        .says("NAME   HERE   WANTED  NEWEST")
        .says("greet  1.0.0  1.1.0   2.0.0");
    run(&shop, &["tool", "update"])
        .exits(0)
        .warns("Updated greet from 1.0.0 to 1.1.0.");
    // What the workspace keeps out is shown, and nothing is to be done about it.
    run(&shop, &["tool", "outdated"])
        .exits(0)
        .says("greet  1.1.0  1.1.0   2.0.0");
    shop.is_fine();
    run(&shop, &["tool", "install", "greet@2.0.0"])
        .exits(2)
        .warns("`greet` 2.0.0 does not fit `^1` of `[tooling]`");

    asks_for(&shop, "3");
    run(&shop, &["tool", "install"])
        .exits(127)
        .warns("no version of `greet` fits `^3` of `[tooling]`: `main` has 2.0.0, 1.1.0, 1.0.0")
        .warns("write `greet = \"2.0.0\"` under `[tooling]`");

    asks_for(&shop, "2");
    run(&shop, &["tool", "install", "--locked"])
        .exits(126)
        .warns("it has `greet` in version 1.1.0, which does not fit `^2` of `[tooling]`");
    let found = shop.doctor(&[]);
    let asks = "`[tooling]` asks for `greet@^2`, and `jp.lock` has `greet` 1.1.0";
    let command = fix_of(&found, "error", "greet 1.1.0", asks);
    assert_eq!(command, "jp tool lock");
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found:#}");
    follow(&shop.sandbox, &command);
    shop.is_fine();

    // Back again: shown, and not without a person.
    asks_for(&shop, "1.1.0");
    for words in [["tool", "install"], ["tool", "update"], ["tool", "lock"]] {
        run(&shop, &words)
            .exits(126)
            .warns("would go back from 2.0.0 to 1.1.0, which fits `=1.1.0` of `[tooling]`")
            .warns("`jp tool update greet --yes` accepts it");
    }
    run(&shop, &["tool", "update", "greet", "--yes"])
        .exits(0)
        .warns("`greet` goes back from 2.0.0 to 1.1.0");
    shop.is_fine();
}

#[test]
fn a_range_that_a_stranger_wrote_breaks_nothing_and_is_quoted_safely() {
    let shop = Shop::open();
    let long = "1".repeat(10_000);
    let many = vec![">=1"; 1000].join(",");
    for range in ["1.\\u001b[2J\\u202e", "", "one", &long, &many] {
        asks_for(&shop, range);
        let ran = run(&shop, &["tool", "install"])
            .exits(2)
            .warns("tooling.greet");
        let shown = ran.stderr.contains(['\u{1b}', '\u{202e}']);
        assert!(!shown && ran.stderr.len() < 2000, "{ran:?}");
    }
}

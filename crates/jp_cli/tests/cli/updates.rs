//! Updating, going back and removing, by whichever name a tool goes.

use serde_json::json;

use crate::shop::Shop;

const CONFIG: &str = "workspace/.jp/config.toml";

#[test]
fn an_update_of_all_moves_tools_under_other_names_as_outdated_says() {
    let shop = Shop::open();
    shop.jp(&["tool", "install", "old-greet=greet@1.0.0"]);
    shop.jp(&["tool", "remove", "greet"]);
    shop.publish("1.1.0", &json!([]));
    shop.revoke();
    shop.run(&["tool", "outdated"])
        .exits(1)
        .says("old-greet  1.0.0  1.1.0   1.1.0   revoked: leaks")
        .warns("`jp tool update` brings the newest versions that fit");
    shop.jp(&["tool", "update"])
        .warns("Updated old-greet from 1.0.0 to 1.1.0.");
    shop.jp(&["tool", "outdated"])
        .warns("Everything is up to date.");
    shop.is_fine();
}

#[test]
fn an_update_of_all_leaves_what_tooling_holds_at_one_version() {
    let shop = Shop::open();
    shop.jp(&["tool", "install", "old-greet=greet@1.0.0"]);
    let config = "[tooling]\ngreet = \"*\"\nold-greet = { id = \"greet\", version = \"1.0.0\" }\n";
    shop.sandbox.write(CONFIG, config);
    shop.publish("1.1.0", &json!([]));
    shop.jp(&["tool", "update"])
        .warns("Updated greet from 1.0.0 to 1.1.0.")
        .warns("old-greet 1.0.0 is installed.");
    shop.jp(&["tool", "outdated"])
        .says("old-greet  1.0.0  1.0.0   1.1.0");
}

#[test]
fn an_update_that_could_never_run_is_named_with_the_newest_that_could() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!([]));
    for version in ["1.2.0", "2.0.0"] {
        shop.publish(version, &json!(["net:a.example", "http.request"]));
    }
    let words = ["tool", "update", "greet"];
    let way_out = "`jp tool install greet@1.1.0` takes the newest one that could";
    for _ in 0..2 {
        shop.run(&words)
            .exits(126)
            .warns("`greet` 2.0.0 could never run here")
            .warns("[policy]")
            .warns(way_out);
        shop.revoke();
    }
    // Users who have nothing yet are told, too.
    shop.jp(&["tool", "remove", "greet"]);
    shop.run(&["tool", "install", "greet"])
        .exits(126)
        .warns(way_out);
    shop.jp(&["tool", "install", "greet@1.1.0"]);
    // What is here is the newest that could run: nothing older is offered.
    let ran = shop.run(&words).exits(126).warns("`greet` 2.0.0");
    assert!(!ran.stderr.contains("jp tool install"), "{ran:?}");
}

#[test]
fn going_back_is_not_called_an_update() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!([]));
    shop.jp(&["tool", "update"])
        .warns("Updated greet from 1.0.0 to 1.1.0.");
    let ran = shop
        .jp(&["tool", "install", "greet@1.0.0"])
        .warns("Downgraded greet from 1.1.0 to 1.0.0.");
    assert!(!ran.stderr.contains("Updated"), "{ran:?}");
}

#[test]
fn what_cannot_be_removed_is_not_offered_for_installation() {
    let shop = Shop::open();
    let ran = shop
        .run(&["tool", "remove", "nosuch"])
        .exits(127)
        .warns("`nosuch` is not in `jp.lock`")
        .warns("`jp tool list` shows what is there");
    assert!(!ran.stderr.contains("install"), "{ran:?}");
}

#[test]
fn removing_a_tool_that_tooling_names_says_what_to_delete() {
    let shop = Shop::open();
    shop.sandbox.write(CONFIG, "[tooling]\ngreet = \"1\"\n");
    let still = "`[tooling]` still names `greet`";
    let what = "delete `greet` under `[tooling]` (in a `locara.json`: in its `tooling`)";
    shop.jp(&["tool", "remove", "greet"])
        .warns("Removed greet 1.0.0.")
        .warns(still)
        .warns(what);
    shop.run(&["tool", "remove", "greet"])
        .exits(127)
        .warns(what);
    shop.jp(&["tool", "install", "greet"]);
    shop.sandbox.write(CONFIG, "");
    let ran = shop.jp(&["tool", "remove", "greet"]);
    assert!(!ran.stderr.contains("[tooling]"), "{ran:?}");
}

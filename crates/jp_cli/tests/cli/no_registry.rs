//! Registries that are not there, keys and versions that do not fit: each answer says what to type.

use serde_json::json;

use crate::{
    doctor::jp,
    kit::{Ran, Sandbox},
    shop::Shop,
};

#[test]
fn without_a_registry_every_verb_says_what_to_write_where() {
    let sandbox = Sandbox::new("[tooling]\ngreet = \"1\"\n");
    let told = |words: &[&str]| -> Ran {
        let file = sandbox.path("home/.config/jp/config.toml");
        jp(&sandbox, words)
            .exits(2)
            .warns("your configuration names no registry")
            .warns("`[registries.main]`")
            .warns("url = \"https://")
            .warns(file.to_str().unwrap())
    };
    told(&["tool", "search", "pdf"]);
    told(&["tool", "search", "--offline", "pdf"]);
    told(&["tool", "install", "greet"]);
    told(&["tool", "install"]);
    told(&["tool", "lock"]);
    // Where nothing is locked there is nothing to ask a registry for.
    jp(&sandbox, &["tool", "outdated"]).exits(0);
    let shop = Shop::open();
    shop.sandbox.write("home/.config/jp/config.toml", "");
    for verb in ["update", "outdated"] {
        shop.run(&["tool", verb])
            .exits(2)
            .warns("your configuration names no registry");
    }
    // One that is not the one of the lock file.
    shop.sandbox.write(
        "home/.config/jp/config.toml",
        "[registries.other]\ndir = \"/nowhere\"\n",
    );
    shop.run(&["tool", "update"])
        .exits(2)
        .warns("unknown registry `main`")
        .warns("jp config set --user 'registries.main:=");
}

#[test]
fn the_key_of_a_registry_that_nobody_named_is_warned_of() {
    let shop = Shop::open();
    shop.jp(&["trust", "key", &shop.publisher, "--registry", "mian"])
        .warns("your configuration names no registry `mian`, so the key is not used yet")
        .warns("there is `main`; or `jp config set --user 'registries.mian:=");
    let text = std::fs::read_to_string(shop.sandbox.path("home/.config/jp/config.toml")).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("key = "))
        .unwrap();
    let key = line.trim_start_matches("key = ").trim_matches('"');
    let ran = shop.jp(&["trust", "key", key, "--registry", "main"]);
    assert!(!ran.stderr.contains("names no registry"), "{ran:?}");
}

#[test]
fn a_published_version_never_changes_and_the_same_once_more_is_fine() {
    let shop = Shop::open();
    let words = ["registry", "publish", "../shop", "../greet.json"];
    let key = ["--key", "../registry.key"];
    let publish = |wasm: &str| shop.run(&[&words[..], &[wasm], &key].concat());
    publish("../tool.wasm")
        .exits(0)
        .warns("greet 1.0.0 was there already, with the same content.");
    let raise = "raise `version` in the manifest";
    // The same manifest, and another file.
    std::fs::write(shop.sandbox.path("other.wasm"), b"\0asm other").unwrap();
    publish("../other.wasm")
        .exits(1)
        .warns("greet@1.0.0 is published already, with other content")
        .warns(raise);
    let wasm = std::fs::read(shop.sandbox.path("tool.wasm")).unwrap();
    let mut flipped = wasm.clone();
    *flipped.last_mut().unwrap() ^= 1;
    std::fs::write(shop.sandbox.path("other.wasm"), &flipped).unwrap();
    publish("../other.wasm").exits(1).warns(raise);
    // Another manifest that pins the other file.
    let manifest = std::fs::read_to_string(shop.sandbox.path("greet.json")).unwrap();
    let digest = |bytes: &[u8]| jp_registry::Digest::of(bytes).to_string();
    let manifest = manifest.replace(&digest(&wasm), &digest(&flipped));
    shop.sandbox.write("greet.json", &manifest);
    std::fs::remove_file(shop.sandbox.path("greet.json.sig")).unwrap();
    let sign = [
        "registry",
        "sign",
        "../greet.json",
        "--key",
        "../publisher.key",
    ];
    shop.jp(&sign);
    publish("../other.wasm").exits(1).warns(raise);
    shop.is_fine();
}

#[test]
fn versions_that_are_not_there_are_answered_with_those_that_are() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!([]));
    shop.jp(&["tool", "remove", "greet"]);
    for spec in ["greet@<1", "greet@9.9.9", "greet@^2"] {
        shop.run(&["tool", "install", spec])
            .exits(127)
            .warns("1.1.0, 1.0.0");
    }
}

#[test]
fn removing_says_to_programs_what_went_and_what_did_not() {
    let shop = Shop::open();
    let ran = shop.run(&["tool", "remove", "nosuch", "greet", "--json"]);
    let ran = ran.exits(127).json();
    assert_eq!(
        ran["removed"],
        json!([{"name": "greet", "version": "1.0.0"}])
    );
    assert_eq!(ran["failed"][0]["name"], "nosuch");
    assert!(ran["failed"][0]["hint"].is_string());
}

#[test]
fn what_outdated_learns_of_a_deprecation_show_and_list_say() {
    let shop = Shop::open();
    let words = ["deprecate", "../shop", "greet", "1.0.0", "--reason", "old"];
    shop.change(&words);
    let shown = || shop.jp(&["tool", "show", "greet", "--json"]).json();
    assert!(shown()["signed"]["deprecated"].is_null());
    shop.run(&["tool", "outdated"])
        .exits(1)
        .says("deprecated: old");
    assert_eq!(shown()["signed"]["deprecated"], "old");
    shop.jp(&["tool", "list"]).says("deprecated: old");
}

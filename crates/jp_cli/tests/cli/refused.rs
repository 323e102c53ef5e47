//! Signed tools that are refused though their signatures are good: what the app does not declare, and
//! what nothing could give.

use std::fs;

use serde_json::json;

use crate::{
    kit::{Ran, Sandbox},
    shop::Shop,
};

const APP: &str =
    r#"{"schema": "locara/v1", "name": "app", "version": "1.0.0", "tooling": [TOOLS]}"#;

fn call(shop: &Shop) -> Ran {
    shop.run(&["tool", "run", "--yes", "greet"])
}

#[test]
fn a_locked_tool_that_the_app_does_not_declare_is_denied_with_the_file_and_the_line() {
    let shop = Shop::open();
    let app = |tools: &str| {
        let text = APP.replace("TOOLS", tools);
        shop.sandbox.write("workspace/locara.json", &text);
    };
    app("");
    let denied = "`jp.lock` has it, but `locara.json` does not declare it";
    call(&shop)
        .exits(126)
        .warns(denied)
        .warns("add `\"greet@1.0.0\"` to `tooling` in `locara.json`")
        .warns("`jp tool remove greet`");
    shop.run(&["tool", "show", "greet"])
        .exits(126)
        .warns(denied);
    shop.jp(&["tool", "list"]).says("does not declare it");
    shop.run(&["tool", "install", "greet"])
        .exits(0)
        .warns("calls of `greet` are denied: `locara.json` does not declare it");
    app("\"greet@1.0.0\"");
    shop.jp(&["tool", "show", "greet"]);
    // The same with `[tooling]` of the workspace.
    fs::remove_file(shop.sandbox.path("workspace/locara.json")).unwrap();
    let config = "workspace/.jp/config.toml";
    shop.sandbox.write(config, "[tooling]\nother = \"1.0.0\"\n");
    call(&shop)
        .exits(126)
        .warns("add `greet = \"1.0.0\"` to `[tooling]` in `.jp/config.toml`");
    shop.sandbox
        .write(config, "[tooling]\nother = \"1.0.0\"\ngreet = \"1.0.0\"\n");
    shop.jp(&["tool", "show", "greet"]);
}

#[test]
fn a_review_and_a_publisher_are_told_what_nothing_could_give() {
    let shop = Shop::open();
    shop.publish("1.1.0", &json!(["net:a.example", "http.request"]));
    let text = fs::read_to_string(shop.sandbox.path("greet.json")).unwrap();
    let review = || shop.jp(&["tool", "review", "../greet.json"]);
    assert!(!review().stderr.contains("REFUSED"));
    for (from, to, reason) in [
        (
            "\"net:a.example\"",
            "\"tool.exec.subprocess\"",
            "tool.exec.subprocess",
        ),
        (
            "\"net:a.example\",\"http.request\"",
            "\"http.reqest\"",
            "http.reqest",
        ),
    ] {
        shop.sandbox.write("greet.json", &text.replace(from, to));
        review()
            .warns("REFUSED at install: it asks for")
            .warns(reason);
        let json = shop
            .jp(&["tool", "review", "../greet.json", "--json"])
            .json();
        assert!(json["refused"].as_str().unwrap().contains(reason), "{json}");
    }
}

#[test]
fn a_tool_whose_file_cannot_use_what_it_asks_for_is_not_published() {
    let shop = Shop::open();
    // A component of the first contract has no way to ask jp for anything.
    fs::copy(jp_test::guest("echo"), shop.sandbox.path("tool.wasm")).unwrap();
    shop.publish("1.1.0", &json!([]));
    let wasm = fs::read(shop.sandbox.path("tool.wasm")).unwrap();
    let manifest = fs::read_to_string(shop.sandbox.path("greet.json")).unwrap();
    let manifest = manifest.replace("\"1.1.0\"", "\"1.2.0\"");
    let manifest = manifest.replace(
        "\"capability_requirements\":[]",
        "\"capability_requirements\":[\"http.request\"]",
    );
    assert!(manifest.contains("http.request") && !wasm.is_empty());
    shop.sandbox.write("greet.json", &manifest);
    fs::remove_file(shop.sandbox.path("greet.json.sig")).unwrap();
    let key = ["--key", "../publisher.key"];
    shop.jp(&[&["registry", "sign", "../greet.json"], &key[..]].concat());
    let words = [
        "registry",
        "publish",
        "../shop",
        "../greet.json",
        "../tool.wasm",
    ];
    shop.run(&[&words[..], &["--key", "../registry.key"]].concat())
        .exits(2)
        .warns("which a component of `jp:tool@0.1.0` cannot be given")
        .warns("build it for `jp:tool@0.2.0`");
}

#[test]
fn a_registry_is_not_served_from_what_is_none_or_at_what_is_no_address() {
    let sandbox = Sandbox::new("");
    sandbox
        .jp(&["registry", "serve", "../nothing"])
        .exits(2)
        .warns("../nothing holds no registry");
    let shop = Shop::open();
    shop.sandbox
        .jp(&["registry", "serve", "../shop", "--addr", "1.2.3.4.5"])
        .exits(2)
        .warns("cannot serve ../shop on 1.2.3.4.5");
}

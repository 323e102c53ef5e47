//! A registry in a directory, and a workspace that uses a tool of it.

use std::fs;

use serde_json::{Value, json};

use crate::{
    doctor::{doctor, jp},
    kit::{Ran, Sandbox},
};

/// A registry in a directory, with one tool, and a workspace that trusts it.
pub(crate) struct Shop {
    pub(crate) sandbox: Sandbox,
    pub(crate) publisher: String,
}

impl Shop {
    pub(crate) fn open() -> Self {
        let mut shop = Self {
            sandbox: Sandbox::new(""),
            publisher: String::new(),
        };
        shop.jp(&["registry", "keygen", "../registry.key"]);
        let made = shop.jp(&["registry", "keygen", "../publisher.key"]);
        made.stdout.trim().clone_into(&mut shop.publisher);
        let mut words = vec!["registry", "init", "../shop", "--name", "main"];
        words.extend(["--key", "../registry.key"]);
        let made = shop.jp(&words);
        shop.sandbox
            .write("home/.config/jp/config.toml", &made.stdout);
        let wasm = jp_test::text::component("(component)");
        fs::write(shop.sandbox.path("tool.wasm"), &wasm).unwrap();
        shop.publish("1.0.0", &json!([]));
        shop.jp(&["trust", "key", &shop.publisher, "--for", "greet"]);
        shop.jp(&["tool", "install", "greet"]);
        shop.is_fine();
        shop
    }

    /// Runs `jp`, whatever comes of it.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        jp(&self.sandbox, words)
    }

    #[track_caller]
    pub(crate) fn jp(&self, words: &[&str]) -> Ran {
        jp(&self.sandbox, words).exits(0)
    }

    pub(crate) fn publish(&self, version: &str, requirements: &Value) {
        let wasm = fs::read(self.sandbox.path("tool.wasm")).unwrap();
        let manifest = json!({
            "id": "greet",
            "version": version,
            "displayName": "Greeting",
            "description": "Greets somebody by name.",
            "license": "MIT",
            "artifact": {"sha256": jp_registry::Digest::of(&wasm).to_string(), "size_bytes": wasm.len()},
            "capability_requirements": requirements,
            "input_schema": {
                "type": "object",
                "properties": {"source": {"$ref": "#/definitions/blob_or_path"}},
            },
        });
        self.sandbox.write("greet.json", &manifest.to_string());
        self.jp(&[
            "registry",
            "sign",
            "../greet.json",
            "--key",
            "../publisher.key",
        ]);
        self.jp(&[
            "registry",
            "publish",
            "../shop",
            "../greet.json",
            "../tool.wasm",
            "--key",
            "../registry.key",
        ]);
    }

    pub(crate) fn change(&self, words: &[&str]) {
        let key = ["--key", "../registry.key"];
        self.jp(&[&["registry"], words, &key].concat());
    }

    /// Says of the first version that it should no longer be used.
    pub(crate) fn deprecate(&self, reason: &str) {
        self.change(&["deprecate", "../shop", "greet", "1.0.0", "--reason", reason]);
    }

    /// Takes the first version back.
    pub(crate) fn revoke(&self) {
        let which = ["--tool", "greet", "--versions", "1.0.0"];
        self.change(&[&["revoke", "../shop"], &which[..], &["--reason", "leaks"]].concat());
    }

    pub(crate) fn doctor(&self, more: &[&str]) -> Value {
        doctor(&self.sandbox, more)
    }

    #[track_caller]
    pub(crate) fn is_fine(&self) {
        assert_eq!(self.doctor(&[])["findings"], json!([]));
    }
}

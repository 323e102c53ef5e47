//! A registry made with `jp registry` and served by it, a publisher, and people who install from it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command},
};

use jp_registry::Digest;
use serde_json::{Value, json};

use crate::kit::{Ran, Sandbox};

/// A registry on the net, and its keys.
pub(crate) struct Market {
    sandbox: Sandbox,
    pub(crate) publisher: String,
    registry: String,
    url: String,
    server: Option<Child>,
}

/// Somebody with a home, a cache and a workspace of their own.
pub(crate) struct Person<'a> {
    market: &'a Market,
    name: &'static str,
}

impl Market {
    /// Makes the keys and the registry, and serves it.
    pub(crate) fn open() -> Self {
        let mut market = Self {
            sandbox: Sandbox::new(""),
            publisher: String::new(),
            registry: String::new(),
            url: String::new(),
            server: None,
        };
        let key = |name: &str| {
            let made = market.jp(&["registry", "keygen", name]);
            made.stdout.trim().to_owned()
        };
        (market.registry, market.publisher) = (key("../registry.key"), key("../publisher.key"));
        market.change(&["init", "../shop", "--name", "main"]);
        market.serve();
        market
    }

    #[track_caller]
    fn jp(&self, words: &[&str]) -> Ran {
        self.sandbox.jp(words).exits(0)
    }

    /// Changes the registry, with its key.
    #[track_caller]
    pub(crate) fn change(&self, words: &[&str]) -> Ran {
        self.jp(&[&["registry"], words, &["--key", "../registry.key"]].concat())
    }

    fn serve(&mut self) {
        let words = ["registry", "serve", "../shop", "--addr", "127.0.0.1:0"];
        let mut server = self.sandbox.command(&words).spawn().unwrap();
        let mut first = String::new();
        let stdout = server.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut first).unwrap();
        first.trim().clone_into(&mut self.url);
        self.server = Some(server);
    }

    /// Takes the registry off the net.
    pub(crate) fn vanish(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Publishes a model, and returns how a tool pins it.
    pub(crate) fn publish_model(&self, id: &str, bytes: &[u8]) -> String {
        let sha256 = Digest::of(bytes).to_string();
        let manifest = json!({
            "id": id, "version": "1.0.0", "license": "MIT", "size_bytes": bytes.len(),
            "artifacts": {"any": {"format": "gguf", "sha256": sha256}},
        });
        self.sandbox.write("model.json", &manifest.to_string());
        fs::write(self.path("model.bin"), bytes).unwrap();
        self.change(&["add-model", "../shop", "../model.json", "../model.bin"]);
        format!("{id}@sha256:{sha256}")
    }

    /// Publishes a tool whose body is a guest of the test kit.
    pub(crate) fn publish(&self, id: &str, guest: &str, more: &Value) {
        let wasm = fs::read(jp_test::guest(guest)).unwrap();
        let mut manifest = json!({
            "id": id,
            "version": "1.0.0",
            "displayName": "A guest of the tests",
            "description": "Does what its arguments say.",
            "license": "MIT",
            "artifact": {"sha256": Digest::of(&wasm).to_string(), "size_bytes": wasm.len()},
            "input_schema": {"type": "object", "properties": {"do": {"type": "array"}}},
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            manifest[key] = value.clone();
        }
        self.sandbox.write("tool.json", &manifest.to_string());
        fs::write(self.path("tool.wasm"), wasm).unwrap();
        let key = ["--key", "../publisher.key"];
        self.jp(&[&["registry", "sign", "../tool.json"], &key[..]].concat());
        self.change(&["publish", "../shop", "../tool.json", "../tool.wasm"]);
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.sandbox.path(below)
    }

    /// Lets somebody come who knows where the registry is, and which key is its own.
    pub(crate) fn person(&self, name: &'static str) -> Person<'_> {
        let person = Person { market: self, name };
        let config = format!(
            "[registries.main]\nurl = \"{}\"\nkey = \"{}\"\n",
            self.url, self.registry
        );
        let sandbox = &self.sandbox;
        sandbox.write(&format!("{name}/home/.config/jp/config.toml"), &config);
        sandbox.write(&format!("{name}/workspace/.jp/config.toml"), "");
        person
    }
}

impl Drop for Market {
    fn drop(&mut self) {
        self.vanish();
    }
}

impl Person<'_> {
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.market.path(self.name).join(below)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.market.sandbox.command(words);
        command
            .current_dir(self.path("workspace"))
            .env("HOME", self.path("home"))
            .env("JP_CACHE_DIR", self.path("cache"));
        command
    }

    pub(crate) fn jp(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Trusts the publisher for some names.
    #[track_caller]
    pub(crate) fn trusts(&self, names: &[&str]) {
        let mut words = vec!["trust", "key", self.market.publisher.as_str()];
        words.extend(names.iter().flat_map(|name| ["--for", *name]));
        self.jp(&words).exits(0);
    }

    /// Calls a tool whose arguments are a list of operations on files.
    pub(crate) fn run(&self, tool: &str, steps: &Value) -> Ran {
        let arguments = json!({ "do": steps }).to_string();
        self.jp(&["tool", "run", tool, &arguments])
    }

    /// Returns where the cache keeps what has a sha256, whether or not it is there.
    pub(crate) fn object(&self, sha256: &str) -> PathBuf {
        let objects = self.path("cache/store/objects");
        objects.join(&sha256[..2]).join(sha256)
    }
}

/// Copies a file that is there.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

//! `jp serve token`, and addresses that other machines reach.

use std::fs;

use crate::kit::{Ran, Sandbox};

fn token(sandbox: &Sandbox, words: &[&str]) -> Ran {
    sandbox.jp(&[&["serve", "token"], words].concat())
}

const FILE: &str = "home/.local/share/jp/serve/tokens.json";

#[test]
fn a_token_is_shown_once_listed_without_it_and_removed() {
    let sandbox = Sandbox::new("");
    token(&sandbox, &["list"])
        .exits(0)
        .warns("Nobody but you has a token.");
    let made = token(
        &sandbox,
        &["add", "ci", "--policy", "read-only", "--expires", "30d"],
    )
    .exits(0);
    let text = made.stdout.trim();
    assert_eq!(text.len(), 43, "{made:?}");
    let listed = token(&sandbox, &["list"])
        .exits(0)
        .says("ci")
        .says("its own");
    assert!(!listed.stdout.contains(text));
    assert!(
        !fs::read_to_string(sandbox.path(FILE))
            .unwrap()
            .contains(text)
    );
    let json = token(&sandbox, &["list", "--json"]).exits(0).json();
    let holder = &json["tokens"][0];
    assert_eq!(holder["policy"]["workspace"], "read", "{json}");
    let times = &holder["tokens"][0];
    let life = times["ends_ms"].as_u64().unwrap() - times["made_ms"].as_u64().unwrap();
    assert_eq!(life, 30 * 86_400_000);
    token(&sandbox, &["add", "ci"])
        .exits(2)
        .warns("`ci` has a token already")
        .warns("hint: `jp serve token rotate ci` makes a new one");
    let again = token(&sandbox, &["rotate", "ci", "--grace", "1h"]).exits(0);
    assert_ne!(again.stdout.trim(), text);
    token(&sandbox, &["rm", "ci"]).exits(0);
    token(&sandbox, &["rm", "ci"])
        .exits(2)
        .warns("`ci` has no token");
}

#[test]
fn wrong_names_times_and_policies_are_refused() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/bare.toml", "workspace = 'read'\n");
    sandbox.write("workspace/below.toml", "[policy]\nworkspace = 'read'\n");
    sandbox.write("workspace/wrong.toml", "wrkspace = 'read'\n");
    sandbox.write("workspace/large.toml", "[limits]\nmemory = '2GB'\n");
    for (words, said) in [
        (&["add", "a b"][..], "invalid name `a b`"),
        (
            &["add", "x", "--expires", "soon"],
            "expected a number and `s`, `m`, `h` or `d`",
        ),
        (
            &["add", "x", "--policy", "nowhere.toml"],
            "there is no such file",
        ),
        (
            &["add", "x", "--policy", "wrong.toml"],
            "unknown field `wrkspace`",
        ),
        (&["add", "x", "--policy", "large.toml"], "invalid policy"),
        (&["rotate", "x"], "`x` has no token"),
    ] {
        token(&sandbox, words).exits(2).warns(said);
    }
    for file in ["bare.toml", "below.toml"] {
        token(&sandbox, &["add", file, "--policy", file]).exits(0);
    }
    let json = token(&sandbox, &["list", "--json"]).exits(0).json();
    for holder in json["tokens"].as_array().unwrap() {
        assert_eq!(holder["policy"]["workspace"], "read", "{json}");
    }
}

#[test]
fn an_address_that_others_reach_needs_tls_tokens_and_names() {
    let sandbox = Sandbox::new("");
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../jp_serve/tests/serve/keys");
    let (chain, key) = (format!("{keys}/tls.pem"), format!("{keys}/tls.key"));
    let plain = &["serve", "--http", "0.0.0.0:0"][..];
    let tls = [plain, &["--tls-cert", &chain, "--tls-key", &key]].concat();
    sandbox
        .jp(plain)
        .exits(2)
        .warns("which needs TLS")
        .warns("hint: add `--tls-cert");
    sandbox
        .jp(&tls)
        .exits(2)
        .warns("which needs tokens or `serve.oauth`")
        .warns("hint: `jp serve token add NAME --policy read-only`");
    token(&sandbox, &["add", "ci"]).exits(0);
    sandbox
        .jp(&tls)
        .exits(2)
        .warns("which needs the names that clients know it by")
        .warns("jp config set --user 'serve.hosts:=[\"jp.example.com\"]'");
    // What the hint says works as it is printed.
    sandbox
        .jp(&[
            "config",
            "set",
            "--user",
            "serve.hosts:=[\"jp.example.com\"]",
        ])
        .exits(0);
    let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let addr = format!("0.0.0.0:{port}");
    let mut words = tls.clone();
    words[2] = &addr;
    // All is there; only the port is taken.
    sandbox.jp(&words).warns(&format!("cannot serve on {addr}"));
    let wrong = [
        "serve",
        "--http",
        "127.0.0.1:0",
        "--tls-cert",
        &key,
        "--tls-key",
        &key,
    ];
    sandbox.jp(&wrong).exits(2).warns("invalid certificate");
    sandbox
        .jp(&["serve", "--tls-cert", &chain, "--tls-key", &key])
        .exits(2);
}

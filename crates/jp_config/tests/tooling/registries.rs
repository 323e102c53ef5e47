//! Where tools are fetched from, which the user alone says.

use jp_config::RegistryPlace;

use crate::{USER, WORKSPACE, error, load_from, loaded};

#[test]
fn registries_are_the_users_alone() {
    let key = format!("ed25519:{}=", "A".repeat(43));
    let text = format!(
        "[registries]\na = {{ url = 'https://a.example/v1/', key = '{key}', default = true }}\n\
         b = {{ dir = '/srv/tools' }}\nc = {{ oci = 'b.example:5000/my-tools/v1' }}\n\
         d = {{ url = 'http://127.0.0.1:8080/' }}\n"
    );
    let config = loaded(&[(USER, &text)]).config;
    assert_eq!(config.registries["a"].key.as_deref(), Some(key.as_str()));
    assert!(config.registries["a"].default && !config.registries["b"].default);
    let places: Vec<RegistryPlace> = config
        .registries
        .values()
        .map(|r| r.place.clone())
        .collect();
    let expected = [
        RegistryPlace::Url("https://a.example/v1/".into()),
        RegistryPlace::Dir("/srv/tools".into()),
        RegistryPlace::Oci("b.example:5000/my-tools/v1".into()),
        RegistryPlace::Url("http://127.0.0.1:8080/".into()),
    ];
    assert_eq!(places, expected);
    let workspace = error(&[(WORKSPACE, "\n[registries.a]\ndir = '/'\n")]);
    let expected =
        "~/ws/.jp/config.toml:2: registries: registries belongs in the user's configuration";
    assert_eq!(workspace, expected);
    let assigned = load_from(&[], &["registries.a.dir=/"]).1.unwrap_err();
    assert!(
        assigned.to_string().contains("belongs in the user's"),
        "{assigned}"
    );
}

#[test]
fn a_registry_is_one_place() {
    let cases = [
        ("{ }", "`url` is missing"),
        ("{ key = 'x' }", "expected a public key"),
        (
            "{ dir = '/x', key = 'ed25519:AAAA' }",
            "expected a public key",
        ),
        (
            "{ dir = '/x', url = 'https://x.example/' }",
            "expected exactly one of `url`, `dir` and `oci`",
        ),
        ("{ dir = 'x' }", "x.dir: expected an absolute path"),
        ("{ dir = '~/x' }", "expected an absolute path"),
        (
            "{ url = 'http://x.example/' }",
            "x.url: expected `https://HOST",
        ),
        ("{ url = 'https://u@x.example/' }", "expected `https://HOST"),
        ("{ url = 'https://x.example/?a' }", "expected `https://HOST"),
        ("{ url = 'file:///x' }", "expected `https://HOST"),
        ("{ oci = 'x.example' }", "expected `HOST[:PORT]/NAMESPACE`"),
        (
            "{ oci = 'x.example/a/../b' }",
            "expected `HOST[:PORT]/NAMESPACE`",
        ),
        (
            "{ oci = 'x.example/a:latest' }",
            "expected `HOST[:PORT]/NAMESPACE`",
        ),
        (
            "{ oci = '*.example/a' }",
            "expected `HOST[:PORT]/NAMESPACE`",
        ),
        ("{ urls = 'x' }", "unknown key (did you mean `url`?)"),
    ];
    for (entry, expected) in cases {
        let found = error(&[(USER, &format!("[registries]\nx = {entry}\n"))]);
        assert!(found.contains(expected), "{entry}: {found}");
        assert!(
            found.starts_with("~/user/config.toml:2: registries.x"),
            "{found}"
        );
    }
    let two =
        "[registries]\na = { dir = '/a', default = true }\nb = { dir = '/b', default = true }\n";
    let expected = "~/user/config.toml:3: registries.b.default: `a` is already the default; only one registry can be";
    assert_eq!(error(&[(USER, two)]), expected);
}

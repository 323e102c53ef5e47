//! Tests of the manifest of an app, as a tree; `tests/locara.rs` has those of files.

use super::*;

fn with(more: Value) -> Value {
    let mut tree = json!({"schema": "locara/v1"});
    let more = more.as_object().cloned().unwrap();
    tree.as_object_mut().unwrap().extend(more);
    tree
}

fn tree_of(more: Value) -> Value {
    translate(&with(more)).unwrap().tree
}

fn error_of(more: Value) -> String {
    let (path, problem) = translate(&with(more)).unwrap_err();
    format!("{}: {problem}", path.join("."))
}

#[test]
fn every_field_of_the_format_is_known() {
    let all = json!({
        "name": "pdf-tidy", "publisher": "example", "version": "1.2.0-rc.1",
        "displayName": "PDF Tidy", "description": "Tidies.", "longDescription": "Tidies\nwell.",
        "license": "(MIT OR Apache-2.0) AND LGPL-2.1-only WITH GCC-exception-3.1",
        "homepage": "https://tidy.example/", "repository": "https://git.example/tidy",
        "author": {"name": "A. Writer", "email": "a@tidy.example", "url": "https://a.example/"},
        "icon": "./icon.png", "screenshots": ["a.png", "b.png"], "category": "documents",
        "tags": ["pdf"], "capabilities": {"net": false}, "profiles": {"pro": {}}, "storage": {},
        "entry": {"main": "x"}, "build": {}, "modalities": ["speech-to-text"],
        "tooling": ["ocr"], "models": [],
    });
    let said = translate(&with(all)).unwrap();
    let expected = json!({
        "capabilities": {"net": false, "calls": ["stt.transcribe"]},
        "models": [], "tooling": {"ocr": "*"},
    });
    assert_eq!(said.tree, expected);
    let remarks = said.remarks.iter().map(|(path, _)| path.join("."));
    let remarks: Vec<String> = remarks.collect();
    assert_eq!(remarks, WITHOUT_EFFECT);
}

#[test]
fn a_manifest_says_which_version_it_is() {
    assert!(is_manifest(&json!({"schema": "locara/v2"})));
    assert!(!is_manifest(&json!({"schema": 1})));
    assert!(!is_manifest(&json!({"tools": {}})));
    let (path, problem) = translate(&json!({"name": "x"})).unwrap_err();
    assert_eq!(
        (path.len(), problem.to_string()),
        (0, "`schema` is missing".to_owned())
    );
    let found = error_of(json!({"schema": "locara/v2", "newField": 1}));
    assert_eq!(
        found,
        "schema: expected `locara/v1`, the only supported version"
    );
}

#[test]
fn tools_become_tooling_under_the_names_the_app_uses() {
    let tree = tree_of(json!({"tooling": [
        "ocr@1.2.0", "pdf.split@^2", "web.fetch", "code-exec.javascript", "browser.fetch@1",
        {"name": "pdf-classifier", "path": "./tools/pdf-classifier.wasm",
         "manifest": "./tools/pdf-classifier.locara-tool.json", "signature": "c2ln"},
    ]}));
    let expected = json!({
        "ocr": "=1.2.0",
        "pdf.split": "^2",
        "web.fetch": "*",
        "code-exec.javascript": {"id": "code-exec.js", "version": "*"},
        "browser.fetch": {"id": "web.fetch", "version": "^1"},
        "pdf-classifier": {"path": "tools/pdf-classifier.wasm",
            "manifest": "tools/pdf-classifier.locara-tool.json", "signature": "c2ln"},
    });
    assert_eq!(tree["tooling"], expected);
}

#[test]
fn modalities_become_calls_that_the_app_allows() {
    let said = translate(&with(json!({
        "capabilities": {"calls": ["clock.now_unix"]},
        "modalities": ["text-to-text", "text-to-speech", "text-to-text-thinking"],
    })));
    let said = said.unwrap();
    let calls = json!({"calls": ["clock.now_unix", "llm.generate"]});
    assert_eq!(said.tree["capabilities"], calls);
    let (path, message) = &said.remarks[0];
    assert_eq!(path.join("."), "modalities.1");
    assert_eq!(
        *message,
        "not available on this host: tools that need it do not run"
    );
    let silent = tree_of(json!({"modalities": ["text-to-image"]}));
    assert_eq!(silent.get("capabilities"), None);
}

#[test]
fn what_is_wrong_is_named() {
    let long = "x".repeat(200);
    let cases = [
        (
            json!({"tolling": []}),
            "tolling: unknown key (did you mean `tooling`?)",
        ),
        (
            json!({"displayname": "x"}),
            "displayname: unknown key (did you mean `displayName`?)",
        ),
        (
            json!({"name": "Pdf_Tidy"}),
            "name: expected words of a-z and 0-9",
        ),
        (json!({"name": 1}), "name: expected a text"),
        (json!({"name": null}), "name: expected a text"),
        (
            json!({"version": "1.2"}),
            "version: expected a version such as `1.2.0`",
        ),
        (
            json!({"displayName": &long[..41]}),
            "displayName: expected 1 to 40 characters",
        ),
        (
            json!({"description": &long[..141]}),
            "description: expected 1 to 140 characters",
        ),
        (
            json!({"description": "a\u{1b}[2J"}),
            "description: expected 1 to 140 characters",
        ),
        (
            json!({"license": "MIT OR"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"license": "(MIT"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"license": "see LICENSE"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"license": "Apache2"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"license": "MIT WITH Apache-2.0"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"license": "LicenseRef-"}),
            "license: expected an SPDX expression",
        ),
        (
            json!({"homepage": "javascript:x"}),
            "homepage: expected `https://HOST",
        ),
        (
            json!({"author": {"name": "x"}}),
            "author: `email` is missing",
        ),
        (
            json!({"author": {"name": "x", "email": "x"}}),
            "author.email: expected an address",
        ),
        (
            json!({"author": {"name": "x", "email": "x@y", "uri": ""}}),
            "author.uri: unknown key (did you mean `url`?)",
        ),
        (
            json!({"icon": "../icon.png"}),
            "icon: invalid path `../icon.png`: `..`",
        ),
        (
            json!({"screenshots": []}),
            "screenshots: expected 1 to 5 of them, found 0",
        ),
        (
            json!({"screenshots": ["/etc/passwd"]}),
            "screenshots.0: invalid path `/etc/passwd`: expected one relative",
        ),
        (
            json!({"tags": vec!["a"; 11]}),
            "tags: expected 0 to 10 of them, found 11",
        ),
        (
            json!({"tags": ["a", ""]}),
            "tags.1: expected 1 to 64 characters",
        ),
        (json!({"profiles": []}), "profiles: expected a table"),
        (
            json!({"capabilities": []}),
            "capabilities: expected a table",
        ),
        (
            json!({"capabilities": {"device.microphone": true}}),
            "capabilities.device.microphone: not available: this host has no microphone",
        ),
        (
            json!({"capabilities": {"audio": {"play": true}}}),
            "capabilities.audio: not available",
        ),
        (
            json!({"modalities": ["smell-to-text"]}),
            "modalities.0: unknown modality: expected one of `text-to-text`",
        ),
        (
            json!({"modalities": ["text-to-text", "text-to-text"]}),
            "modalities.1: occurs twice",
        ),
        (
            json!({"modalities": "text-to-text"}),
            "modalities: expected a list",
        ),
        (
            json!({"models": ["x", "y"]}),
            "models.0: expected a model and its sha256",
        ),
        (json!({"tooling": {"ocr": "*"}}), "tooling: expected a list"),
        (
            json!({"tooling": [1]}),
            "tooling.0: expected a text such as `ocr`",
        ),
        (
            json!({"tooling": ["ocr", "оcr"]}),
            "tooling.1: invalid tool id `оcr`",
        ),
        (
            json!({"tooling": ["ocr", "ocr@2.0.0"]}),
            "tooling.1: `ocr` occurs twice",
        ),
        (
            json!({"tooling": ["ocr@newest"]}),
            "tooling.0: invalid version `newest`",
        ),
        (
            json!({"tooling": ["ocr@"]}),
            "tooling.0: invalid version ``",
        ),
        (
            json!({"tooling": [format!("ocr@{}", "1".repeat(300))]}),
            "tooling.0: version too long",
        ),
        (
            json!({"tooling": [{"name": "x", "path": "x", "manifest": "x"}]}),
            "tooling.0: `signature` is missing",
        ),
        (
            json!({"tooling": [{"name": "x", "sha": ""}]}),
            "tooling.0.sha: unknown key",
        ),
        (
            json!({"tooling": [{"name": "X", "path": "x", "manifest": "x", "signature": "x"}]}),
            "tooling.0.name: invalid tool id `X`",
        ),
        (
            json!({"tooling": [{"name": "x", "path": "/x", "manifest": "x", "signature": "x"}]}),
            "tooling.0.path: invalid path `/x`: expected one relative",
        ),
        (
            json!({"tooling": [{"name": "x", "path": "x", "manifest": 1, "signature": "x"}]}),
            "tooling.0.manifest: expected a text",
        ),
    ];
    for (more, expected) in cases {
        let found = error_of(more.clone());
        assert!(found.starts_with(expected), "{more}: {found}");
    }
}

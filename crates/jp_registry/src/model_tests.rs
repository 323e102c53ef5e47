//! Models are read strictly, and a pin means one file or none.

use serde_json::json;

use super::*;

fn model() -> Value {
    json!({
        "id": "glm-ocr-1.5-q8",
        "version": "1.5.0",
        "displayName": "GLM OCR",
        "description": "Reads text in pictures.",
        "tags": ["ocr"],
        "license": "MIT",
        "license_url": "https://example.com/license",
        "modality": "image-to-text",
        "context_length": 8192,
        "size_bytes": 900_000_000,
        "ram_required_gb": 1.5,
        "artifacts": {
            "llamacpp": {"format": "gguf", "url": "https://example.com/m.gguf", "sha256": "a".repeat(64)},
            "mlx": {"format": "mlx", "sha256": "b".repeat(64), "size_bytes": 7},
        },
        "config": {"chat_template": "x", "stop_tokens": ["</s>"], "default_params": {"t": 0.1}},
        "validated_at": "2026-04-01",
        "validated_by": "example-team",
    })
}

#[test]
fn a_pin_is_resolved_to_the_one_file_with_its_bytes() {
    let model = ModelManifest::read(&model()).unwrap();
    let pin = |id: &str, digit: &str| format!("{id}@sha256:{}", digit.repeat(64));
    let pin = |id, digit| pin(id, digit).parse::<Pinned>().unwrap();
    let found = model.resolve(&pin("glm-ocr-1.5-q8", "b")).unwrap();
    assert_eq!(found.size_bytes, 7);
    let found = model.resolve(&pin("glm-ocr-1.5-q8", "a")).unwrap();
    assert_eq!(found.size_bytes, 900_000_000);
    let error = model.resolve(&pin("glm-ocr-1.5-q8", "c")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no artifact of the model `glm-ocr-1.5-q8` 1.5.0 has")
    );
    let error = model.resolve(&pin("other", "a")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the manifest is of the model `glm-ocr-1.5-q8`, not of `other`"
    );
}

#[test]
fn what_means_nothing_is_refused_with_its_place() {
    let mut least = model();
    for key in [
        "displayName",
        "description",
        "tags",
        "license_url",
        "modality",
        "context_length",
    ] {
        least.as_object_mut().unwrap().shift_remove(key);
    }
    assert!(ModelManifest::read(&least).is_ok());
    for (path, value, expected) in [
        ("/id", json!("../m"), "at `/id`: invalid model name `../m`"),
        ("/version", json!("1"), "at `/version`: invalid version `1`"),
        (
            "/license",
            json!("free"),
            "at `/license`: unknown SPDX licence `free`",
        ),
        (
            "/lisence",
            json!("MIT"),
            "at `/lisence`: unknown key; did you mean `license`?",
        ),
        (
            "/size_bytes",
            json!(0),
            "at `/size_bytes`: invalid size of 0 bytes",
        ),
        (
            "/size_bytes",
            json!(u64::MAX),
            "at `/size_bytes`: invalid size of 18446744073709551615 bytes",
        ),
        (
            "/artifacts",
            json!({}),
            "at `/artifacts`: a model has from 1 to 16 artifacts",
        ),
        (
            "/artifacts/mlx/sha256",
            json!("x"),
            "at `/artifacts/mlx/sha256`: invalid sha256 `x`",
        ),
        (
            "/artifacts/mlx/url",
            json!("ftp://a/b"),
            "at `/artifacts/mlx/url`: only `https:`",
        ),
        (
            "/artifacts/mlx/size_bytes",
            json!(0),
            "at `/artifacts/mlx/size_bytes`: invalid size of 0 bytes",
        ),
        (
            "/artifacts/mlx/fromat",
            json!("x"),
            "at `/artifacts/mlx/fromat`: unknown key; did you mean `format`?",
        ),
        (
            "/description",
            json!("a\u{200b}"),
            "at `/description`: the text holds U+200B",
        ),
        (
            "/tags",
            json!(["\u{1b}[0m"]),
            "at `/tags/0`: the text holds U+001B",
        ),
        (
            "/validated_at",
            json!("yesterday"),
            "at `/validated_at`: invalid day `yesterday`",
        ),
    ] {
        let mut changed = model();
        let (parent, key) = path.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[key] = value;
        let error = ModelManifest::read(&changed).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{path}: {error}");
    }
}

//! Names have one spelling each.

use super::{Digest, ModelId, Pinned, ToolId, ToolRef};

#[test]
fn a_tool_has_one_spelling() {
    for good in ["ocr", "pdf.extract-text", "code-exec.python", "a1"] {
        assert_eq!(good.parse::<ToolId>().unwrap().as_str(), good);
    }
    let long = "a".repeat(65);
    let bad = [
        "",
        "OCR",
        "o cr",
        "осr",
        "ocr.",
        ".ocr",
        "a..b",
        "a--b",
        "-a",
        "../x",
        "a/b",
        "a_b",
        "ocr\u{200b}",
        "ocr\n",
        "a\\b",
        "ocr@1",
        &long,
    ];
    for text in bad {
        assert!(text.parse::<ToolId>().is_err(), "{text:?}");
    }
}

#[test]
fn a_model_is_never_a_path() {
    assert!("glm-ocr-1.5-q8".parse::<ModelId>().is_ok());
    for text in ["..", ".", "a..b", "a/b", "-a", "A", ""] {
        assert!(text.parse::<ModelId>().is_err(), "{text:?}");
    }
}

#[test]
fn a_digest_is_64_digits_in_lower_case() {
    let digest = Digest::of(b"");
    let text = digest.to_string();
    assert!(text.starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    assert_eq!(text.parse(), Ok(digest));
    for bad in [&text[1..], &text.to_uppercase(), &format!("{text}0"), "é"] {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

#[test]
fn a_pin_names_model_and_bytes() {
    let text = format!("glm-ocr-1.5-q8@sha256:{}", Digest::of(b"x"));
    assert_eq!(text.parse::<Pinned>().unwrap().to_string(), text);
    assert!("glm-ocr-1.5-q8".parse::<Pinned>().is_err());
    assert!("glm@sha256:abc".parse::<Pinned>().is_err());
}

#[test]
fn a_tool_may_come_with_its_versions() {
    for (text, shown) in [
        ("ocr", "ocr"),
        ("ocr@1.2.0", "ocr@^1.2.0"),
        ("a.b@=1.0.0", "a.b@=1.0.0"),
    ] {
        assert_eq!(text.parse::<ToolRef>().unwrap().to_string(), shown);
    }
    for bad in ["ocr@", "@1", "ocr@latest", "OCR@1", "ocr@1@2"] {
        assert!(bad.parse::<ToolRef>().is_err(), "{bad}");
    }
}

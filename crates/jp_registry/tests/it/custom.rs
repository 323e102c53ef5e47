//! Tools that an app brings along, and documents that no signature makes better.

use std::fs;

use jp_publish::SigningKey;
use jp_registry::{CustomTool, InstallError, verify_custom};
use serde_json::Value;

use crate::support::{Home, Shop, ocr, signed, wasm};

#[test]
fn e52_documents_that_readers_disagree_about_are_refused() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        (
            "\"id\": \"ocr\",",
            "\"id\": \"ocr\", \"id\": \"pdf.x\",",
            "twice",
        ),
        (
            "\"version\"",
            "\"policy\": {\"net\": true}, \"version\"",
            "unknown key",
        ),
        (
            "\"license\"",
            &format!("\"x\": {deep}, \"license\""),
            "deep",
        ),
        ("\"license\"", "\"x\": 1e999, \"license\"", "digits"),
        (
            "\"language\": {",
            "\"language\": {\"$ref\": \"https://evil.example/s.json\", ",
            "nothing outside it is fetched",
        ),
        (
            "\"language\": {",
            "\"language\": {\"$ref\": \"#/properties/language\", ",
            "in a circle",
        ),
    ];
    let shop = Shop::with_ocr();
    let home = Home::trusting(&shop);
    let known = home
        .installer(shop.path(), shop.source())
        .places
        .known()
        .unwrap();
    for (from, to, reason) in cases {
        let app = tempfile::tempdir().unwrap();
        let honest = serde_json::to_string_pretty(&ocr("1.0.0")).unwrap();
        let text = honest.replacen(from, to, 1);
        assert_ne!(text, honest, "{from}");
        fs::write(app.path().join("ocr.json"), &text).unwrap();
        fs::write(app.path().join("ocr.wasm"), wasm("1.0.0")).unwrap();
        // Signed, where it can be: a signature makes it no better.
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|_| ocr("1.0.0"));
        let signatures = signed(&value, &shop.publisher).to_bytes();
        fs::write(app.path().join("ocr.sig"), signatures).unwrap();
        let error = verify_custom(app.path(), &custom("ocr.sig"), &known).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

fn custom(signature: &str) -> CustomTool {
    CustomTool {
        name: "ocr".parse().unwrap(),
        path: "./ocr.wasm".into(),
        manifest: "ocr.json".into(),
        signature: signature.to_owned(),
    }
}

#[test]
fn tools_of_an_app_are_verified_like_those_of_a_registry() {
    let shop = Shop::new();
    let home = Home::trusting(&shop);
    let known = home
        .installer(shop.path(), shop.source())
        .places
        .known()
        .unwrap();
    let app = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(app.path().join(name), bytes).unwrap();
    let manifest = ocr("1.0.0");
    write("ocr.json", manifest.to_string().as_bytes());
    write("ocr.wasm", &wasm("1.0.0"));
    let signatures = signed(&manifest, &shop.publisher);
    write("ocr.sig", &signatures.to_bytes());
    let inline = serde_json::to_value(&signatures).unwrap();
    let inline = &inline["signatures"][0];
    let inline = format!(
        "{}:{}",
        inline["key"].as_str().unwrap(),
        inline["value"].as_str().unwrap()
    );
    for signature in ["ocr.sig", &inline] {
        let verified = verify_custom(app.path(), &custom(signature), &known).unwrap();
        assert_eq!(verified.bytes().unwrap(), wasm("1.0.0"));
        assert_eq!(verified.manifest.id.as_str(), "ocr");
    }
    let refused = |custom: &CustomTool| verify_custom(app.path(), custom, &known).unwrap_err();
    for path in ["../ocr.json", "/etc/passwd", "", "missing"] {
        let manifest = path.into();
        let error = refused(&CustomTool {
            manifest,
            ..custom("ocr.sig")
        });
        assert!(matches!(error, InstallError::Brought { .. }), "{error}");
    }
    std::os::unix::fs::symlink("/etc/hostname", app.path().join("link")).unwrap();
    let error = refused(&CustomTool {
        path: "link".into(),
        ..custom("ocr.sig")
    });
    assert!(error.to_string().contains("not within the app"), "{error}");
    let name = "pdf.other".parse().unwrap();
    refused(&CustomTool {
        name,
        ..custom("ocr.sig")
    });
    write("ocr.wasm", &wasm("2.0.0"));
    let error = refused(&custom("ocr.sig"));
    assert!(error.to_string().contains("its manifest says"), "{error}");
    write("ocr.wasm", &wasm("1.0.0"));
    let stranger = SigningKey::generate().unwrap();
    write("ocr.sig", &signed(&manifest, &stranger).to_bytes());
    refused(&custom("ocr.sig"));
}

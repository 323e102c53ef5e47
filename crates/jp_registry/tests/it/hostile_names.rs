//! A registry that lies about names and places.

use std::fs;

use serde_json::Value;

use crate::{
    hostile::scene,
    support::{
        Home, Shop, locked,
        server::{Reply, Server},
        signed, signed_index, spec, tool, wasm,
    },
};

#[test]
fn names_that_are_paths_or_look_like_others_never_get_in() {
    // The registry itself is hostile: it signs what it likes.
    for name in [
        "../../evil",
        "оcr",
        "OCR",
        "ocr\u{200b}",
        "a/b",
        "ocr\\..",
        "",
    ] {
        let scene = scene();
        let text = fs::read_to_string(scene.shop.file("index.json")).unwrap();
        let mut index: Value = serde_json::from_str(&text).unwrap();
        let entry = index["tools"]["ocr"].clone();
        index["tools"][name] = entry;
        let signatures = signed_index(&index, &scene.shop.key);
        let reply = Reply::Bytes(index.to_string().into_bytes());
        scene.server.lie("index.json", reply);
        scene.server.lie("index.json.sig", Reply::Bytes(signatures));
        scene.refused("invalid tool name");
    }
}

#[test]
fn an_artifact_url_that_leads_elsewhere_is_not_followed() {
    for url in [
        "file:///etc/passwd",
        "http://169.254.169.254/x",
        "../../../etc/passwd",
    ] {
        let shop = Shop::new();
        let mut manifest = tool("ocr", "1.0.0");
        manifest["artifact"]["url"] = url.into();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), wasm("1.0.0")).unwrap();
        let submission = jp_publish::Submission {
            manifest: &manifest,
            signatures: &signed(&manifest, &shop.publisher),
            artifact: file.path(),
            publisher: None,
            validated: None,
        };
        // Either nobody can publish it, or nobody can install it.
        if shop.open().publish(&submission).is_ok() {
            let home = Home::trusting(&shop);
            let server = Server::new(shop.path().to_owned());
            let workspace = tempfile::tempdir().unwrap();
            let installer = home.installer(workspace.path(), server.source());
            assert!(installer.install(&spec("ocr")).is_err(), "{url}");
            assert_eq!(locked(workspace.path(), "ocr"), None);
        }
    }
}

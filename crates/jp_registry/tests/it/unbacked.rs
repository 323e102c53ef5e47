//! Requests that nothing could satisfy: refused by name when a tool is published, installed or locked,
//! with what would work instead.

use std::fs;

use jp_policy::Form;
use jp_publish::{PublishError, Submission};
use jp_registry::{CustomTool, InstallError, Installer};
use serde_json::{Value, json};

use crate::support::{Home, Shop, ocr, signed, spec, wasm};

/// A change of a manifest, what is said of it, and what is said to do instead.
type Case = (fn(&mut Value), &'static str, &'static str);

const CASES: [Case; 3] = [
    (
        |m| m["wasi_imports"]["net"] = json!(["api.example.com"]),
        "it asks for net to api.example.com, which a module without imports cannot be given",
        "`http.request`",
    ),
    (
        |m| m["wasi_imports"]["tool.exec.subprocess"] = true.into(),
        "it asks for tool.exec.subprocess, which a Wasm tool cannot be given",
        "`command = ",
    ),
    (
        |m| m["capability_requirements"] = json!(["net when /language is a file"]),
        "it asks for net to any host, which a module without imports cannot be given",
        "`http.request`",
    ),
];

#[test]
fn what_nothing_could_give_is_not_published() {
    // Only the bytes decide whether a network request can be met: `jp registry publish` looks at them first.
    let (change, reason, instead) = CASES[1];
    let mut manifest = ocr("1.0.0");
    change(&mut manifest);
    let shop = Shop::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), wasm("1.0.0")).unwrap();
    let published = shop.open().publish(&Submission {
        manifest: &manifest,
        signatures: &signed(&manifest, &shop.publisher),
        artifact: file.path(),
        publisher: None,
        validated: None,
    });
    let error = published.unwrap_err();
    assert!(matches!(error, PublishError::Unbacked { .. }), "{error}");
    assert!(error.to_string().contains(reason), "{error}");
    assert!(error.hint().unwrap().contains(instead), "{error}");
}

/// Locks a tool that comes with a workspace, and returns why that is refused.
fn refused(manifest: &Value) -> InstallError {
    let shop = Shop::new();
    let (home, dir) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("ocr.json", manifest.to_string().as_bytes());
    write("ocr.wasm", &wasm("1.0.0"));
    write("ocr.sig", &signed(manifest, &shop.publisher).to_bytes());
    let installer: Installer<'_> = home.installer(dir.path(), shop.source());
    let tool = CustomTool {
        name: "ocr".parse().unwrap(),
        path: "ocr.wasm".into(),
        manifest: "ocr.json".into(),
        signature: "ocr.sig".to_owned(),
    };
    let done = installer.lock_custom(dir.path(), &[tool]);
    done.unwrap().remove(0).1.unwrap_err()
}

#[test]
fn what_nothing_could_give_is_not_installed_though_it_is_signed() {
    for (change, reason, instead) in CASES {
        let mut manifest = ocr("1.0.0");
        change(&mut manifest);
        let error = refused(&manifest);
        assert!(matches!(error, InstallError::Unbacked { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(error.hint().unwrap().contains(instead), "{error}");
    }
}

#[test]
fn the_network_alone_is_for_components_that_make_requests() {
    let shop = Shop::new();
    let mut manifest = ocr("1.0.0");
    manifest["wasi_imports"]["net"] = json!(["api.example.com"]);
    shop.publish(&manifest);
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    for form in [
        |_: &[u8]| Form::Component { requests: false },
        |_: &[u8]| Form::Caller { requests: false },
        |_: &[u8]| Form::Module,
    ] {
        let mut installer = home.installer(workspace.path(), shop.source());
        installer.form = form;
        let error = installer.install(&spec("ocr")).unwrap_err();
        assert!(matches!(error, InstallError::Unbacked { .. }), "{error}");
        assert!(error.hint().unwrap().contains("`http.request`"), "{error}");
    }
    let mut installer = home.installer(workspace.path(), shop.source());
    installer.form = |bytes| {
        assert_eq!(bytes, wasm("1.0.0"));
        Form::Component { requests: true }
    };
    installer.install(&spec("ocr")).unwrap();
}

#[test]
fn a_call_that_the_host_does_not_know_is_refused_at_install() {
    let shop = Shop::new();
    let mut manifest = ocr("1.0.0");
    manifest["wasi_imports"]["calls"] = json!(["http.request", "clock.tomorrow"]);
    shop.publish(&manifest);
    let (home, workspace) = (Home::trusting(&shop), tempfile::tempdir().unwrap());
    let mut installer = home.installer(workspace.path(), shop.source());
    installer.is_known = |name| name.as_str() != "clock.tomorrow";
    let error = installer.install(&spec("ocr")).unwrap_err();
    assert!(matches!(error, InstallError::Unbacked { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("it asks for clock.tomorrow, which jp does not offer"),
        "{error}"
    );
}

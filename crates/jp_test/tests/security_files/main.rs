//! What a hostile guest may try against the files of the host: checklist B of the threat model,
//! with a read-only and with a writable workspace.
//!
//! A refusal is checked twice: by what the guest was told, and by what the disk looks like after.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod chosen;
mod descriptors;
mod fresh;
mod links;
mod mounts;
mod paths;
mod quota;
mod special;
mod writing;

use std::{fs, path::Path};

use jp_test::{Access, Host, Kit};
use jp_wasm::{GuestCall, Outside, Runtime, WasiConfig};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The guest that tries: a component, a program of WASI preview 1 or a module with it. The same
/// list is compiled for each of them, and the name of the test says for which.
const GUEST: &str = match env!("CARGO_CRATE_NAME").as_bytes() {
    b"security_files_program" => "files_program",
    b"security_files_module" => "files_module",
    _ => "files",
};

fn new_kit(host: Host) -> Kit {
    Kit::new(host).files_by(GUEST)
}

const SECRET: &str = "the secret of the neighbour";

const ACCESSES: [Access; 2] = [Access::ReadOnly, Access::ReadWrite];

/// A directory outside of every workspace, with a secret in it.
fn outside() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secret.txt"), SECRET).unwrap();
    dir
}

fn is_intact(outside: &TempDir) {
    let left: Vec<_> = fs::read_dir(outside.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["secret.txt"]);
    let secret = fs::read_to_string(outside.path().join("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Lets a guest try operations that must all be refused; returns what it was told.
async fn refused(kit: &Kit, operations: Value) -> Vec<String> {
    let reports = kit.files(&operations).await;
    for (report, operation) in reports.iter().zip(operations.as_array().unwrap()) {
        assert!(!report.starts_with("ok"), "{operation}: {report}");
    }
    reports
}

/// Lets the probe do a list of operations with directories other than the kit's.
async fn files_in(config: &WasiConfig, operations: &Value) -> Vec<String> {
    files_on(Kit::new(Host::Pooling).runtime(), config, operations).await
}

/// Does the same in a runtime of its own.
async fn files_on(runtime: &Runtime, config: &WasiConfig, operations: &Value) -> Vec<String> {
    let prepared = runtime.prepare_path(jp_test::guest(GUEST), &|_| {}).await;
    let call = GuestCall {
        name: "files",
        arguments: &json!({ "do": operations }).to_string(),
        answers: "{}",
        context: &jp_tool::Context {
            root: jp_test::ROOT.into(),
            action: jp_tool::Action::Run,
        },
        wasi: runtime.wasi_context(config).unwrap(),
        limits: &jp_policy::Limits::default(),
        cancel: None,
        outside: Outside::default(),
        module: jp_wasm::ModuleAbi::default(),
    };
    match runtime.call(&prepared.unwrap(), call).await.result {
        Ok(jp_tool::Outcome::Success { content }) => serde_json::from_str(&content).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Every way to change something at `path`.
fn changes(path: &str) -> Value {
    json!([
        ["write", path, "changed"],
        ["append", path, "changed"],
        ["truncate", path],
        ["resize", path],
        ["create", format!("{path}.new")],
        ["mkdir", format!("{path}.dir")],
        ["rename", path, format!("{path}.moved")],
        ["link", path, format!("{path}.linked")],
        ["symlink", "target", format!("{path}.symlink")],
        ["unlink", path]
    ])
}

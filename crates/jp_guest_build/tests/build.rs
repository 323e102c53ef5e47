//! Builds a tiny workspace for real, also from an environment that would break the build.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml exempts test functions, not what they call"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use jp_guest_build::{Guest, GuestError, build, rerun_lines};

const ROOT: &str = r#"
[workspace]
resolver = "3"
members = ["tool", "probes", "modules", "host"]
[profile.guest]
inherits = "release"
opt-level = "s"
panic = "abort"
"#;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn package(root: &Path, name: &str, rest: &str) {
    let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}");
    write(
        &root.join(name.trim_start_matches("my_")).join("Cargo.toml"),
        &manifest,
    );
}

fn workspace(root: &Path) {
    write(&root.join("Cargo.toml"), ROOT);
    package(root, "tool", "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n");
    write(
        &root.join("tool/src/lib.rs"),
        "mod part;\npub use part::answer;\n",
    );
    write(
        &root.join("tool/src/part.rs"),
        "#[unsafe(no_mangle)]\npub extern \"C\" fn answer() -> i32 { 42 }\n",
    );
    package(
        root,
        "my_probes",
        "[[example]]\nname = \"spin\"\ncrate-type = [\"cdylib\"]\n",
    );
    write(&root.join("probes/src/lib.rs"), "");
    write(
        &root.join("probes/examples/spin.rs"),
        "#[unsafe(no_mangle)]\npub fn spin() {}\n",
    );
    package(
        root,
        "my_modules",
        "[features]\nmodule = []\n\
         [[example]]\nname = \"first\"\ncrate-type = [\"cdylib\"]\nrequired-features = [\"module\"]\n",
    );
    write(&root.join("modules/src/lib.rs"), "");
    write(
        &root.join("modules/examples/first.rs"),
        "#[unsafe(no_mangle)]\npub extern \"C\" fn execute() -> i64 { 42 }\n",
    );
    package(root, "host", "");
    write(&root.join("host/src/lib.rs"), "");
}

#[test]
fn libraries_and_examples_become_components_in_the_fixed_directory() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    workspace(&root);
    let guests = [Guest::library("tool"), Guest::examples("my_probes")];
    let artifacts = build(&root, &guests).unwrap();
    let names: Vec<&str> = artifacts
        .iter()
        .map(|artifact| artifact.name.as_str())
        .collect();
    assert_eq!(names, ["tool", "spin"]);
    for artifact in &artifacts {
        assert!(
            artifact.path.starts_with(root.join("target/guests")),
            "{artifact:?}"
        );
        let bytes = fs::read(&artifact.path).unwrap();
        // Version 13 in layer 1: a component, not a core module.
        assert_eq!(bytes.get(..8), Some(b"\0asm\x0d\0\x01\0".as_slice()));
    }
    let lines = rerun_lines(&root, &artifacts).unwrap();
    let part = format!(
        "cargo:rerun-if-changed={}",
        root.join("tool/src/part.rs").display()
    );
    assert!(lines.contains(&part), "{lines:#?}");

    // The lock file exists by now, so this run is `--locked`, and nothing is built again.
    assert!(root.join("Cargo.lock").exists());
    let stamp = |index: usize| {
        fs::metadata(&artifacts[index].path)
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = stamp(0);
    assert_eq!(build(&root, &guests).unwrap(), artifacts);
    assert_eq!(stamp(0), before);

    // A package that makes no component is an error and not an empty list.
    let error = build(&root, &[Guest::library("host")]).unwrap_err();
    assert!(matches!(error, GuestError::NoArtifact { .. }), "{error}");
    let error = build(&root, &[Guest::library("tol")]).unwrap_err();
    assert!(matches!(error, GuestError::Build { .. }), "{error}");
}

#[test]
fn examples_of_a_package_of_modules_become_core_modules() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    workspace(&root);
    let artifacts = build(&root, &[Guest::modules("my_modules")]).unwrap();
    assert_eq!(artifacts.len(), 1);
    assert_eq!(artifacts[0].name, "first");
    let bytes = fs::read(&artifacts[0].path).unwrap();
    // Version 1 in layer 0: a core module, not a component.
    assert_eq!(bytes.get(..8), Some(b"\0asm\x01\0\0\0".as_slice()));
    assert!(!rerun_lines(&root, &artifacts).unwrap().is_empty());
    let one = build(&root, &[Guest::module("my_modules", "first")]).unwrap();
    assert_eq!(one, artifacts);
    let error = build(&root, &[Guest::module("my_modules", "second")]).unwrap_err();
    assert!(matches!(error, GuestError::Build { .. }), "{error}");
}

#[test]
fn a_callers_flags_wrappers_and_directories_do_not_reach_the_guests() {
    let elsewhere = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "libraries_and_examples_become_components_in_the_fixed_directory",
            "--exact",
        ])
        .env("RUSTFLAGS", "--no-such-flag")
        .env("CARGO_ENCODED_RUSTFLAGS", "--no-such-flag")
        .env("RUSTC_WRAPPER", "/nonexistent")
        .env("RUSTC_WORKSPACE_WRAPPER", "/nonexistent")
        .env("CARGO_PROFILE_GUEST_OPT_LEVEL", "no-such-level")
        .env("CARGO_TARGET_DIR", elsewhere.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

//! A `wasm` path never leads out of the workspace.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::fs;

use jp_config::{WasmPathError, resolve_wasm};
use relative_path::RelativePath;

fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("ws/tools")).unwrap();
    fs::write(dir.path().join("ws/tools/x.wasm"), "").unwrap();
    fs::write(dir.path().join("outside.wasm"), "").unwrap();
    dir
}

#[test]
fn a_path_below_the_workspace_is_found() {
    let dir = workspace();
    let root = dir.path().join("ws");
    for path in ["tools/x.wasm", "./tools/./x.wasm", "tools//x.wasm"] {
        let found = resolve_wasm(&root, RelativePath::new(path)).unwrap();
        assert_eq!(found, root.canonicalize().unwrap().join("tools/x.wasm"));
    }
}

#[test]
fn paths_that_lead_elsewhere_as_text_are_refused() {
    let dir = workspace();
    let root = dir.path().join("ws");
    let check = |path: &str| resolve_wasm(&root, RelativePath::new(path)).unwrap_err();
    assert!(matches!(check(""), WasmPathError::Empty));
    assert!(matches!(check("./."), WasmPathError::Empty));
    assert!(matches!(
        check("/etc/passwd"),
        WasmPathError::Absolute { .. }
    ));
    assert!(matches!(
        check("\\\\server\\x"),
        WasmPathError::Absolute { .. }
    ));
    assert!(matches!(check("~/x.wasm"), WasmPathError::Absolute { .. }));
    assert!(matches!(check("c:/x.wasm"), WasmPathError::Absolute { .. }));
    assert!(matches!(
        check("../outside.wasm"),
        WasmPathError::Parent { .. }
    ));
    assert!(matches!(
        check("tools/../../outside.wasm"),
        WasmPathError::Parent { .. }
    ));
    assert!(matches!(
        check("tools\\x.wasm"),
        WasmPathError::Characters { .. }
    ));
    assert!(matches!(
        check("tools/x\0.wasm"),
        WasmPathError::Characters { .. }
    ));
    assert!(matches!(
        check(&"a/".repeat(5_000)),
        WasmPathError::TooLong { .. }
    ));
}

#[test]
fn a_missing_file_is_told_apart_and_named() {
    let dir = workspace();
    let root = dir.path().join("ws");
    let error = resolve_wasm(&root, RelativePath::new("tools/y.wasm")).unwrap_err();
    assert!(matches!(&error, WasmPathError::NotFound { path } if path.ends_with("tools/y.wasm")));
}

#[cfg(unix)]
#[test]
fn links_may_lead_around_inside_but_not_out() {
    use std::os::unix::fs::symlink;

    let dir = workspace();
    let root = dir.path().join("ws");
    symlink(root.join("tools"), root.join("inside")).unwrap();
    symlink(dir.path().join("outside.wasm"), root.join("out.wasm")).unwrap();
    symlink(dir.path(), root.join("up")).unwrap();
    symlink(root.join("loop"), root.join("loop")).unwrap();
    assert!(resolve_wasm(&root, RelativePath::new("inside/x.wasm")).is_ok());
    for path in ["out.wasm", "up/outside.wasm", "up"] {
        let error = resolve_wasm(&root, RelativePath::new(path)).unwrap_err();
        assert!(
            matches!(error, WasmPathError::Escapes { .. }),
            "{path}: {error}"
        );
    }
    let error = resolve_wasm(&root, RelativePath::new("loop")).unwrap_err();
    assert!(matches!(error, WasmPathError::Io { .. }), "{error}");
}

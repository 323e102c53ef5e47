//! B28: a grant of a path that is missing, is a link, or is no directory.

use std::os::unix::fs::symlink;

use jp_wasm::{DirPerms, Error, FilePerms, Preopen, WasiContext, build_wasi_context};

use super::*;

fn config(path: &Path) -> WasiConfig {
    WasiConfig {
        preopens: vec![Preopen {
            guest_path: "/workspace".to_owned(),
            host_path: path.to_owned(),
            dir_perms: DirPerms::Read,
            file_perms: FilePerms::Read,
        }],
    }
}

fn mount_error(path: &Path) -> String {
    let direct = build_wasi_context(&config(path)).err();
    let cached = new_kit(Host::OnDemand)
        .runtime()
        .wasi_context(&config(path))
        .err();
    let (Some(direct @ Error::Mount { .. }), Some(cached @ Error::Mount { .. })) = (direct, cached)
    else {
        panic!("{} was opened", path.display())
    };
    assert_eq!(direct.to_string(), cached.to_string());
    direct.to_string()
}

#[test]
fn b28_a_grant_that_cannot_be_opened_is_an_error_that_names_it() {
    let dir = outside();
    for (name, why) in [
        ("missing", "No such file"),
        ("secret.txt", "Not a directory"),
    ] {
        let path = dir.path().join(name);
        let error = mount_error(&path);
        assert!(
            error.contains(text(&path)) && error.contains(why),
            "{error}"
        );
    }
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    mount_error(&dir.path().join("dangling"));
}

#[test]
fn b28_a_grant_below_a_root_cannot_lead_out_of_it() {
    let (root, outside) = (tempfile::tempdir().unwrap(), outside());
    fs::create_dir(root.path().join("sub")).unwrap();
    symlink(outside.path(), root.path().join("out")).unwrap();
    symlink("sub", root.path().join("near")).unwrap();
    let mount = |relative: &str| {
        let mut context = WasiContext::default();
        context
            .mount_below(
                root.path(),
                Path::new(relative),
                "/subjects",
                DirPerms::Read,
            )
            .map(|()| context.preopens().count())
    };
    for relative in ["sub", "near", "."] {
        assert_eq!(mount(relative).unwrap(), 1, "{relative}");
    }
    let absolute = outside.path().to_str().unwrap();
    for relative in ["out", "..", "sub/../..", absolute, "missing", "/"] {
        let error = mount(relative).unwrap_err().to_string();
        assert!(
            error.contains("cannot open the granted directory"),
            "{relative}: {error}"
        );
    }
}

#[tokio::test]
async fn b28_a_directory_that_is_replaced_is_opened_anew() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("now"), dir.path().join("link"));
    let list = json!([["list", "/workspace"]]);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("old.txt"), "").unwrap();
    symlink("now", &link).unwrap();
    assert_eq!(files_in(&config(&link), &list).await, ["ok: old.txt"]);
    fs::rename(&path, dir.path().join("before")).unwrap();
    mount_error(&link);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("new.txt"), "").unwrap();
    assert_eq!(files_in(&config(&link), &list).await, ["ok: new.txt"]);
}

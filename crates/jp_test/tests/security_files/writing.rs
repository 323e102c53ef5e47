//! B22, B23: a workspace that may only be read stays as it is, to the byte and to the times.

use std::os::unix::fs::MetadataExt;

use jp_wasm::{DirPerms, FilePerms, Preopen};

use super::*;

/// Everything below a directory: names, sizes, times and contents.
fn snapshot(dir: &Path) -> Vec<String> {
    let mut seen = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        let times = (
            found.mtime_nsec(),
            found.nlink(),
            found.mode(),
            found.ctime_nsec(),
        );
        let content = fs::read(&path).unwrap_or_default();
        seen.push(format!("{} {times:?} {content:?}", path.display()));
        if found.is_dir() {
            seen.extend(snapshot(&path));
        }
    }
    seen.sort();
    seen
}

#[tokio::test]
async fn b23_nothing_changes_in_a_read_only_workspace() {
    for host in Host::ALL {
        let kit = new_kit(host)
            .access(Access::ReadOnly)
            .file("in.txt", "in")
            .file("sub/in.txt", "in");
        let before = snapshot(&kit.path(""));
        for path in [
            "/workspace/in.txt",
            "/workspace/sub/in.txt",
            "/workspace/sub",
            "/workspace",
        ] {
            refused(&kit, changes(path)).await;
            refused(&kit, json!([["rmdir", path]])).await;
        }
        assert_eq!(snapshot(&kit.path("")), before);
        let read = json!([["read", "/workspace/in.txt"], ["list", "/workspace/sub"]]);
        assert_eq!(kit.files(&read).await, ["ok: in", "ok: in.txt"]);
    }
}

#[tokio::test]
async fn b23_the_same_changes_work_where_writing_is_granted() {
    let kit = new_kit(Host::Pooling).file("in.txt", "in");
    let reports = kit.files(&changes("/workspace/in.txt")).await;
    let failed: Vec<_> = reports.iter().filter(|report| *report != "ok").collect();
    // `resize` works on a file that was opened for reading only; `link` finds it moved.
    assert_eq!(failed.len(), 3, "{reports:?}");
    assert!(kit.path("in.txt.moved").exists() && kit.path("in.txt.dir").is_dir());
}

#[tokio::test]
async fn b22_nothing_moves_between_a_writable_and_a_read_only_directory() {
    let (writable, read_only) = (outside(), outside());
    let mount = |guest: &str, dir: &TempDir, dir_perms, file_perms| Preopen {
        guest_path: guest.to_owned(),
        host_path: dir.path().to_owned(),
        dir_perms,
        file_perms,
    };
    let config = WasiConfig {
        preopens: vec![
            mount("/rw", &writable, DirPerms::ReadWrite, FilePerms::ReadWrite),
            mount("/ro", &read_only, DirPerms::Read, FilePerms::Read),
            mount("/half", &read_only, DirPerms::Read, FilePerms::ReadWrite),
            mount("/flah", &read_only, DirPerms::ReadWrite, FilePerms::Read),
        ],
    };
    let before = snapshot(read_only.path());
    let mut list = Vec::new();
    for at in ["/ro", "/half", "/flah"] {
        let secret = format!("{at}/secret.txt");
        list.extend(changes(&secret).as_array().unwrap().clone());
        for verb in ["rename", "link"] {
            list.push(json!([verb, "/rw/secret.txt", format!("{at}/new.txt")]));
            list.push(json!([verb, "/rw/secret.txt", secret]));
            list.push(json!([verb, secret, "/rw/new.txt"]));
        }
    }
    let reports = files_in(&config, &Value::from(list.clone())).await;
    for (report, operation) in reports.iter().zip(&list) {
        assert!(!report.starts_with("ok"), "{operation}: {report}");
    }
    assert_eq!(snapshot(read_only.path()), before);
    is_intact(&writable);
}

//! A chosen file is all a guest sees of where it lies: the list of B18 to B28 against it.

use std::os::unix::fs::{MetadataExt, symlink};

use jp_wasm::FilePerms;

use super::*;

/// Returns a kit whose guests have no workspace but `x.txt` of a directory that holds more.
fn chosen(host: Host, perms: FilePerms) -> (Kit, TempDir) {
    let dir = outside();
    for (name, text) in [("x.txt", "mine"), ("x.txt.bak", SECRET)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    fs::create_dir(dir.path().join("sub")).unwrap();
    let path = dir.path().join("x.txt");
    let kit = new_kit(host).access(Access::None).around(move |wasi| {
        let seen = wasi.mount_file(&path, "/in/0", perms).unwrap();
        assert_eq!(seen, "/in/0/x.txt");
    });
    (kit, dir)
}

/// What the directory of the host holds.
fn state(dir: &TempDir) -> Vec<(String, String)> {
    let mut all: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap_or_default())
        })
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn a_chosen_file_is_read_listed_and_described() {
    for host in Host::ALL {
        for perms in [FilePerms::Read, FilePerms::ReadWrite] {
            let (kit, _dir) = chosen(host, perms);
            let steps = json!([
                ["read", "/in/0/x.txt"],
                ["read", "/in/0/./x.txt"],
                ["stat", "/in/0/x.txt"],
                ["lstat", "/in/0"],
                ["list", "/in/0"],
                ["list", "/in/0/."],
            ]);
            let reports = kit.files(&steps).await;
            assert_eq!(reports[..3], ["ok: mine", "ok: mine", "ok: 4 bytes"]);
            assert!(reports[3].contains("ok"), "{reports:?}");
            assert_eq!(reports[4..], ["ok: x.txt", "ok: x.txt"]);
        }
    }
}

#[tokio::test]
async fn a_chosen_file_is_changed_where_that_is_granted() {
    let (kit, dir) = chosen(Host::Pooling, FilePerms::ReadWrite);
    let steps = json!([
        ["append", "/in/0/x.txt", " too"],
        ["read", "/in/0/x.txt"],
        ["write", "/in/0/x.txt", "new"],
        ["read", "/in/0/x.txt"],
        ["grow", "/in/0/x.txt", "2"],
        ["truncate", "/in/0/x.txt"],
        ["stat", "/in/0/x.txt"],
        ["write", "/in/0/x.txt", "last"],
    ]);
    let reports = kit.files(&steps).await;
    assert_eq!(
        reports,
        [
            "ok",
            "ok: mine too",
            "ok",
            "ok: new",
            "ok",
            "ok",
            "ok: 0 bytes",
            "ok"
        ]
    );
    assert_eq!(
        fs::read_to_string(dir.path().join("x.txt")).unwrap(),
        "last"
    );
}

#[tokio::test]
async fn b18_to_b28_a_chosen_file_leads_to_nothing_else() {
    let far = "/in/0/".to_owned() + &"a/".repeat(300) + "x.txt";
    let paths = json!([
        "/in/0/..",
        "/in/0/../x.txt",
        "/in/0/../0/x.txt",
        "/in/0/x.txt/..",
        "/in/0/x.txt/../x.txt.bak",
        "/in/0/secret.txt",
        "/in/0/x.txt.bak",
        "/in/0/sub",
        "/in/0/X.TXT",
        "/in/0/x.tx\u{74}\u{301}",
        "/in/0/x.txt/",
        "/in/0/x.txt\u{0}",
        "/in/0//../../etc/passwd",
        "/in/00/x.txt",
        "/in/0-secret",
        "/in/1/x.txt",
        "/in",
        "/",
        "/proc/self/environ",
        "/proc/self/root",
        "/dev/null",
        far,
    ]);
    for host in Host::ALL {
        for perms in [FilePerms::Read, FilePerms::ReadWrite] {
            let (kit, dir) = chosen(host, perms);
            let before = state(&dir);
            for path in paths.as_array().unwrap() {
                let steps = json!([
                    ["read", path],
                    ["list", path],
                    ["stat", path],
                    ["readlink", path],
                    ["write", path, "x"],
                    ["append", path, "x"],
                    ["truncate", path],
                    ["create", path],
                    ["mkdir", path],
                    ["unlink", path],
                    ["rmdir", path],
                    ["rename", path, "/in/0/x.txt"],
                    ["rename", "/in/0/x.txt", path],
                    ["link", path, "/in/0/x.txt"],
                    ["link", "/in/0/x.txt", path],
                    ["symlink", "x.txt", path],
                ]);
                // A directory that a guest knows by its name has no `..`: it stays where it is.
                let reports = kit.files(&steps).await;
                for (report, step) in reports.iter().zip(steps.as_array().unwrap()) {
                    assert!(!report.contains(SECRET), "{step}: {report}");
                    assert!(!report.starts_with("ok"), "{step}: {report}");
                }
            }
            assert_eq!(state(&dir), before);
        }
    }
}

#[tokio::test]
async fn b22_b23_what_is_granted_for_reading_cannot_be_changed_or_taken_away() {
    for perms in [FilePerms::Read, FilePerms::ReadWrite] {
        let (kit, dir) = chosen(Host::Pooling, perms);
        let before = state(&dir);
        let here = "/in/0/x.txt";
        let mut steps = vec![
            json!(["unlink", here]),
            json!(["rmdir", "/in/0"]),
            json!(["rename", here, "/in/0/y.txt"]),
            json!(["rename", "/in/0", "/in/1"]),
            json!(["link", here, "/in/0/y.txt"]),
            json!(["symlink", "/etc/passwd", "/in/0/y.txt"]),
            json!(["create", "/in/0/y.txt"]),
            json!(["create", here]),
            json!(["mkdir", "/in/0/d"]),
            json!(["readlink", here]),
            json!(["read", "/in/0"]),
            json!(["write", "/in/0", "x"]),
        ];
        if perms == FilePerms::Read {
            steps.extend([
                json!(["truncate", here]),
                json!(["resize", here]),
                json!(["grow", here, "100"]),
                json!(["append", here, "x"]),
                json!(["write", here, "x"]),
            ]);
        }
        refused(&kit, Value::from(steps)).await;
        assert_eq!(state(&dir), before);
    }
}

#[tokio::test]
async fn b21_what_happens_to_the_path_after_choosing_changes_nothing() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), outside());
    let path = dir.path().join("x.txt");
    fs::write(&path, "mine").unwrap();
    let was = fs::metadata(&path).unwrap().ino();
    let (chosen, secret) = (path.clone(), outside.path().join("secret.txt"));
    let kit = new_kit(Host::Pooling)
        .access(Access::None)
        .around(move |wasi| {
            wasi.mount_file(&chosen, "/in/0", FilePerms::ReadWrite)
                .unwrap();
            fs::rename(&chosen, chosen.with_extension("old")).unwrap();
            symlink(&secret, &chosen).unwrap();
        });
    let steps = json!([["read", "/in/0/x.txt"], ["write", "/in/0/x.txt", "x"]]);
    assert_eq!(kit.files(&steps).await, ["ok: mine", "ok"]);
    is_intact(&outside);
    let old = dir.path().join("x.old");
    assert_eq!(fs::metadata(&old).unwrap().ino(), was);
    assert_eq!(fs::read_to_string(old).unwrap(), "x");
}

#[tokio::test]
async fn chosen_files_are_counted_like_all_open_files() {
    let (kit, _dir) = chosen(Host::Pooling, FilePerms::Read);
    let mut steps = vec![json!(["keep", "/in/0/x.txt"]); 33];
    steps.push(json!(["drop"]));
    steps.extend(vec![json!(["read", "/in/0/x.txt"]); 50]);
    let reports = kit.files(&Value::from(steps)).await;
    assert!(reports[..32].iter().all(|r| r == "ok"), "{reports:?}");
    assert!(reports[32].contains("uota"), "{}", reports[32]);
    assert!(reports[34..].iter().all(|r| r == "ok: mine"), "{reports:?}");
}

#[tokio::test]
async fn several_chosen_files_do_not_mix() {
    let dir = outside();
    let at = dir.path().to_owned();
    for (name, text) in [("a", "A"), ("b", "B")] {
        fs::write(at.join(name), text).unwrap();
    }
    let kit = new_kit(Host::Pooling).file("w", "W").around(move |wasi| {
        wasi.mount_file(&at.join("a"), "/in/0", FilePerms::Read)
            .unwrap();
        wasi.mount_file(&at.join("b"), "/in/1", FilePerms::ReadWrite)
            .unwrap();
    });
    let steps = json!([
        ["read", "/in/0/a"],
        ["read", "/in/1/b"],
        ["list", "/in/1"],
        ["read", "/workspace/w"],
        ["read", "/in/0/b"],
        ["rename", "/in/1/b", "/workspace/b"],
        ["link", "/in/1/b", "/workspace/b"],
        ["rename", "/workspace/w", "/in/1/b"],
        ["rename", "/in/1/b", "/in/0/a"],
    ]);
    let reports = kit.files(&steps).await;
    assert_eq!(reports[..4], ["ok: A", "ok: B", "ok: b", "ok: W"]);
    assert!(
        reports[4..].iter().all(|r| !r.starts_with("ok")),
        "{reports:?}"
    );
    assert_eq!(fs::read_to_string(kit.path("w")).unwrap(), "W");
}

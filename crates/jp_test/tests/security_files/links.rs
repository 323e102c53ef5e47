//! B20, B21, B22: links that lead out are never followed, not even when they appear in between.

use std::{
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::*;

#[tokio::test]
async fn b20_links_that_lead_out_are_not_followed() {
    let outside = outside();
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling)
            .access(access)
            .file("sub/in.txt", "in");
        symlink("/etc/passwd", kit.path("passwd")).unwrap();
        symlink(outside.path().join("secret.txt"), kit.path("secret")).unwrap();
        symlink(outside.path(), kit.path("dir")).unwrap();
        symlink("../../../../../../etc/passwd", kit.path("sub/up")).unwrap();
        symlink("dir", kit.path("twice")).unwrap();
        symlink("loop", kit.path("loop")).unwrap();
        refused(
            &kit,
            json!([
                ["read", "/workspace/passwd"],
                ["read", "/workspace/secret"],
                ["read", "/workspace/dir/secret.txt"],
                ["read", "/workspace/twice/secret.txt"],
                ["read", "/workspace/sub/up"],
                ["read", "/workspace/loop"],
                ["stat", "/workspace/secret"],
                ["stat", "/workspace/dir/secret.txt"],
                ["list", "/workspace/dir"],
                ["list", "/workspace/twice"],
                ["write", "/workspace/secret", "x"],
                ["append", "/workspace/secret", "x"],
                ["truncate", "/workspace/secret"],
                ["write", "/workspace/dir/new", "x"],
                ["create", "/workspace/dir/new"],
                ["mkdir", "/workspace/dir/new"],
                ["unlink", "/workspace/dir/secret.txt"],
                ["rename", "/workspace/dir/secret.txt", "/workspace/mine"],
                ["rename", "/workspace/sub/in.txt", "/workspace/dir/new"],
                ["link", "/workspace/dir/secret.txt", "/workspace/mine"],
                ["readlink", "/workspace/dir/secret.txt"],
            ]),
        )
        .await;
        is_intact(&outside);
    }
}

#[tokio::test]
async fn b20_links_within_the_workspace_work() {
    let kit = new_kit(Host::Pooling).file("sub/in.txt", "in");
    symlink("sub/in.txt", kit.path("near")).unwrap();
    symlink("../sub", kit.path("sub/self")).unwrap();
    let found = kit
        .files(&json!([
            ["read", "/workspace/near"],
            ["read", "/workspace/sub/self/self/in.txt"],
        ]))
        .await;
    assert_eq!(found, ["ok: in", "ok: in"]);
}

#[tokio::test]
async fn b20_a_guest_cannot_make_itself_a_link_that_leads_out() {
    let outside = outside();
    let kit = new_kit(Host::Pooling).file("in.txt", "in");
    let secret = outside.path().join("secret.txt");
    let reports = kit
        .files(&json!([
            ["symlink", text(&secret), "/workspace/absolute"],
            ["read", "/workspace/absolute"],
            [
                "symlink",
                format!("../../../../../..{}", text(&secret)),
                "/workspace/relative"
            ],
            ["read", "/workspace/relative"],
            ["write", "/workspace/relative", "x"],
            ["symlink", "..", "/workspace/up"],
            ["list", "/workspace/up"],
        ]))
        .await;
    for at in [1, 3, 4, 6] {
        assert!(!reports[at].starts_with("ok"), "{reports:?}");
    }
    is_intact(&outside);
}

/// Swaps a file and a directory of the workspace with links that lead out, as quickly as it can.
fn swap(kit: &Kit, outside: &TempDir, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<u64> {
    let (file, dir) = (kit.path("file"), kit.path("dir"));
    let (to_file, to_dir) = (kit.path("to-file"), kit.path("to-dir"));
    symlink(outside.path().join("secret.txt"), &to_file).unwrap();
    symlink(outside.path(), &to_dir).unwrap();
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let mut swaps = 0;
        while !stop.load(Ordering::Relaxed) {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            renameat_with(CWD, &file, CWD, &to_file, RenameFlags::EXCHANGE).unwrap();
            renameat_with(CWD, &dir, CWD, &to_dir, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
        }
        swaps
    })
}

#[tokio::test]
async fn b21_a_link_swapped_in_during_the_check_is_never_followed() {
    let outside = outside();
    for access in ACCESSES {
        let kit = new_kit(Host::Pooling)
            .access(access)
            .file("file", "mine")
            .file("dir/secret.txt", "mine");
        let stop = Arc::new(AtomicBool::new(false));
        let swapping = swap(&kit, &outside, &stop);
        let steps = json!({"times": 400, "do": [
            ["read", "/workspace/file"],
            ["read", "/workspace/dir/secret.txt"],
            ["stat", "/workspace/dir/secret.txt"],
            ["list", "/workspace/dir"],
            ["append", "/workspace/file", ""],
            ["create", "/workspace/dir/new"],
            ["unlink", "/workspace/dir/new"],
        ]});
        let mut reports = Vec::new();
        for _ in 0..5 {
            let text = kit.answer(GUEST, &steps).await;
            reports.extend(serde_json::from_str::<Vec<String>>(&text).unwrap());
        }
        stop.store(true, Ordering::Relaxed);
        assert!(swapping.join().unwrap() > 100, "there was a race");
        let size = format!("ok: {} bytes", SECRET.len());
        assert!(reports.contains(&"ok: mine".to_owned()), "some reads won");
        assert!(
            reports.iter().any(|report| !report.starts_with("ok")),
            "some lost"
        );
        for report in reports {
            assert!(!report.contains(SECRET) && report != size, "{report}");
        }
        is_intact(&outside);
    }
}

#[tokio::test]
async fn b22_hard_links_and_renames_stay_within_what_may_be_changed() {
    let outside = outside();
    let secret = outside.path().join("secret.txt");
    let kit = new_kit(Host::Pooling).file("in.txt", "in");
    refused(
        &kit,
        json!([
            ["link", text(&secret), "/workspace/mine"],
            [
                "link",
                format!("/workspace/../../../../..{}", text(&secret)),
                "/workspace/mine"
            ],
            [
                "link",
                "/workspace/in.txt",
                text(&outside.path().join("new"))
            ],
            [
                "rename",
                "/workspace/in.txt",
                text(&outside.path().join("new"))
            ],
            ["rename", text(&secret), "/workspace/mine"],
        ]),
    )
    .await;
    is_intact(&outside);
    assert!(!kit.path("mine").exists());
}

//! B26: `/tmp` holds what its quota says, in bytes and in names, and is gone afterwards.

use std::sync::Arc;

use jp_wasm::{TempQuota, ToolTemp};

use super::*;

/// Returns a kit whose guests have `/tmp` beside the workspace.
fn with_temp(host: Host, quota: TempQuota) -> (Kit, Arc<ToolTemp>, TempDir) {
    let base = tempfile::tempdir().unwrap();
    let temp = Arc::new(ToolTemp::create(base.path(), quota).unwrap());
    let shared = Arc::clone(&temp);
    let kit = new_kit(host)
        .file("w.txt", "work")
        .around(move |wasi| wasi.mount_temp(&shared).unwrap());
    (kit, temp, base)
}

const SMALL: TempQuota = TempQuota {
    bytes: 100_000,
    files: 10,
};

/// Whether a report is of a full disk. The guest's own library makes the general error of every
/// stream that fails, whatever the stream says; what ours says is tested beside it.
fn is_full(step: &Value, report: &str) -> bool {
    let streamed = step[0] == "pour" || step[0] == "poke";
    report.contains("No space left") || (streamed && report.contains("I/O error"))
}

/// Lets a guest do steps that must work until the last, which must be refused for want of room.
async fn fills(kit: &Kit, steps: &Value) {
    let reports = kit.files(steps).await;
    let (last, rest) = reports.split_last().unwrap();
    assert!(rest.iter().all(|r| r.starts_with("ok")), "{reports:?}");
    let step = steps.as_array().and_then(|steps| steps.last()).unwrap();
    assert!(is_full(step, last), "{steps}: {last}");
}

fn size(temp: &ToolTemp) -> (u64, usize) {
    let found: Vec<_> = fs::read_dir(temp.path()).unwrap().collect();
    let len = |e: &std::io::Result<fs::DirEntry>| {
        fs::symlink_metadata(e.as_ref().unwrap().path())
            .unwrap()
            .len()
    };
    (found.iter().map(len).sum(), found.len())
}

#[tokio::test]
async fn b26_bytes_are_limited_however_they_are_written() {
    for host in Host::ALL {
        for steps in [
            json!([["pour", "/tmp/a", "100000"], ["pour", "/tmp/a", "1"]]),
            json!([["pour", "/tmp/a", "60000"], ["pour", "/tmp/b", "60000"]]),
            json!([
                ["create", "/tmp/a"],
                ["grow", "/tmp/a", "100000"],
                ["grow", "/tmp/a", "100001"]
            ]),
            json!([
                ["create", "/tmp/a"],
                ["poke", "/tmp/a", "99999"],
                ["poke", "/tmp/a", "100000"]
            ]),
            json!([
                ["create", "/tmp/a"],
                ["poke", "/tmp/a", "9000000000000000000"]
            ]),
            json!([
                ["create", "/tmp/a"],
                ["grow", "/tmp/a", "9000000000000000000"]
            ]),
            json!([["pour", "/tmp/a", "99999"], ["symlink", "target", "/tmp/l"]]),
        ] {
            let (kit, temp, _base) = with_temp(host, SMALL);
            fills(&kit, &steps).await;
            assert!(size(&temp).0 <= SMALL.bytes);
        }
    }
}

#[tokio::test]
async fn b26_names_are_limited_however_they_are_made() {
    for (first, make) in [
        (json!(["create", "/tmp/f{n}"]), json!(["create", "/tmp/x"])),
        (json!(["mkdir", "/tmp/d{n}"]), json!(["mkdir", "/tmp/x"])),
        (
            json!(["symlink", "a", "/tmp/l{n}"]),
            json!(["symlink", "a", "/tmp/x"]),
        ),
        (
            json!(["write", "/tmp/f{n}", ""]),
            json!(["write", "/tmp/x", ""]),
        ),
        (
            json!(["pour", "/tmp/f{n}", "1"]),
            json!(["link", "/tmp/f1", "/tmp/x"]),
        ),
    ] {
        let (kit, temp, _base) = with_temp(Host::Pooling, SMALL);
        let ten = json!({"times": 10, "do": [first]});
        let reports = kit.answer(GUEST, &ten).await;
        assert_eq!(reports.matches("\"ok\"").count(), 10, "{reports}");
        fills(&kit, &json!([["list", "/tmp"], make])).await;
        assert_eq!(size(&temp).1, 10);
        // What is there can still be used.
        let used = kit
            .files(&json!([
                ["write", "/workspace/w.txt", "on"],
                ["list", "/tmp"]
            ]))
            .await;
        assert!(used.iter().all(|r| r.starts_with("ok")), "{used:?}");
    }
}

#[tokio::test]
async fn b26_what_is_removed_makes_room_again() {
    let (kit, _temp, _base) = with_temp(Host::Pooling, SMALL);
    let turns = json!({"times": 50, "do": [
        ["pour", "/tmp/a", "90000"], ["truncate", "/tmp/a"],
        ["pour", "/tmp/a", "90000"], ["write", "/tmp/a", "short"],
        ["pour", "/tmp/b", "90000"], ["rename", "/tmp/a", "/tmp/b"],
        ["pour", "/tmp/c", "90000"], ["grow", "/tmp/c", "1"], ["pour", "/tmp/d", "90000"],
        ["link", "/tmp/d", "/tmp/e"], ["unlink", "/tmp/d"], ["unlink", "/tmp/e"],
        ["unlink", "/tmp/b"], ["unlink", "/tmp/c"], ["mkdir", "/tmp/m"], ["rmdir", "/tmp/m"],
    ]});
    let reports: Vec<String> = serde_json::from_str(&kit.answer(GUEST, &turns).await).unwrap();
    assert!(reports.iter().all(|r| r == "ok"), "{reports:?}");
}

#[tokio::test]
async fn b26_a_removed_file_counts_while_somebody_holds_it() {
    let (kit, _temp, _base) = with_temp(Host::Pooling, SMALL);
    let reports = kit
        .files(&json!([
            ["pour", "/tmp/a", "90000"],
            ["keep", "/tmp/a"],
            ["unlink", "/tmp/a"],
            ["pour", "/tmp/b", "90000"],
            ["drop"],
            ["pour", "/tmp/c", "90000"],
        ]))
        .await;
    let want = [true, true, true, false, true, true];
    let got: Vec<_> = reports.iter().map(|r| r == "ok").collect();
    assert_eq!(got, want, "{reports:?}");
}

#[tokio::test]
async fn b26_nothing_is_smuggled_in_or_out_by_moving_and_linking() {
    let (kit, temp, _base) = with_temp(Host::Pooling, SMALL);
    fs::write(kit.path("big"), vec![0; 200_000]).unwrap();
    let reports = kit
        .files(&json!([
            ["rename", "/workspace/big", "/tmp/big"],
            ["link", "/workspace/big", "/tmp/big"],
            ["pour", "/tmp/a", "10"],
            ["link", "/tmp/a", "/workspace/a"],
            ["rename", "/tmp/a", "/workspace/a"],
        ]))
        .await;
    let ok: Vec<_> = reports.iter().map(|r| r == "ok").collect();
    assert_eq!(ok, [false, false, true, false, false], "{reports:?}");
    assert_eq!(size(&temp), (10, 1));
    assert!(kit.path("big").exists() && !kit.path("a").exists());
}

#[tokio::test]
async fn b26_the_quota_lasts_over_the_rounds_of_a_call_and_a_workspace_has_none() {
    let (kit, _temp, _base) = with_temp(Host::Spares, SMALL);
    for _ in 0..2 {
        let half = json!([
            ["pour", "/tmp/a", "50000"],
            ["pour", "/workspace/a", "90000"]
        ]);
        assert_eq!(kit.files(&half).await, ["ok", "ok"]);
    }
    fills(
        &kit,
        &json!([["pour", "/workspace/a", "90000"], ["pour", "/tmp/b", "1"]]),
    )
    .await;
}

#[tokio::test]
async fn what_a_guest_left_is_gone_however_deep_and_linked() {
    let outside = outside();
    let quota = TempQuota {
        bytes: 1 << 20,
        files: 1000,
    };
    let (kit, temp, base) = with_temp(Host::Pooling, quota);
    let mut path = "/tmp".to_owned();
    let mut steps = vec![json!(["symlink", "../../..", "/tmp/up"])];
    for level in 0..100 {
        path.push_str("/d");
        steps.push(json!(["mkdir", path]));
        steps.push(json!(["write", format!("{path}/f{level}"), "x"]));
    }
    let reports = kit.files(&Value::from(steps)).await;
    assert!(reports[1..].iter().all(|r| r == "ok"), "{reports:?}");
    std::os::unix::fs::symlink(outside.path(), temp.path().join("out")).unwrap();
    drop((kit, temp));
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    is_intact(&outside);
}

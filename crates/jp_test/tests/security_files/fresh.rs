//! A runtime that need not look at files for every call: what a call changed the next one sees all
//! the same, and what others change is seen a little later.

use std::{fs, os::unix::fs::symlink, time::Duration};

use jp_wasm::{DirPerms, FilePerms, Preopen, Runtime, RuntimeOptions, Sha256, WasiConfig};
use serde_json::json;

use super::files_on;

#[tokio::test]
async fn what_a_call_changed_is_seen_at_once_and_what_others_changed_soon() {
    let dir = tempfile::tempdir().unwrap();
    let (now, next) = (dir.path().join("now"), dir.path().join("next"));
    symlink(jp_test::guest("echo"), &now).unwrap();
    symlink(jp_test::guest("counter"), &next).unwrap();
    let options = RuntimeOptions {
        fresh: Duration::from_hours(1),
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(&options).unwrap();
    let found = async || {
        let prepared = runtime.prepare_path(&now, &|_| {}).await;
        prepared.unwrap().sha256()
    };
    let built = |guest| Sha256::of(&fs::read(jp_test::guest(guest)).unwrap());
    let config = WasiConfig {
        preopens: vec![Preopen {
            guest_path: jp_test::ROOT.into(),
            host_path: dir.path().to_owned(),
            dir_perms: DirPerms::ReadWrite,
            file_perms: FilePerms::ReadWrite,
        }],
    };
    // Compiled first, so that nothing takes long afterwards.
    files_on(&runtime, &config, &json!([])).await;
    assert_eq!(found().await, built("echo"));
    let swap = json!([
        ["rename", "/workspace/now", "/workspace/last"],
        ["rename", "/workspace/next", "/workspace/now"],
        ["rename", "/workspace/last", "/workspace/next"],
    ]);
    // The thread might look in between, but not each time.
    for turn in 0..31 {
        assert_eq!(files_on(&runtime, &config, &swap).await, ["ok"; 3]);
        let expected = ["counter", "echo"][turn % 2];
        assert_eq!(found().await, built(expected), "{turn}");
    }
    // Somebody else's change is found by the thread that looks while there are calls.
    fs::rename(&next, &now).unwrap();
    let elsewhere = WasiConfig::default();
    while found().await != built("echo") {
        files_on(&runtime, &elsewhere, &json!([])).await;
    }
}

//! Bytes that components of `jp:tool@0.2.0` are given go in as resources.

use std::{fs, sync::Arc};

use jp_test::{Host, Kit};
use jp_tool::GivenBlobs;
use jp_wasm::{Error, FilePerms};
use serde_json::{Value, json};

fn given() -> Arc<GivenBlobs> {
    Arc::new(GivenBlobs::new(1 << 20))
}

async fn said(kit: &Kit, arguments: &Value) -> Value {
    serde_json::from_str(&kit.answer("given", arguments).await).unwrap_or_default()
}

#[tokio::test]
async fn bytes_are_read_in_pieces_and_taken_once() {
    for host in Host::ALL {
        let given = given();
        let kit = Kit::new(host).giving(&given);
        let name = given.keep(vec![3; 100_000]).unwrap();
        let expected = json!([{"size": 100_000, "read": 100_000, "sum": 300_000, "last": [3, 3],
            "past": 0, "piece": 65_536, "again": false}]);
        assert_eq!(said(&kit, &json!({"name": name})).await, expected);
        assert_eq!(
            said(&kit, &json!({"name": name})).await,
            json!([{"none": name}])
        );
        // The room is free again when the call is over.
        assert!(given.keep(vec![0; 1 << 20]).is_ok());
    }
}

#[tokio::test]
async fn a_name_that_stands_for_nothing_brings_nothing() {
    let kit = Kit::new(Host::OnDemand);
    for name in ["", "blob:0", "/etc/passwd", "/in/0/x", "../x"] {
        assert_eq!(
            said(&kit, &json!({"name": name})).await,
            json!([{"none": name}])
        );
    }
}

#[tokio::test]
async fn a_chosen_file_is_read_without_opening_it_and_no_other_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.bin");
    fs::write(&path, [7; 10]).unwrap();
    fs::write(dir.path().join("b.bin"), "not this").unwrap();
    let kit = Kit::new(Host::OnDemand).around(move |wasi| {
        wasi.mount_file(&path, "/in/0", FilePerms::Read).unwrap();
    });
    let found = said(&kit, &json!({"name": "/in/0/a.bin"})).await;
    assert_eq!(
        (&found[0]["size"], &found[0]["sum"]),
        (&json!(10), &json!(70))
    );
    assert_eq!(found[0]["again"], true);
    for name in [
        "/in/0/b.bin",
        "/in/0/../0/a.bin",
        "/in/0",
        "/in/0/",
        "a.bin",
    ] {
        assert_eq!(
            said(&kit, &json!({"name": name})).await,
            json!([{"none": name}])
        );
    }
}

#[tokio::test]
async fn what_was_given_cannot_grow() {
    let given = given();
    let kit = Kit::new(Host::OnDemand).giving(&given);
    let name = given.keep(vec![1]).unwrap();
    let ended = kit
        .call("given", &json!({"do": "append", "bytes": name}))
        .await;
    assert!(
        matches!(ended.result, Err(Error::Trap { .. })),
        "{:?}",
        ended.result
    );
}

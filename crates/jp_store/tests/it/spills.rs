//! Large results: kept, read in ranges, counted, expired.

use jp_store::{MAX_SLICE, NewSpill, Quota, SpillId, StoreError};

use crate::conformance::{Engine, NOW, Server};

const ROOM: Quota = Quota {
    owner: u64::MAX,
    total: u64::MAX,
};

/// Returns bytes that differ from their neighbours.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n ^ n >> 8 ^ n >> 16) as u8).collect()
}

fn keep(
    server: &dyn Server,
    owner: &str,
    length: usize,
    expires: u64,
    quota: &Quota,
) -> Result<SpillId, StoreError> {
    let new = NewSpill {
        mime_type: "text/plain",
        bytes: &bytes(length),
        expires,
    };
    server.keep(owner, &new, quota, NOW)
}

pub(crate) fn every_range_is_what_was_kept(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let all = bytes(1_000_000);
    let id = keep(&*server, "ann", all.len(), NOW + 9, &ROOM).unwrap();
    let edges = [0, 1, 262_143, 262_144, 262_145, 524_288, 786_432, 999_999];
    let lengths = [0, 1, 2, 262_144, 262_145, 600_000, 5_000_000];
    for from in edges {
        for length in lengths {
            let read = server.read("ann", &id, from as u64, length as u64, NOW);
            let slice = read.unwrap().unwrap();
            let end = (from + length).min(all.len());
            assert!(slice.bytes == all[from..end], "{from} {length}");
            assert_eq!(slice.total, 1_000_000);
            assert_eq!(slice.mime_type, "text/plain");
        }
    }
    for offset in [1_000_000, 1_000_001, u64::MAX] {
        let slice = server.read("ann", &id, offset, u64::MAX, NOW).unwrap();
        let slice = slice.unwrap();
        assert_eq!((slice.bytes.len(), slice.total), (0, 1_000_000));
    }
}

pub(crate) fn results_of_all_sizes_come_back_whole(engine: &dyn Engine) {
    let server = engine.open(NOW);
    for length in [0, 1, 262_144, 262_145, MAX_SLICE + 300_000] {
        let id = keep(&*server, "ann", length, NOW + 9, &ROOM).unwrap();
        let (next, mut read) = (engine.open(NOW), Vec::new());
        loop {
            let offset = read.len() as u64;
            let slice = next.read("ann", &id, offset, u64::MAX, NOW).unwrap();
            let slice = slice.unwrap().bytes;
            assert!(slice.len() <= MAX_SLICE);
            if slice.is_empty() {
                break;
            }
            read.extend(slice);
        }
        assert!(read == bytes(length), "{length}");
    }
}

pub(crate) fn quotas_hold_for_one_owner_and_for_all(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let quota = Quota {
        owner: 30_000,
        total: 50_000,
    };
    let keep = |owner, length| keep(&*server, owner, length, NOW + 9, &quota);
    keep("ann", 10_000).unwrap();
    keep("ann", 20_000).unwrap();
    let error = keep("ann", 1).unwrap_err();
    let expected =
        "cannot keep a result of 4096 bytes: the owner's results take 30000 bytes (limit: 30000)";
    assert_eq!(error.to_string(), expected);
    let last = keep("bob", 20_000 - 4096).unwrap();
    keep("bob", 4097).unwrap_err();
    // However small, each counts.
    keep("bob", 0).unwrap();
    let error = keep("eve", 0).unwrap_err();
    assert!(matches!(error, StoreError::TotalQuota { .. }), "{error}");
    let kept = server.read("bob", &last, 0, 1, NOW).unwrap();
    assert!(kept.is_some(), "a refusal takes nothing away");
}

pub(crate) fn what_has_expired_makes_room(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let quota = Quota {
        owner: 30_000,
        total: 30_000,
    };
    let old = keep(&*server, "ann", 20_000, NOW, &quota).unwrap();
    assert_eq!(server.read("ann", &old, 0, 1, NOW).unwrap(), None);
    keep(&*server, "bob", 20_000, NOW + 9, &quota).unwrap();
    keep(&*server, "ann", 20_000, NOW + 9, &quota).unwrap_err();
    assert_eq!(server.sweep_spills(NOW).unwrap(), 0, "it is gone already");
    assert_eq!(server.sweep_spills(NOW + 9).unwrap(), 1);
    keep(&*server, "ann", 30_000, NOW + 99, &quota).unwrap();
}

pub(crate) fn results_expire_and_are_swept(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let ids = [0; 40].map(|_| keep(&*server, "ann", 300_000, NOW + 5, &ROOM).unwrap());
    let stays = keep(&*server, "bob", 300_000, NOW + 6, &ROOM).unwrap();
    assert_eq!(server.sweep_spills(NOW + 4).unwrap(), 0);
    for id in &ids {
        assert!(server.read("ann", id, 0, 1, NOW + 4).unwrap().is_some());
        assert!(server.read("ann", id, 0, 1, NOW + 5).unwrap().is_none());
    }
    assert_eq!(server.sweep_spills(NOW + 5).unwrap(), 40);
    assert_eq!(server.sweep_spills(NOW + 5).unwrap(), 0);
    let kept = server.read("bob", &stays, 299_999, 9, NOW + 5).unwrap();
    assert!(kept.unwrap().bytes == bytes(300_000)[299_999..]);
}

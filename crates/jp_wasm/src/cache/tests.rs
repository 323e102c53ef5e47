//! What the cache loads, and what it must never load.

use super::*;
use crate::engine::{Allocation, engine};

const LAYER: Layer = Layer::Component;

fn compiled(engine: &Engine, text: &str) -> (Sha256, Code) {
    let bytes = wat::parse_str(text).unwrap();
    (Sha256::of(&bytes), Code::compile(engine, &bytes).unwrap())
}

#[test]
fn code_survives_and_both_engines_share_it() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path()).unwrap();
    let (one, many) = (
        engine(Allocation::OnDemand).unwrap(),
        engine(Allocation::Pooling).unwrap(),
    );
    assert_eq!(compatibility(&one), compatibility(&many));
    let (sha256, code) = compiled(&one, "(component)");
    assert!(cache.load(&one, &sha256, LAYER).is_none());
    cache.store(&one, &sha256, &code).unwrap();
    assert!(cache.load(&one, &sha256, LAYER).is_some());
    assert!(
        Cache::open(dir.path())
            .unwrap()
            .load(&many, &sha256, LAYER)
            .is_some()
    );
}

#[test]
fn changed_cut_or_swapped_code_is_never_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path()).unwrap();
    let engine = engine(Allocation::OnDemand).unwrap();
    let (sha256, code) = compiled(&engine, "(component)");
    cache.store(&engine, &sha256, &code).unwrap();
    let path = cache.path(&engine, &sha256, LAYER);
    let good = fs::read(&path).unwrap();

    let mut changed = good.clone();
    changed[good.len() / 2] ^= 1;
    let cut = good[..good.len() - 1].to_vec();
    for bad in [changed, cut, Vec::new(), vec![0; 31]] {
        fs::write(&path, bad).unwrap();
        assert!(cache.load(&engine, &sha256, LAYER).is_none());
    }
    let other = Sha256::of(b"other");
    fs::write(cache.path(&engine, &other, LAYER), &good).unwrap();
    assert!(
        cache.load(&engine, &other, LAYER).is_none(),
        "code of another component"
    );
    fs::write(&path, &good).unwrap();
    assert!(cache.load(&engine, &sha256, LAYER).is_some());
}

#[test]
fn a_directory_that_others_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Cache::open(dir.path()).err().unwrap().to_string();
    assert!(error.contains("chmod 700"), "{error}");
}

#[test]
fn key_is_private_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let first = Cache::open(dir.path()).unwrap().key;
    assert_eq!(first, Cache::open(dir.path()).unwrap().key);
    let mode = fs::metadata(dir.path().join("key")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_module_is_kept_apart_from_a_component() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path()).unwrap();
    let engine = engine(Allocation::OnDemand).unwrap();
    let (sha256, code) = compiled(&engine, "(module)");
    cache.store(&engine, &sha256, &code).unwrap();
    let loaded = cache.load(&engine, &sha256, Layer::Module).unwrap();
    assert_eq!(loaded.layer(), Layer::Module);
    assert!(cache.load(&engine, &sha256, Layer::Component).is_none());
    fs::rename(
        cache.path(&engine, &sha256, Layer::Module),
        cache.path(&engine, &sha256, Layer::Component),
    )
    .unwrap();
    assert!(cache.load(&engine, &sha256, Layer::Component).is_none());
}

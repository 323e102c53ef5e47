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
fn a_directory_that_cannot_be_used_costs_time_and_no_tool() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let nowhere = PathBuf::from("/proc/nowhere/code");
    for dir in [file.clone(), file.join("code"), open.clone(), nowhere] {
        let options = crate::RuntimeOptions {
            cache_dir: Some(dir.clone()),
            ..crate::RuntimeOptions::default()
        };
        let runtime = crate::Runtime::new(&options).unwrap();
        let why = runtime.without_cache().unwrap();
        assert!(why.contains(&dir.display().to_string()), "{why}");
        let bytes = wat::parse_str("(component)").unwrap();
        let code = runtime.precompile(&bytes);
        assert!(code.is_ok(), "{:?}", code.err());
    }
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
    let runtime = crate::Runtime::new(&crate::RuntimeOptions::default()).unwrap();
    assert_eq!(runtime.without_cache(), None, "nobody asked for one");
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

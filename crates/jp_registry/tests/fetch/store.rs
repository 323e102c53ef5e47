//! The shared store: what is in it is right, whatever happens to it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    sync::{Arc, Barrier},
    thread,
};

use jp_disk::{Disk, Torn};
use jp_registry::{ArtifactRef, Digest, FetchError, Owner, Pinned, StaticSource, Store};
use serde_json::json;

use crate::{
    BYTES,
    kit::{Plain, Shop, Web, answer, no_progress},
    shop,
};

/// Returns the one object's place in the store.
fn object(shop: &Shop) -> std::path::PathBuf {
    let sha = Digest::of(BYTES).to_string();
    let store = shop.temp.path().join("store");
    store.join("objects").join(&sha[..2]).join(sha)
}

#[test]
fn an_artifact_is_stored_once_for_everybody() {
    let shop = shop();
    let web = Web::new(|_| answer("200 OK", BYTES));
    let verified = shop.fetch_from(&web.url("/")).unwrap();
    assert_eq!(verified.path(), object(&shop));
    assert_eq!(verified.bytes().unwrap(), BYTES);
    assert_eq!(verified.key, shop.publisher.public().id());
    assert_eq!(shop.fetch_from(&web.url("/")).unwrap(), verified);
    assert_eq!(
        web.seen().len(),
        1,
        "the second time it comes from the store"
    );
    assert_eq!(shop.stored().len(), 1);
    let place = format!("/artifacts/{}.wasm", Digest::of(BYTES));
    assert_eq!(web.seen()[0].path, place);
}

#[test]
fn the_store_is_the_users_alone() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("a/b");
    Store::open(&dir).unwrap();
    let mode = |dir: &std::path::Path| fs::metadata(dir).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&dir.join("objects")), 0o700);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Store::open(&dir).unwrap_err().to_string();
    assert!(error.contains("chmod 700"), "{error}");
    let file = temp.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(Store::open(&file), Err(FetchError::Io { .. })));
}

#[test]
fn a_damaged_object_is_fetched_again() {
    let shop = shop();
    let web = Web::new(|_| answer("200 OK", BYTES));
    shop.fetch_from(&web.url("/")).unwrap();
    let path = object(&shop);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    for damage in ["changed", "cut", "link"] {
        match damage {
            "changed" => fs::write(&path, b"a shady artifact").unwrap(),
            "cut" => fs::write(&path, b"a small").unwrap(),
            _ => {
                let elsewhere = shop.file(BYTES);
                fs::remove_file(&path).unwrap();
                symlink(elsewhere, &path).unwrap();
            }
        }
        let before = web.seen().len();
        let found = shop.fetch_from(&web.url("/")).unwrap();
        assert_eq!(found.bytes().unwrap(), BYTES, "{damage}");
        assert_eq!(web.seen().len(), before + 1, "{damage}");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[test]
fn two_at_once_download_once() {
    let shop = Shop::new();
    let bytes: Vec<u8> = (0..400_000_u32).flat_map(u32::to_le_bytes).collect();
    shop.publish("1.0.0", &bytes);
    let body = bytes.clone();
    let web = Web::new(move |_| answer("200 OK", &body));
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                let found = shop.fetch_from(&web.url("/")).unwrap();
                assert_eq!(found.bytes().unwrap(), bytes);
            });
        }
    });
    assert_eq!(web.seen().len(), 1);
    assert_eq!(shop.stored().len(), 1);
}

#[test]
fn progress_counts_up_to_the_total() {
    let shop = shop();
    let (source, mut told) = (shop.source(), Vec::new());
    let manifest = shop.verified(&source, "1.0.0");
    shop.store()
        .artifact(&manifest, &source, &mut |done, total| {
            told.push((done, total))
        })
        .unwrap();
    assert_eq!(told.last(), Some(&(16, Some(16))));
}

#[test]
fn what_is_not_there_offline_is_nothing() {
    let shop = shop();
    let manifest = shop.verified(&shop.source(), "1.0.0");
    assert_eq!(
        shop.store()
            .find(&manifest.manifest.artifact.sha256)
            .unwrap(),
        None
    );
    shop.store()
        .artifact(&manifest, &shop.source(), &mut no_progress())
        .unwrap();
    let cached = shop
        .store()
        .find(&manifest.manifest.artifact.sha256)
        .unwrap()
        .unwrap();
    assert_eq!(cached.read(1000).unwrap(), BYTES);
}

#[test]
fn a_crash_at_any_point_leaves_nothing_that_is_wrong() {
    let shop = shop();
    let (source, manifest) = (shop.source(), shop.verified(&shop.source(), "1.0.0"));
    for after in 0.. {
        let disk = Disk::failing_after(after, Torn::Half);
        let store = shop.store().with_disk(disk);
        let done = store.artifact(&manifest, &source, &mut no_progress());
        let cached = shop
            .store()
            .find(&manifest.manifest.artifact.sha256)
            .unwrap();
        if let Some(cached) = &cached {
            assert_eq!(cached.read(1000).unwrap(), BYTES);
        }
        if done.is_ok() {
            assert!(after > 2 && cached.is_some());
            break;
        }
    }
}

#[test]
fn a_link_in_place_of_a_partial_file_is_not_followed() {
    let shop = shop();
    let store = shop.store();
    let partial = shop
        .store_dir()
        .join("partial")
        .join(Digest::of(BYTES).to_string());
    let victim = shop.file(b"mine");
    symlink(&victim, &partial).unwrap();
    let found = store.artifact(
        &shop.verified(&shop.source(), "1.0.0"),
        &shop.source(),
        &mut no_progress(),
    );
    let error = found.unwrap_err();
    assert!(matches!(error, FetchError::Io { .. }), "{error}");
    assert!(error.to_string().contains("partial"), "{error}");
    assert_eq!(fs::read(victim).unwrap(), b"mine");
}

/// Fetches 1 MB, in a process whose files may not grow that large.
#[test]
fn a_full_disk_is_told_as_such_and_the_rest_can_be_fetched_later() {
    const INSIDE: &str = "JP_TEST_SMALL_FILES";
    if std::env::var_os(INSIDE).is_none() {
        let mut again = std::process::Command::new("sh");
        again.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"]);
        again.arg(std::env::current_exe().unwrap());
        let name = "store::a_full_disk_is_told_as_such_and_the_rest_can_be_fetched_later";
        let output = again.args(["--exact", name]).env(INSIDE, "1").output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
        return;
    }
    let bytes = vec![7; 1_000_000];
    let web = Web::new({
        let bytes = bytes.clone();
        move |_| answer("200 OK", &bytes)
    });
    let (id, version) = ("ocr".parse().unwrap(), "1.0.0".parse().unwrap());
    let wanted = ArtifactRef {
        owner: Owner::Tool(&id, &version),
        sha256: Digest::of(&bytes),
        size: Some(1_000_000),
        url: None,
    };
    let source = StaticSource::at_url(&web.url("/"), Arc::new(Plain)).unwrap();
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("store");
    let store = Store::open(&dir).unwrap();
    let found = store.fetch(&wanted, &source, &mut no_progress());
    let Err(FetchError::Io { action, source }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::FileTooLarge);
    assert!(action.contains("the artifact of ocr@1.0.0"), "{action}");
    let partial = dir.join("partial").join(wanted.sha256.to_string());
    assert!(partial.exists() && !store.contains(&wanted.sha256));
}

#[test]
fn a_pinned_model_comes_from_the_registry_and_is_what_the_pin_says() {
    let shop = Shop::new();
    let (weights, other) = (b"weights".as_slice(), b"other".as_slice());
    let manifest = json!({
        "id": "glm-ocr", "version": "1.5.0", "license": "MIT", "size_bytes": weights.len(),
        "artifacts": {
            "gguf": {"format": "gguf", "sha256": Digest::of(weights).to_string(), "size_bytes": 7},
            "mlx": {"format": "mlx", "sha256": Digest::of(other).to_string(), "size_bytes": 5},
        },
    });
    let missing = shop.open().add_model(&manifest, &[&shop.file(weights)]);
    assert!(missing.unwrap_err().to_string().contains("not given"));
    let files = [shop.file(weights), shop.file(other)];
    let files: Vec<&std::path::Path> = files.iter().map(|path| path.as_path()).collect();
    shop.open().add_model(&manifest, &files).unwrap();

    let pin = |bytes: &[u8]| Pinned {
        id: "glm-ocr".parse().unwrap(),
        sha256: Digest::of(bytes),
    };
    let (store, source) = (shop.store(), shop.source());
    let found = store.model(&pin(weights), &source, &mut no_progress());
    assert_eq!(found.unwrap().read(100).unwrap(), weights);
    let found = store.model(&pin(b"unknown"), &source, &mut no_progress());
    assert!(
        matches!(found, Err(FetchError::Invalid { .. })),
        "{found:?}"
    );
    // Once it is there, nobody is asked.
    let nobody = StaticSource::at_url("http://127.0.0.1:1/", Arc::new(Plain)).unwrap();
    assert!(
        store
            .model(&pin(weights), &nobody, &mut no_progress())
            .is_ok()
    );
    let found = store.model(&pin(other), &nobody, &mut no_progress());
    assert!(found.unwrap_err().is_unreachable());
}

//! The file vault and the store over it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::Arc,
};

use jp_broker::{FileVault, SecretError, SecretStore, VaultPaths};

use crate::desk::{paths, secret};

fn store(dir: &Path) -> SecretStore {
    SecretStore::new(Arc::new(FileVault::new(paths(dir)).unwrap()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn secrets_are_kept_listed_replaced_and_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let store_before = store(dir.path());
    assert_eq!(store_before.list().unwrap(), []);
    assert!(!dir.path().join("data").exists(), "nothing made by looking");
    store_before
        .set(&secret("b", "value of b", &["https://b.example/x"]))
        .unwrap();
    store_before.set(&secret("a", "value of a", &[])).unwrap();
    store_before.set(&secret("b", "second of b", &[])).unwrap();

    let store = store(dir.path());
    let names: Vec<String> = store
        .list()
        .unwrap()
        .iter()
        .map(|info| info.name.to_string())
        .collect();
    assert_eq!(names, ["a", "b"]);
    let b = "b".parse().unwrap();
    assert_eq!(
        store.find(&b).unwrap().unwrap(),
        secret("b", "second of b", &[])
    );
    assert!(store.remove(&b).unwrap());
    assert!(!store.remove(&b).unwrap());
    assert_eq!(store.find(&b).unwrap(), None);
    // Another process sees it at once.
    assert_eq!(store_before.list().unwrap().len(), 1);
}

#[test]
fn a_scrubber_knows_what_was_stored_a_moment_ago_by_whomever() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (store(dir.path()), store(dir.path()));
    let scrubbed = || {
        let scrubber = ours.scrubber().unwrap();
        scrubber.scrub("value of a, value of b").into_owned()
    };
    assert_eq!(scrubbed(), "value of a, value of b");
    ours.set(&secret("a", "value of a", &[])).unwrap();
    assert_eq!(scrubbed(), "[secret:a], value of b");
    theirs.set(&secret("b", "value of b", &[])).unwrap();
    assert_eq!(scrubbed(), "[secret:a], [secret:b]");
    theirs.remove(&"a".parse().unwrap()).unwrap();
    assert_eq!(scrubbed(), "value of a, [secret:b]");
}

#[test]
fn files_and_directories_are_for_their_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path())
        .set(&secret("a", "value of a", &[]))
        .unwrap();
    let VaultPaths { secrets, key } = paths(dir.path());
    for (path, expected) in [
        (secrets.as_path(), 0o600),
        (&key, 0o600),
        (secrets.parent().unwrap(), 0o700),
        (key.parent().unwrap(), 0o700),
    ] {
        assert_eq!(mode(path), expected, "{}", path.display());
    }
    assert_eq!(fs::read(&key).unwrap().len(), 32);
    let left: Vec<_> = fs::read_dir(secrets.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn whatever_others_can_read_is_refused_until_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    store.set(&secret("a", "value of a", &[])).unwrap();
    let VaultPaths { secrets, key } = paths(dir.path());
    for (path, good, bads) in [
        (secrets.as_path(), 0o600, [0o640, 0o604, 0o620]),
        (secrets.parent().unwrap(), 0o700, [0o750, 0o705, 0o701]),
    ] {
        for bad in bads {
            chmod(path, bad);
            let found = store.list();
            assert!(
                matches!(found, Err(SecretError::Exposed { .. })),
                "{bad:o} {found:?}"
            );
            let set = store.set(&secret("b", "value of b", &[]));
            assert!(set.is_err(), "{bad:o}");
        }
        chmod(path, good);
        assert_eq!(store.list().unwrap().len(), 1);
    }
    chmod(&key, 0o644);
    let fresh = SecretStore::new(Arc::new(FileVault::new(paths(dir.path())).unwrap()));
    assert!(matches!(fresh.list(), Err(SecretError::Exposed { .. })));
}

#[test]
fn changes_by_others_and_wrong_keys_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path())
        .set(&secret("a", "value of a", &[]))
        .unwrap();
    let VaultPaths { secrets, key } = paths(dir.path());
    let (sealed, good_key) = (fs::read(&secrets).unwrap(), fs::read(&key).unwrap());

    let mut changed = sealed.clone();
    *changed.last_mut().unwrap() ^= 1;
    for bytes in [changed.as_slice(), &sealed[..10], b""] {
        fs::write(&secrets, bytes).unwrap();
        let found = store(dir.path()).list();
        assert!(
            matches!(found, Err(SecretError::Tampered { .. })),
            "{found:?}"
        );
        let set = store(dir.path()).set(&secret("b", "value of b", &[]));
        assert!(set.is_err(), "nothing is written over it");
        assert_eq!(fs::read(&secrets).unwrap(), bytes);
    }
    fs::write(&secrets, &sealed).unwrap();
    for bytes in [[7; 32].as_slice(), b"short"] {
        fs::write(&key, bytes).unwrap();
        let found = store(dir.path()).list();
        assert!(
            matches!(found, Err(SecretError::Tampered { .. })),
            "{found:?}"
        );
    }
    fs::remove_file(&key).unwrap();
    let set = store(dir.path()).set(&secret("b", "value of b", &[]));
    assert!(
        matches!(set, Err(SecretError::KeyMissing { .. })),
        "no new key over old secrets: {set:?}"
    );
    let way_out = set.unwrap_err().to_string();
    assert!(
        way_out.contains("set the secrets again with `jp secret set NAME --for URL`"),
        "{way_out}"
    );
    fs::write(&key, good_key).unwrap();
    chmod(&key, 0o600);
    assert_eq!(store(dir.path()).list().unwrap().len(), 1);
}

#[test]
fn links_and_other_things_in_place_of_a_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path())
        .set(&secret("a", "value of a", &[]))
        .unwrap();
    let VaultPaths { secrets, .. } = paths(dir.path());
    let real = dir.path().join("data/real");
    fs::rename(&secrets, &real).unwrap();
    symlink(&real, &secrets).unwrap();
    assert!(store(dir.path()).list().is_err());
    fs::remove_file(&secrets).unwrap();
    fs::create_dir(&secrets).unwrap();
    assert!(store(dir.path()).list().is_err());
    fs::remove_dir(&secrets).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&secrets).status();
    if made.is_ok_and(|status| status.success()) {
        chmod(&secrets, 0o600);
        assert!(store(dir.path()).list().is_err(), "and nobody waits for it");
    }
}

#[test]
fn a_key_beside_its_secrets_is_refused() {
    let made = FileVault::new(VaultPaths {
        secrets: "x/secrets".into(),
        key: "x/key".into(),
    });
    assert!(matches!(made, Err(SecretError::Exposed { .. })));
}

#[test]
fn sixteen_writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let store = store(dir.path());
            scope.spawn(move || {
                let name = format!("s{number}");
                store.set(&secret(&name, "some value", &[])).unwrap();
            });
        }
    });
    assert_eq!(store(dir.path()).list().unwrap().len(), 16);
}

#[test]
fn a_store_has_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let large = "x".repeat(8 * 1024);
    for number in 0..8 {
        store
            .set(&secret(&format!("s{number}"), &large, &[]))
            .unwrap();
    }
    let more = store.set(&secret("more", "some value", &[]));
    assert!(matches!(more, Err(SecretError::Full { .. })), "{more:?}");
    assert_eq!(store.list().unwrap().len(), 8);
    let everywhere: Vec<String> = (0..33).map(|n| format!("https://h{n}.example")).collect();
    let everywhere: Vec<&str> = everywhere.iter().map(String::as_str).collect();
    let wide = store.set(&secret("s0", "some value", &everywhere));
    assert!(matches!(wide, Err(SecretError::Full { .. })), "{wide:?}");
}

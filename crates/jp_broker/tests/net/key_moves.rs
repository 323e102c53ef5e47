//! Moving the key of the vault between its file and a keyring.

use std::{fs, path::Path};

use jp_broker::{FileVault, KeyPlace, KeyringError, Moved, SecretError};

use crate::{
    desk::{paths, secret},
    drawer::{Drawer, Trouble},
    keyring::{key_file, plain, store, vault},
};

fn keep_one(dir: &Path) {
    plain(dir).set(&secret("a", "value of a", &[])).unwrap();
}

#[test]
fn what_a_killed_process_left_beside_the_key_goes() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    keep_one(dir.path());
    let beside = |name: &str| paths(dir.path()).key.with_file_name(name);
    let ours = vault(dir.path(), drawer.clone());
    for to in [KeyPlace::Keyring, KeyPlace::File] {
        fs::write(beside(".new-x1Y2z3"), key_file(dir.path())).unwrap();
        fs::write(beside("mine"), "stays").unwrap();
        assert_eq!(ours.move_key(to).unwrap(), Moved::Moved);
        assert!(!beside(".new-x1Y2z3").exists());
    }
    fs::write(beside(".new-x1Y2z3"), key_file(dir.path())).unwrap();
    keep_one(dir.path());
    assert!(!beside(".new-x1Y2z3").exists());
    assert!(beside("mine").exists());
}

#[test]
fn a_key_moves_to_the_keyring_and_back() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = vault(dir.path(), drawer.clone());
    for to in [KeyPlace::Keyring, KeyPlace::File] {
        assert_eq!(ours.move_key(to).unwrap(), Moved::NoKey);
    }
    assert_eq!(ours.key_place().unwrap(), None);
    assert!(!dir.path().join("data").exists(), "nothing made by asking");
    keep_one(dir.path());
    let key = key_file(dir.path());
    assert_eq!(ours.move_key(KeyPlace::File).unwrap(), Moved::AlreadyThere);

    assert_eq!(ours.move_key(KeyPlace::Keyring).unwrap(), Moved::Moved);
    assert_eq!(ours.key_place().unwrap(), Some(KeyPlace::Keyring));
    assert_eq!(drawer.keys(), std::slice::from_ref(&key));
    let file = key_file(dir.path());
    assert!(
        !file
            .windows(8)
            .any(|part| key.windows(8).any(|k| k == part))
    );
    let left = fs::read_dir(paths(dir.path()).key.parent().unwrap()).unwrap();
    assert_eq!(left.count(), 1, "no copy beside it");
    assert_eq!(store(dir.path(), drawer.clone()).list().unwrap().len(), 1);
    let again = ours.move_key(KeyPlace::Keyring).unwrap();
    assert_eq!(again, Moved::AlreadyThere);

    assert_eq!(ours.move_key(KeyPlace::File).unwrap(), Moved::Moved);
    assert_eq!(key_file(dir.path()), key);
    assert!(drawer.keys().is_empty());
    assert_eq!(plain(dir.path()).list().unwrap().len(), 1);
}

#[test]
fn a_key_stays_in_its_file_until_the_keyring_has_shown_it() {
    for trouble in [
        Trouble::Garbled,
        Trouble::Always(KeyringError::Locked),
        Trouble::Always(KeyringError::NoBus),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let drawer = Drawer::with(trouble);
        keep_one(dir.path());
        let key = key_file(dir.path());
        let moved = vault(dir.path(), drawer.clone()).move_key(KeyPlace::Keyring);
        assert!(
            matches!(moved, Err(SecretError::KeyStays { .. })),
            "{moved:?}"
        );
        assert_eq!(key_file(dir.path()), key);
        assert!(drawer.keys().is_empty());
        assert_eq!(plain(dir.path()).list().unwrap().len(), 1);
    }
    let dir = tempfile::tempdir().unwrap();
    keep_one(dir.path());
    let without = FileVault::new(paths(dir.path())).unwrap();
    let moved = without.move_key(KeyPlace::Keyring).unwrap_err().to_string();
    assert!(moved.contains("unset JP_KEYRING"), "{moved}");
}

#[test]
fn a_key_stays_in_a_keyring_that_does_not_show_it() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = vault(dir.path(), drawer.clone());
    store(dir.path(), drawer.clone())
        .set(&secret("a", "value of a", &[]))
        .unwrap();
    let mark = key_file(dir.path());
    // What it shows opens nothing.
    drawer.trouble(Trouble::Garbled);
    let moved = ours.move_key(KeyPlace::File);
    assert!(
        matches!(moved, Err(SecretError::Tampered { .. })),
        "{moved:?}"
    );
    drawer.trouble(Trouble::Always(KeyringError::Locked));
    let moved = ours.move_key(KeyPlace::File);
    assert!(
        matches!(moved, Err(SecretError::KeyUnreachable { .. })),
        "{moved:?}"
    );
    assert_eq!(key_file(dir.path()), mark);
    assert_eq!(drawer.keys().len(), 1);
    drawer.trouble(Trouble::Removing(KeyringError::Locked));
    let moved = ours.move_key(KeyPlace::File).unwrap();
    let problem = KeyringError::Locked;
    assert_eq!(moved, Moved::CopyLeft { problem });
    assert_eq!(plain(dir.path()).list().unwrap().len(), 1);
}

#[test]
fn a_key_that_moves_while_it_is_looked_for_is_found() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    let ours = store(dir.path(), drawer.clone());
    ours.set(&secret("a", "value of a", &[])).unwrap();
    let mover = vault(dir.path(), drawer.clone());
    drawer.before_get(move || {
        assert_eq!(mover.move_key(KeyPlace::File).unwrap(), Moved::Moved);
    });
    let reader = store(dir.path(), drawer.clone());
    assert_eq!(reader.list().unwrap().len(), 1);

    let mover = vault(dir.path(), drawer.clone());
    assert_eq!(mover.move_key(KeyPlace::Keyring).unwrap(), Moved::Moved);
    drawer.before_get(move || {
        for to in [KeyPlace::File, KeyPlace::Keyring] {
            assert_eq!(mover.move_key(to).unwrap(), Moved::Moved);
        }
    });
    let reader = store(dir.path(), drawer);
    assert_eq!(reader.list().unwrap().len(), 1, "under another id");
}

#[test]
fn secrets_without_their_key_move_nothing() {
    let (dir, drawer) = (tempfile::tempdir().unwrap(), Drawer::new());
    keep_one(dir.path());
    fs::remove_file(paths(dir.path()).key).unwrap();
    let moved = vault(dir.path(), drawer.clone()).move_key(KeyPlace::Keyring);
    assert!(
        matches!(moved, Err(SecretError::KeyMissing { .. })),
        "{moved:?}"
    );
    assert_eq!(drawer.asked(), 0);
}

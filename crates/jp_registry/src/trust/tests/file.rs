//! The file is changed as it is, and believed only if nobody else could have written it.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, thread};

use super::{key, names, speaks};
use crate::{
    InstallError,
    revocation::Revocations,
    testing::SigningKey,
    trust::{AllNames, MAX_BYTES, SignedRotation, TrustError, TrustRoots, TrustedRegistry},
};
use jp_disk::{Disk, Torn};

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data/keys.json");
    (dir, path)
}

fn add(path: &std::path::Path, key: &SigningKey, name: &str) -> Result<(), InstallError> {
    TrustRoots::change(path, |roots| {
        roots
            .trust(key.public(), &names(&[name]), AllNames::Refused)
            .map(drop)
    })
    .map(drop)
}

#[test]
fn what_is_trusted_is_there_afterwards() {
    let (_dir, path) = place();
    assert_eq!(TrustRoots::load(&path).unwrap(), TrustRoots::default());
    let (old, new, gone) = (key(), key(), key());
    add(&path, &old, "ocr").unwrap();
    let changed = TrustRoots::change(&path, |roots| {
        let registry = TrustedRegistry {
            key: gone.public().clone(),
            validates: true,
        };
        roots.trust_registry("main", registry)?;
        roots.revoke(&gone.public().id(), "stolen");
        let moved = SignedRotation::make(&old, new.public().clone(), names(&["ocr"]), 3).unwrap();
        roots.rotate(&moved, &Revocations::default()).unwrap();
        Ok::<_, InstallError>(())
    });
    let (roots, ()) = changed.unwrap();
    assert!(speaks(&roots, &new, "ocr"));
    assert_eq!(TrustRoots::load(&path).unwrap(), roots);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_change_that_fails_leaves_the_file_as_it_was() {
    let (_dir, path) = place();
    let key = key();
    add(&path, &key, "ocr").unwrap();
    let before = fs::read(&path).unwrap();
    let failed = TrustRoots::change(&path, |roots| {
        roots.forget(&key.public().id());
        Err::<(), _>(InstallError::from(TrustError::Full))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn many_at_once_lose_nothing() {
    let (_dir, path) = place();
    let keys: Vec<SigningKey> = (0..8).map(|_| key()).collect();
    thread::scope(|scope| {
        for key in &keys {
            let path = &path;
            scope.spawn(move || add(path, key, "ocr").unwrap());
        }
    });
    assert_eq!(TrustRoots::load(&path).unwrap().publishers().count(), 8);
}

#[test]
fn a_file_that_others_could_have_written_is_refused_with_the_way_out() {
    let (dir, path) = place();
    add(&path, &key(), "ocr").unwrap();
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = TrustRoots::load(&path).unwrap_err();
        let cause = refused.cause::<TrustError>();
        assert!(
            matches!(cause, Some(TrustError::Exposed { .. })),
            "{mode:o}"
        );
        assert!(refused.hint().unwrap().contains("chmod 600"));
        assert!(add(&path, &key(), "pdf").is_err());
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let refused = TrustRoots::load(&link).unwrap_err();
    assert!(refused.to_string().contains("symbolic link"), "{refused}");
    assert!(TrustRoots::load(dir.path()).is_err(), "a directory");
}

#[test]
fn a_damaged_file_is_refused_with_the_way_out() {
    let (_dir, path) = place();
    let (one, two) = (key(), key());
    add(&path, &one, "ocr").unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let (id, other) = (one.public().id().to_string(), two.public().id().to_string());
    let retired = format!(r#""retired": {{"{id}": {{"state": "revoked", "reason": ""}}}}"#);
    let bad = [
        String::new(),
        "{".to_owned(),
        good.replace("publishers", "publisher"),
        good.replace(&id, &other),
        good.replace("\"ocr\"", "\"*\""),
        good.replace("\"ocr\"", ""),
        good.replace("\"ocr\"", "\"OCR\""),
        good.replace("\"retired\": {}", &retired),
        good.replace("\"registries\"", "\"publishers\": {}, \"registries\""),
        " ".repeat(MAX_BYTES + 1),
    ];
    for text in bad {
        assert_ne!(text, good);
        fs::write(&path, &text).unwrap();
        let refused = TrustRoots::load(&path).unwrap_err();
        assert!(refused.hint().is_some(), "{refused}");
        // And it is not replaced by an empty one.
        assert!(add(&path, &two, "pdf").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_crash_anywhere_in_a_change_of_trust_leaves_the_old_keys_or_the_new_ones() {
    let (old, new) = (key(), key());
    let trust = |disk: &Disk, path: &std::path::Path, key: &SigningKey| {
        TrustRoots::change_on(disk, path, |roots| {
            let names = ["ocr".parse().unwrap()];
            roots.trust(key.public(), &names, AllNames::Refused)?;
            Ok::<_, InstallError>(())
        })
        .map(drop)
    };
    for torn in [Torn::Nothing, Torn::Half] {
        for after in 0.. {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("keys.json");
            trust(&Disk::real(), &path, &old).unwrap();
            let done = trust(&Disk::failing_after(after, torn), &path, &new);
            let count = TrustRoots::load(&path).unwrap().publishers().count();
            assert!([1, 2].contains(&count), "{count} after {after} operations");
            if done.is_ok() {
                assert!(count == 2 && after >= 5, "{after}");
                break;
            }
            trust(&Disk::real(), &path, &new).unwrap();
            let count = TrustRoots::load(&path).unwrap().publishers().count();
            assert_eq!(count, 2, "after {after} operations");
        }
    }
}

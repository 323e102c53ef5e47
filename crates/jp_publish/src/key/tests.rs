//! Keys keep to themselves.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use jp_registry::{Domain, PublicKey};
use serde_json::json;

use super::{KeyError, SigningKey};
use crate::sign_manifest;

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("publisher.key");
    (dir, path)
}

#[test]
fn a_seed_makes_the_key_that_the_standard_says() {
    // RFC 8032, section 7.1, test 1.
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let seed = data_encoding::HEXLOWER.decode(seed.as_bytes()).unwrap();
    let key = SigningKey::from_seed(zeroize::Zeroizing::new(seed.try_into().unwrap())).unwrap();
    let text = key.public().to_string();
    assert_eq!(text, "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
    assert_eq!(text.parse::<PublicKey>().unwrap(), *key.public());
}

#[test]
fn a_key_signs_what_it_signed() {
    let (key, other) = (
        SigningKey::generate().unwrap(),
        SigningKey::generate().unwrap(),
    );
    let (value, changed) = (json!({"id": "ocr"}), json!({"id": "ocs"}));
    let signature = sign_manifest(&value, &key).unwrap();
    assert!(signature.is_by(key.public(), Domain::Manifest, &value));
    assert!(!signature.is_by(key.public(), Domain::Manifest, &changed));
    assert!(!signature.is_by(key.public(), Domain::Validation, &value));
    assert!(!signature.is_by(other.public(), Domain::Manifest, &value));
    assert_ne!(key.public(), other.public());
}

#[test]
fn a_key_file_is_its_owners_and_reads_back() {
    let (_dir, path) = place();
    let key = SigningKey::generate().unwrap();
    key.write(&path).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let read = SigningKey::read(&path).unwrap();
    assert_eq!(read.public(), key.public());
    assert_eq!(*read.seed, *key.seed);
}

#[test]
fn a_key_is_never_overwritten() {
    let (_dir, path) = place();
    SigningKey::generate().unwrap().write(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = SigningKey::generate().unwrap().write(&path).unwrap_err();
    assert!(matches!(refused, KeyError::Exists { .. }), "{refused}");
    assert!(refused.hint().is_some());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let (dir, path) = place();
    SigningKey::generate().unwrap().write(&path).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o602] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = SigningKey::read(&path).unwrap_err();
        assert!(
            matches!(refused, KeyError::Exposed { .. }),
            "{mode:o} {refused}"
        );
        assert!(refused.hint().unwrap().contains("chmod 600"));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let refused = SigningKey::read(&link).unwrap_err();
    assert!(refused.to_string().contains("symbolic link"), "{refused}");
    let missing = SigningKey::read(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, KeyError::Io { .. }));
}

#[test]
fn a_damaged_key_is_refused_whichever_byte_it_is() {
    let (_dir, path) = place();
    let key = SigningKey::generate().unwrap();
    key.write(&path).unwrap();
    let good = fs::read(&path).unwrap();
    // The last byte ends the line, and may be missing.
    for at in 0..good.len() - 1 {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            let text = String::from_utf8(bad).unwrap_or_default();
            let read = SigningKey::from_text(&text);
            assert!(read.is_err(), "byte {at}, bit {bit}");
        }
    }
    fs::write(&path, vec![b'x'; 4096]).unwrap();
    assert!(
        SigningKey::read(&path)
            .unwrap_err()
            .to_string()
            .contains("too large")
    );
}

#[test]
fn a_signing_key_does_not_show_itself() {
    let key = SigningKey::generate().unwrap();
    let secret = data_encoding::BASE64.encode(key.seed.as_slice());
    let shown = format!("{key:?}");
    assert!(shown.contains(&key.public().to_string()) && !shown.contains(&secret));
    assert!(!shown.contains("seed"), "{shown}");
}

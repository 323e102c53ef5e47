//! The file of the tokens: what it holds, and what it does not.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::*;

fn tokens() -> (tempfile::TempDir, Tokens) {
    let dir = tempfile::tempdir().unwrap();
    let tokens = Tokens::at(&dir.path().join("serve/tokens.json"));
    (dir, tokens)
}

#[test]
fn a_token_is_nowhere_on_disk() {
    let (_dir, tokens) = tokens();
    let text = tokens.add("ci", None, None).unwrap();
    let written = fs::read_to_string(&tokens.path).unwrap();
    assert!(!written.contains(&text), "{written}");
    let mode = fs::metadata(&tokens.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_others_can_read_lets_nobody_in() {
    let (_dir, tokens) = tokens();
    tokens.add("ci", None, None).unwrap();
    fs::set_permissions(&tokens.path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = tokens.list().unwrap_err().to_string();
    assert!(error.contains("can be read by others"), "{error}");
}

#[test]
fn a_name_has_one_token_until_it_is_rotated_or_removed() {
    let (_dir, tokens) = tokens();
    let life = Some(Duration::from_secs(3_600));
    tokens.add("ci", None, life).unwrap();
    assert!(matches!(
        tokens.add("ci", None, None),
        Err(TokensError::Taken { .. })
    ));
    tokens.rotate("ci", Duration::from_secs(60), None).unwrap();
    let [holder] = &tokens.list().unwrap()[..] else {
        panic!("one holder")
    };
    let [(_, Some(before)), (made, None)] = holder.tokens[..] else {
        panic!("{holder:?}")
    };
    assert!(before <= made + 60_000);
    tokens.remove("ci").unwrap();
    for gone in [
        tokens.remove("ci").unwrap_err(),
        tokens.rotate("ci", Duration::ZERO, None).unwrap_err(),
    ] {
        assert!(matches!(gone, TokensError::Unknown { .. }));
    }
    for name in ["", "a b", "../x", "-x"] {
        let error = tokens.add(name, None, None).unwrap_err();
        assert!(matches!(error, TokensError::Name { .. }), "{name}");
    }
}

#[test]
fn a_damaged_file_is_not_overwritten() {
    let (_dir, tokens) = tokens();
    tokens.add("ci", None, None).unwrap();
    jp_disk::replace_private(&tokens.path, b"{\"version\":2,\"principals\":{}}").unwrap();
    let error = tokens.add("x", None, None).unwrap_err().to_string();
    assert!(error.contains("expected version 1, found 2"), "{error}");
}

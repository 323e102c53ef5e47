//! Random bytes that are made once, and read ever after.

use std::{io, path::Path};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::{private, temporary::create_private};

/// Reads the key of a file, or makes one that appears whole or not at all. Of several processes that
/// make it at once, all get the key of the first.
///
/// # Errors
///
/// When it cannot be read or made, or somebody else could have written it.
pub fn key_file(path: &Path) -> io::Result<[u8; 32]> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    create_private(path, &random::<32>()?)?;
    read(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let damaged = |why: &str| {
        let text = format!("{} {why}; remove it", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let bytes = private::read(path, 32, private::Others::Nothing).map_err(|error| match error {
        private::ReadError::Io(error) => error,
        private::ReadError::Unsafe(exposure) => damaged(exposure.words()),
    })?;
    let key = bytes.map(<[u8; 32]>::try_from).transpose();
    key.map_err(|_| damaged("is damaged"))
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        filled if filled == N => Ok(bytes),
        _ => Err(io::Error::other("the system gave too little randomness")),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, thread};

    use super::*;

    #[test]
    fn all_who_make_a_key_at_once_get_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let mut keys: Vec<_> = thread::scope(|scope| {
            let makers: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| key_file(&path).unwrap()))
                .collect();
            makers
                .into_iter()
                .map(|made| made.join().unwrap())
                .collect()
        });
        keys.dedup();
        assert_eq!(keys.len(), 1);
        assert_eq!(key_file(&path).unwrap(), keys[0]);
        assert_ne!(keys[0], [0; 32]);
    }

    #[test]
    fn a_key_that_is_damaged_or_was_seen_by_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        key_file(&path).unwrap();
        for mode in [0o640, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(key_file(&path).is_err(), "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for bytes in [&[0; 31][..], &[0; 33], b""] {
            fs::write(&path, bytes).unwrap();
            let error = key_file(&path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
    }
}

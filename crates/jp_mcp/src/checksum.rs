//! The hash of a program, against what was configured.

use std::{fs::File, io, io::Read, path::Path};

use jp_disk::Sha256Hasher;
use sha1::{Digest as _, Sha1};

use crate::{Algorithm, Checksum};

/// Larger programs are not hashed: nobody ships one.
const MAX_PROGRAM: u64 = 2 * 1024 * 1024 * 1024;

/// Hashes a file and returns the hash in lower-case hexadecimal.
pub(crate) fn hash(path: &Path, algorithm: Algorithm) -> io::Result<String> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > MAX_PROGRAM {
        return Err(io::Error::other("too large, or not a regular file"));
    }
    let mut file = file.take(MAX_PROGRAM);
    match algorithm {
        Algorithm::Sha256 => {
            let mut hasher = Sha256Hasher::default();
            io::copy(&mut file, &mut hasher)?;
            Ok(hasher.finish().to_string())
        }
        Algorithm::Sha1 => sha1(file),
    }
}

/// Returns whether a hash is the configured one, in whatever case it was written.
pub(crate) fn fits(found: &str, checksum: &Checksum) -> bool {
    found.eq_ignore_ascii_case(checksum.value.trim())
}

fn sha1(mut from: impl Read) -> io::Result<String> {
    let mut hasher = Sha1::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            let hash = hasher.finalize();
            return Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_bytes_have_their_known_hashes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        for (algorithm, value) in [
            (
                Algorithm::Sha256,
                "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
            ),
            (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ] {
            let checksum = Checksum {
                algorithm,
                value: value.to_owned(),
            };
            assert!(fits(&hash(&path, algorithm).unwrap(), &checksum));
        }
        assert!(
            hash(dir.path(), Algorithm::Sha256).is_err(),
            "not a program but a directory"
        );
    }
}

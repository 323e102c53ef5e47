//! One object of the store, whose bytes were found right. Only this module makes them.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use jp_disk::Sha256Hasher;
use rustix::fs::OFlags;

use crate::{id::Digest, transport::FetchError};

/// How much is read at once.
const BLOCK: usize = 64 * 1024;

/// A file of the store whose sha256 was just computed and is the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    path: PathBuf,
    sha256: Digest,
    size: u64,
}

/// What is in the place of an object.
pub(super) enum Found {
    Right(Object),
    Damaged,
    Nothing,
}

impl Object {
    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its sha256.
    #[must_use]
    pub const fn sha256(&self) -> Digest {
        self.sha256
    }

    /// Returns its size.
    #[must_use]
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// Reads it into memory and checks those very bytes, so that nobody can change them in between.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`] above `max`, [`FetchError::WrongDigest`] if the file has changed.
    pub fn read(&self, max: u64) -> Result<Vec<u8>, FetchError> {
        let what = || self.path.display().to_string();
        if self.size > max {
            return Err(FetchError::TooLarge { what: what(), max });
        }
        let failed = |error| FetchError::io(format!("read {}", what()), error);
        let mut bytes = Vec::new();
        let file = open(&self.path).map_err(failed)?;
        let mut file = file.take(self.size.saturating_add(1));
        file.read_to_end(&mut bytes).map_err(failed)?;
        let found = Digest::of(&bytes);
        if found == self.sha256 {
            return Ok(bytes);
        }
        Err(FetchError::WrongDigest {
            what: what(),
            expected: self.sha256,
            found,
        })
    }

    /// Takes a file that was hashed while it was written.
    pub(super) fn landed(path: &Path, sha256: Digest, size: u64) -> Self {
        Self {
            path: path.to_owned(),
            sha256,
            size,
        }
    }

    /// Looks at the bytes in the place of an object.
    pub(super) fn check(path: &Path, sha256: &Digest) -> Result<Found, FetchError> {
        let failed = |error| FetchError::io(format!("read {}", path.display()), error);
        let file = match open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            // A symbolic link in its place: nobody of ours put it there.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Ok(Found::Damaged);
            }
            Err(error) => return Err(failed(error)),
        };
        if !file.metadata().map_err(failed)?.is_file() {
            return Ok(Found::Damaged);
        }
        let mut hash = Sha256Hasher::default();
        let size = hash_into(&mut hash, file).map_err(failed)?;
        if hash.finish() != *sha256 {
            return Ok(Found::Damaged);
        }
        Ok(Found::Right(Self {
            path: path.to_owned(),
            sha256: *sha256,
            size,
        }))
    }
}

/// Opens without waiting for the other end of a pipe, and without following a link.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Adds all that can be read to a hash, and counts it.
pub(crate) fn hash_into(hash: &mut Sha256Hasher, mut source: impl Read) -> io::Result<u64> {
    let (mut block, mut size) = (vec![0; BLOCK], 0);
    loop {
        let count = match source.read(&mut block) {
            Ok(0) => return Ok(size),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hash.update(block.get(..count).unwrap_or_default());
        size += count as u64;
    }
}

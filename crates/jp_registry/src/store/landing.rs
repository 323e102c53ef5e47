//! A download on its way into the store: locked, counted and hashed while it is written.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use jp_disk::Sha256Hasher;
use rustix::fs::OFlags;

use super::{Object, Progress, object::hash_into, remove, what};
use crate::{
    disk::Disk,
    id::Digest,
    source::{ArtifactRef, MAX_ARTIFACT},
    transport::FetchError,
};

/// A partial file that this process alone works on.
pub(super) struct Landing<'a> {
    path: PathBuf,
    file: File,
    hash: Sha256Hasher,
    length: u64,
    expected: Digest,
    size: Option<u64>,
    what: String,
    progress: Progress<'a>,
    refused: Option<Refused>,
}

/// Why the sink took no more.
enum Refused {
    TooLong,
    Io(io::Error),
}

impl<'a> Landing<'a> {
    /// Opens the partial file and waits until nobody else has it.
    pub(super) fn open<'b: 'a>(
        path: &Path,
        wanted: &ArtifactRef<'_>,
        progress: &'a mut (dyn FnMut(u64, Option<u64>) + 'b),
    ) -> Result<Self, FetchError> {
        let failed = |error| FetchError::io(format!("open {}", path.display()), error);
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let flags = i32::try_from(flags).map_err(|error| failed(io::Error::other(error)))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.mode(0o600).custom_flags(flags).open(path);
        let file = file.map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("not a file")));
        }
        file.lock().map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            hash: Sha256Hasher::default(),
            length: 0,
            expected: wanted.sha256,
            size: wanted.size,
            what: what(wanted),
            progress,
            refused: None,
        })
    }

    /// Tells whether the locked file is still the one in the place. Whoever had the lock before may
    /// have finished, or have given up and removed it.
    pub(super) fn is_current(&self) -> Result<bool, FetchError> {
        let own = self.file.metadata().map_err(|error| self.failed(error))?;
        match fs::symlink_metadata(&self.path) {
            Ok(meta) => Ok((meta.dev(), meta.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Removes the file if it was made for nothing.
    pub(super) fn leave(self) -> Result<(), FetchError> {
        match self.is_current()? {
            true => remove(&self.path),
            false => Ok(()),
        }
    }

    /// Takes over what an earlier attempt left, and returns whether there was any.
    pub(super) fn resume(&mut self) -> Result<bool, FetchError> {
        let meta = self.file.metadata().map_err(|error| self.failed(error))?;
        if meta.len() > self.most() {
            self.restart()?;
            return Ok(false);
        }
        let hashed = hash_into(&mut self.hash, &self.file);
        self.length = hashed.map_err(|error| self.failed(error))?;
        if self.length > 0 {
            (self.progress)(self.length, self.size);
        }
        Ok(self.length > 0)
    }

    /// Throws away what is there.
    pub(super) fn restart(&mut self) -> Result<(), FetchError> {
        let cut = self.file.set_len(0);
        let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(0)));
        cut.map_err(|error| self.failed(error))?;
        self.hash = Sha256Hasher::default();
        self.length = 0;
        self.refused = None;
        Ok(())
    }

    pub(super) const fn len(&self) -> u64 {
        self.length
    }

    /// Tells whether all bytes are there that the manifest states.
    pub(super) fn is_full(&self) -> bool {
        self.size == Some(self.length)
    }

    /// Returns why the sink took no more, if it did not.
    pub(super) fn refusal(&mut self) -> Result<(), FetchError> {
        match self.refused.take() {
            None => Ok(()),
            Some(Refused::Io(error)) => Err(self.failed(error)),
            Some(Refused::TooLong) => Err(FetchError::TooLarge {
                what: self.what.clone(),
                max: self.most(),
            }),
        }
    }

    /// Compares what arrived with what was signed.
    pub(super) fn settle(&self) -> Result<(), FetchError> {
        if let Some(expected) = self.size.filter(|size| *size != self.length) {
            return Err(FetchError::Truncated {
                what: self.what.clone(),
                expected,
                found: self.length,
            });
        }
        let found = self.hash.clone().finish();
        if found == self.expected {
            return Ok(());
        }
        Err(FetchError::WrongDigest {
            what: self.what.clone(),
            expected: self.expected,
            found,
        })
    }

    /// Keeps what can still become right, and removes the rest.
    pub(super) fn give_up(&self, error: &FetchError) -> Result<(), FetchError> {
        let hopeless = matches!(
            error,
            FetchError::WrongDigest { .. }
                | FetchError::TooLarge { .. }
                | FetchError::Invalid { .. }
        );
        if hopeless || self.length == 0 {
            return remove(&self.path);
        }
        Ok(())
    }

    /// Makes the file an object: on the disk first, then in its place.
    pub(super) fn publish(self, path: &Path, disk: &Disk) -> Result<Object, FetchError> {
        let failed = |error| FetchError::io(format!("write {}", path.display()), error);
        disk.step().map_err(failed)?;
        self.file.sync_all().map_err(failed)?;
        disk.rename(&self.path, path).map_err(failed)?;
        // Only afterwards: a partial file that nobody may write to could not be resumed.
        let read_only = Permissions::from_mode(0o400);
        self.file.set_permissions(read_only).map_err(failed)?;
        Ok(Object::landed(path, self.expected, self.length))
    }

    fn most(&self) -> u64 {
        self.size.unwrap_or(MAX_ARTIFACT)
    }

    fn failed(&self, error: io::Error) -> FetchError {
        let action = format!("write {} to {}", self.what, self.path.display());
        FetchError::io(action, error)
    }
}

impl Write for Landing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len() as u64;
        if self.length.saturating_add(count) > self.most() {
            self.refused = Some(Refused::TooLong);
            return Err(io::Error::other("it is longer than its manifest says"));
        }
        if let Err(error) = self.file.write_all(bytes) {
            let seen = io::Error::from(error.kind());
            self.refused = Some(Refused::Io(error));
            return Err(seen);
        }
        self.hash.update(bytes);
        self.length += count;
        (self.progress)(self.length, self.size);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

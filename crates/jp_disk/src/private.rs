//! Files that only their owner may change: read with suspicion.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::io::Errno;

use crate::disk::careful;

/// What others may do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// Neither read nor change it.
    Nothing,
    /// Read it.
    Read,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The system did not let it.
    Io(io::Error),
    /// Somebody else could have written it, or read it.
    Unsafe(Exposure),
}

/// What makes a file unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// It leads somewhere else.
    Link,
    /// It is a directory, a FIFO, a socket or a device.
    NoFile,
    /// Another user owns it.
    Owner,
    /// Others may change it.
    Changeable,
    /// Others may read it.
    Readable,
    /// It has more bytes than any such file.
    TooLarge,
}

impl Exposure {
    /// Says so, to be read after the file's name.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Link => "is a symbolic link",
            Self::NoFile => "is not a regular file",
            Self::Owner => "belongs to another user",
            Self::Changeable => "can be changed by others",
            Self::Readable => "can be read by others",
            Self::TooLarge => "is too large",
        }
    }
}

/// Reads a file of at most `most` bytes; `None` when there is none.
///
/// # Errors
///
/// When it cannot be read, or not be trusted.
pub fn read(path: &Path, most: u64, others: Others) -> Result<Option<Vec<u8>>, ReadError> {
    let mut bytes = Vec::new();
    Ok(read_into(path, most, others, &mut bytes)?.then_some(bytes))
}

/// Reads a file of at most `most` bytes to the end of `bytes`, which grow only once, so that no part
/// of a secret stays elsewhere; tells whether there is one.
///
/// # Errors
///
/// When it cannot be read, or not be trusted.
pub fn read_into(
    path: &Path,
    most: u64,
    others: Others,
    bytes: &mut Vec<u8>,
) -> Result<bool, ReadError> {
    let Some((file, size)) = open(path, most, others)? else {
        return Ok(false);
    };
    bytes.reserve_exact(size.saturating_add(1));
    // It may have grown since it was looked at; then it is not read any further.
    let limit = u64::try_from(size).unwrap_or(u64::MAX).saturating_add(1);
    let read = file.take(limit).read_to_end(bytes).map_err(ReadError::Io)?;
    if read > size {
        let grown = io::Error::other("it was changed while it was read");
        return Err(ReadError::Io(grown));
    }
    Ok(true)
}

fn open(path: &Path, most: u64, others: Others) -> Result<Option<(File, usize)>, ReadError> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(careful())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            return Err(ReadError::Unsafe(Exposure::Link));
        }
        Err(error) => return Err(ReadError::Io(error)),
    };
    let found = file.metadata().map_err(ReadError::Io)?;
    if let Some(problem) = problem(&found, most, others) {
        return Err(ReadError::Unsafe(problem));
    }
    Ok(Some((
        file,
        usize::try_from(found.len()).unwrap_or(usize::MAX),
    )))
}

fn problem(found: &fs::Metadata, most: u64, others: Others) -> Option<Exposure> {
    let mode = found.mode();
    if !found.is_file() {
        Some(Exposure::NoFile)
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        Some(Exposure::Owner)
    } else if mode & 0o022 != 0 {
        Some(Exposure::Changeable)
    } else if others == Others::Nothing && mode & 0o077 != 0 {
        Some(Exposure::Readable)
    } else if found.len() > most {
        Some(Exposure::TooLarge)
    } else {
        None
    }
}

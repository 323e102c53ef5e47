//! Files that only their owner may change: read with suspicion, and made as a whole.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::{fs::OFlags, io::Errno};

/// What others may do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Nothing,
    Read,
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    Unsafe(&'static str),
}

/// Reads a file of at most `most` bytes; `None` when there is none.
pub(crate) fn read(path: &Path, most: u64, others: Others) -> Result<Option<Vec<u8>>, ReadError> {
    // Neither a link to somebody else's file nor a FIFO that keeps the reader waiting.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            return Err(ReadError::Unsafe("is a symbolic link"));
        }
        Err(error) => return Err(ReadError::Io(error)),
    };
    let found = file.metadata().map_err(ReadError::Io)?;
    if let Some(problem) = problem(&found, most, others) {
        return Err(ReadError::Unsafe(problem));
    }
    let size = usize::try_from(found.len()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    let mut limited = file.take(most.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(ReadError::Io)?;
    // It may have grown since it was looked at.
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(ReadError::Unsafe(TOO_LARGE));
    }
    Ok(Some(bytes))
}

const TOO_LARGE: &str = "is larger than any such file";

fn problem(found: &fs::Metadata, most: u64, others: Others) -> Option<&'static str> {
    let mode = found.mode();
    if !found.is_file() {
        Some("is no regular file")
    } else if found.uid() != rustix::process::geteuid().as_raw() {
        Some("belongs to another user")
    } else if mode & 0o022 != 0 {
        Some("can be changed by others")
    } else if others == Others::Nothing && mode & 0o077 != 0 {
        Some("can be read by others")
    } else if found.len() > most {
        Some(TOO_LARGE)
    } else {
        None
    }
}

/// Writes a new file as a whole, for its owner only: others see nothing, or all of it.
///
/// Returns whether it was written: a file that is there stays.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let dir = parent(path);
    create_dir(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error.error),
    }
    // The new name is only safe from a power cut once its directory is.
    File::open(dir)?.sync_all()?;
    Ok(true)
}

fn create_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

//! Files for their owner only: made so, and refused when they are not.

use std::{
    fs::{self, File, FileType},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

pub(super) use jp_disk::Present;
use jp_disk::{
    Disk,
    private::{self, Exposure, Others, ReadError},
};
use zeroize::Zeroizing;

use super::SecretError;

/// What a link is called.
pub(super) const LINK: &str = "a symbolic link";

/// Reads a file of at most `most` bytes; `None` when there is none.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
    let failed = |source| io_error("read", path, source);
    // Looked at before it is opened: opening alone does something to devices, and says of a link
    // or a socket less than people need to know.
    match fs::symlink_metadata(path) {
        Ok(found) => check_kind(path, found.file_type())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    check_dir(parent(path)?)?;
    let mut bytes = Zeroizing::new(Vec::new());
    match private::read_into(path, most, Others::Nothing, &mut bytes) {
        Ok(there) => Ok(there.then_some(bytes)),
        Err(ReadError::Io(error)) => Err(failed(error)),
        Err(ReadError::Unsafe(exposure)) => Err(unsafe_file(path, exposure)),
    }
}

/// Returns what makes a file unsafe, and what to do with the secrets in it.
fn unsafe_file(path: &Path, exposure: Exposure) -> SecretError {
    match exposure {
        Exposure::Changeable | Exposure::Readable => exposed(
            path,
            "can be read or changed by others: `chmod 600` it, and replace the secrets in it",
        ),
        Exposure::TooLarge => exposed(path, "is larger than anything stored here"),
        // It may be another one by now than the one that was looked at.
        Exposure::Link | Exposure::NoFile | Exposure::Owner => exposed(path, exposure.words()),
    }
}

/// Writes a file as a whole: others see what was there before, or all of it.
///
/// Returns whether it was written: with [`Present::Keep`] a file that is there stays.
pub(super) fn write(path: &Path, bytes: &[u8], present: Present) -> Result<bool, SecretError> {
    let failed = |source| io_error("write", path, source);
    let dir = parent(path)?;
    create_dir(dir)?;
    match present {
        Present::Replace => jp_disk::replace_private(path, bytes).map(|()| true),
        Present::Keep => jp_disk::create_private(path, bytes),
    }
    .map_err(failed)
}

/// Removes files beside `path` that a killed process left unfinished.
pub(super) fn sweep(path: &Path) {
    jp_disk::sweep_new(jp_disk::parent(path));
}

/// Waits until no other process changes files beside `path`; the lock lasts as long as what is returned.
pub(super) fn lock(path: &Path) -> Result<File, SecretError> {
    create_dir(parent(path)?)?;
    let lock = path.with_extension("lock");
    let failed = |source| io_error("lock", &lock, source);
    Disk::real().lock(&lock).map_err(failed)
}

/// Refuses what is not a file, by its kind.
fn check_kind(path: &Path, found: FileType) -> Result<(), SecretError> {
    let kind = match found {
        file if file.is_file() => return Ok(()),
        link if link.is_symlink() => LINK,
        dir if dir.is_dir() => "a directory",
        fifo if fifo.is_fifo() => "a FIFO",
        socket if socket.is_socket() => "a socket",
        _ => "a device",
    };
    Err(SecretError::NotAFile {
        path: path.to_owned(),
        kind,
    })
}

fn create_dir(dir: &Path) -> Result<(), SecretError> {
    jp_disk::create_dir(dir).map_err(|source| io_error("create", dir, source))?;
    check_dir(dir)
}

fn check_dir(dir: &Path) -> Result<(), SecretError> {
    let found = fs::metadata(dir).map_err(|source| io_error("look at", dir, source))?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(exposed(dir, "belongs to another user"));
    }
    if found.mode() & 0o077 != 0 {
        return Err(exposed(dir, "is open to others: `chmod 700` it"));
    }
    Ok(())
}

fn parent(path: &Path) -> Result<&Path, SecretError> {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.ok_or_else(|| exposed(path, "has no directory of its own"))
}

fn exposed(path: &Path, problem: &'static str) -> SecretError {
    SecretError::Exposed {
        path: path.to_owned(),
        problem,
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> SecretError {
    SecretError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

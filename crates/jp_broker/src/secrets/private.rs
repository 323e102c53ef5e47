//! Files for their owner only: made so, and refused when they are not.

use std::{
    fs::{self, DirBuilder, File, FileType, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::fs::OFlags;
use zeroize::Zeroizing;

use super::SecretError;

/// How files are called that are not whole yet.
const NEW: &str = ".new-";

/// What a link is called.
pub(super) const LINK: &str = "a symbolic link";

/// Whether a file may already be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Present {
    Replace,
    Keep,
}

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
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(unwaiting())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    check_dir(parent(path)?)?;
    let found = file.metadata().map_err(failed)?;
    // It may be another one by now.
    check_kind(path, found.file_type())?;
    let problem = if found.uid() != rustix::process::geteuid().as_raw() {
        Some("belongs to another user")
    } else if found.mode() & 0o077 != 0 {
        Some("can be read or changed by others: `chmod 600` it, and replace the secrets in it")
    } else if found.len() > most {
        Some("is larger than anything stored here")
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(exposed(path, problem));
    }
    let size = usize::try_from(found.len()).unwrap_or_default();
    let mut bytes = Zeroizing::new(Vec::with_capacity(size.saturating_add(1)));
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Writes a file as a whole: others see what was there before, or all of it.
///
/// Returns whether it was written: with [`Present::Keep`] a file that is there stays.
pub(super) fn write(path: &Path, bytes: &[u8], present: Present) -> Result<bool, SecretError> {
    let failed = |source| io_error("write", path, source);
    let dir = parent(path)?;
    create_dir(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(NEW)
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    let kept = match present {
        Present::Replace => file.persist(path).map(drop),
        Present::Keep => file.persist_noclobber(path).map(drop),
    };
    match kept {
        Ok(()) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(failed(error.error)),
    }
    // The new name is only safe from a power cut once its directory is.
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(failed)?;
    Ok(true)
}

/// Removes files beside `path` that nobody finished. Nobody may be writing there.
pub(super) fn sweep(path: &Path) {
    let Some(dir) = path.parent() else { return };
    // What cannot be listed or removed is in nobody's way.
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(NEW.as_bytes())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Waits until nobody else changes files beside `path`; the lock lasts as long as what is returned.
pub(super) fn lock(path: &Path) -> Result<File, SecretError> {
    create_dir(parent(path)?)?;
    let lock = path.with_extension("lock");
    let failed = |source| io_error("lock", &lock, source);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(unwaiting());
    let file = options.open(&lock).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Returns the flags that open neither a link to somebody else's file nor a FIFO that keeps whoever
/// opens it waiting.
fn unwaiting() -> i32 {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    i32::try_from(flags.bits()).unwrap_or_default()
}

/// Refuses what is no file, by its kind.
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
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|source| io_error("create", dir, source))?;
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

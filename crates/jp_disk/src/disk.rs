//! Changes to files that must not be lost: whole or not at all.
//!
//! A [`Disk`] is handed in like any other authority. A test hands in one that stops working at a
//! chosen operation, as a machine does that loses power, so that every point of an install can be
//! its last.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::fs::OFlags;

/// Files of the user that nobody else needs to read.
pub const PRIVATE: u32 = 0o600;

/// Files that are shared like the sources beside them.
pub const SHARED: u32 = 0o644;

/// How files are changed: really, or until a chosen operation.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    crash: Option<Arc<Crash>>,
}

/// Where the machine stops.
#[derive(Debug)]
struct Crash {
    /// How many operations are done before it.
    after: u64,
    /// How many were asked for so far.
    done: AtomicU64,
    torn: Torn,
}

/// What a write leaves behind that the crash interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// Nothing.
    Nothing,
    /// The first half of the bytes.
    Half,
}

impl Disk {
    /// Returns the disk as it is.
    #[must_use]
    pub fn real() -> Self {
        Self::default()
    }

    /// Returns a disk that does `operations` and then stops, for tests of crashes.
    #[must_use]
    pub fn failing_after(operations: u64, torn: Torn) -> Self {
        let crash = Crash {
            after: operations,
            done: AtomicU64::new(0),
            torn,
        };
        Self {
            crash: Some(Arc::new(crash)),
        }
    }

    /// Returns how many operations were asked for; a real disk does not count.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.crash
            .as_ref()
            .map_or(0, |crash| crash.done.load(Ordering::Relaxed))
    }

    /// Counts one operation that the caller is about to do itself.
    ///
    /// # Errors
    ///
    /// When the machine has stopped.
    pub fn step(&self) -> io::Result<()> {
        let Some(crash) = &self.crash else {
            return Ok(());
        };
        if crash.done.fetch_add(1, Ordering::Relaxed) < crash.after {
            return Ok(());
        }
        Err(io::Error::other("the machine stopped (simulated)"))
    }

    /// Makes a directory and those above it, for this user only.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create_dir(&self, dir: &Path) -> io::Result<()> {
        if dir.is_dir() {
            return Ok(());
        }
        self.step()?;
        create_dir(dir)
    }

    /// Replaces a file: readers see the old bytes or all of the new ones.
    ///
    /// The caller holds the lock of the file, so that what an interrupted call left can be removed.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; what was there before is still there then.
    pub fn replace(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.replace_with(path, bytes, mode, None)
    }

    /// Does what [`Disk::replace`] does, and keeps the permissions of the file that was there.
    ///
    /// # Errors
    ///
    /// As [`Disk::replace`].
    pub(crate) fn replace_alike(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        let alike = fs::metadata(path).ok().map(|found| found.permissions());
        self.replace_with(path, bytes, mode, alike)
    }

    fn replace_with(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: u32,
        alike: Option<Permissions>,
    ) -> io::Result<()> {
        let fresh = beside(path, ".new")?;
        // Nobody may read the new bytes before it is known who may read the old ones.
        let mode = alike.as_ref().map_or(mode, |_| PRIVATE);
        let permit = || alike.map_or(Ok(()), |alike| fs::set_permissions(&fresh, alike));
        let written = self
            .write_new(&fresh, bytes, mode)
            .and_then(|()| permit())
            .and_then(|()| self.rename(&fresh, path));
        if let Err(error) = written {
            // The first error is the one to tell; what stays is removed by the next call.
            let _ = self.remove(&fresh);
            return Err(error);
        }
        Ok(())
    }

    /// Writes a file that is not there, and waits until its bytes are safe.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_new(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.remove(path)?;
        self.step()?;
        // A link that somebody put here is not followed.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path)?;
        if let Err(stopped) = self.step() {
            if self.is_torn() {
                file.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
            }
            return Err(stopped);
        }
        file.write_all(bytes)?;
        self.step()?;
        file.sync_all()
    }

    /// Renames within a directory, over what is there, and waits until the name is safe.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        fs::rename(from, to)?;
        self.sync_dir(to)
    }

    /// Removes a file if it is there.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be removed.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        // Looked at first, so that removing nothing is not an operation.
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        self.step()?;
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Waits until the names in the directory of `path` are safe from a power cut.
    ///
    /// # Errors
    ///
    /// When the directory cannot be opened.
    pub fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        File::open(parent(path))?.sync_all()
    }

    /// Waits until nobody else changes what the lock file `path` stands for; dropping the file
    /// ends that.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be made.
    pub fn lock(&self, path: &Path) -> io::Result<File> {
        self.create_dir(parent(path))?;
        self.step()?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(PRIVATE)
            .custom_flags(careful())
            .open(path)?;
        file.lock()?;
        Ok(file)
    }

    /// Waits until nobody else changes the file `path`, by the lock file `path.lock` beside it.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be made.
    pub fn lock_beside(&self, path: &Path) -> io::Result<File> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        self.lock(Path::new(&name))
    }

    fn is_torn(&self) -> bool {
        let crash = self.crash.as_ref();
        crash.is_some_and(|crash| crash.torn == Torn::Half)
    }
}

/// Reads a whole file of at most `max` bytes; `None` when there is none.
///
/// # Errors
///
/// When it is not a regular file, cannot be read, or is larger (`FileTooLarge`).
pub fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    // A FIFO in its place would otherwise make the caller wait for ever.
    let flags = flags(OFlags::NONBLOCK);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let found = file.metadata()?;
    if !found.is_file() {
        let kind = io::ErrorKind::InvalidInput;
        return Err(io::Error::new(kind, "not a regular file"));
    }
    let size = usize::try_from(found.len().min(max)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max {
        let text = format!("it is larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(Some(bytes))
}

/// Makes a directory and those above it, for this user only. One that is there stays as it is.
///
/// # Errors
///
/// When it cannot be made.
pub fn create_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Returns the directory that a file lies in.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Opens neither a link to somebody else's file nor a FIFO that blocks the process that opens it.
pub(crate) fn careful() -> i32 {
    flags(OFlags::NOFOLLOW | OFlags::NONBLOCK)
}

fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or_default()
}

/// Returns the hidden file beside another that is renamed over it.
fn beside(path: &Path, suffix: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        let kind = io::ErrorKind::InvalidInput;
        io::Error::new(kind, "not the name of a file")
    })?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(suffix);
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;

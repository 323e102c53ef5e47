//! Files below a directory and nowhere else. No symbolic link is followed on the way, and only
//! ordinary files are opened: a FIFO would block, a device would never end.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
};

use super::layout::{PENDING, is_served};

/// A directory whose files are read.
#[derive(Debug, Clone)]
pub(super) struct Beneath {
    dir: PathBuf,
}

/// A file that was opened, and its size at that moment.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) size: u64,
}

/// Opens a file of the registry in a directory, by its path there; nothing for a path that a registry
/// does not have, and for what is not a plain file. Returns its size at that moment too.
#[must_use]
pub fn open_served(dir: &Path, path: &str) -> Option<(File, u64)> {
    let opened = match is_served(path) {
        true => Beneath::new(dir).open(path).ok().flatten(),
        false => None,
    };
    opened.map(|opened| (opened.file, opened.size))
}

impl Beneath {
    /// Names the directory; nothing is opened yet.
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Opens a file of the registry: as the commit under way has it, or else as it stands.
    pub(super) fn open(&self, path: &str) -> io::Result<Option<Opened>> {
        match self.open_plain(&format!("{PENDING}/{path}"))? {
            None => self.open_plain(path),
            pending => Ok(pending),
        }
    }

    fn open_plain(&self, path: &str) -> io::Result<Option<Opened>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let step = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let mut names: Vec<&str> = path.split('/').collect();
        let last = names.pop().unwrap_or_default();
        // The directory itself may be a link: the user chose it.
        let mut at: OwnedFd = match openat(CWD, &self.dir, flags | OFlags::DIRECTORY, Mode::empty())
        {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        for name in names {
            at = match openat(&at, plain(name)?, flags | step, Mode::empty()) {
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused(name)),
                opened => opened?,
            };
        }
        let file = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match openat(&at, plain(last)?, file, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NXIO) => return Err(refused(last)),
            opened => File::from(opened?),
        };
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(refused(last));
        }
        let size = meta.len();
        Ok(Some(Opened { file, size }))
    }
}

/// Refuses names that are not file names.
fn plain(name: &str) -> io::Result<&str> {
    match name {
        "" | "." | ".." => Err(refused(name)),
        name if name.contains('\0') => Err(refused("a name with a zero byte")),
        name => Ok(name),
    }
}

fn refused(name: &str) -> io::Error {
    let text = format!(
        "`{}` is not a plain file but a link, a pipe, a device or a directory",
        jp_text::inline(name)
    );
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

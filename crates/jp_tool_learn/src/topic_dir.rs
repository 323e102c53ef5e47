//! The only place that touches files: one directory, out of which no path and no link leads.
//!
//! In the component the directory is a preopen and the sandbox refuses escapes. Natively
//! cap-primitives does the same, because a topic directory comes with the workspace and a hostile workspace may
//! hold links to a user's private files. It knows nothing of slugs and subjects.

use std::{ffi::OsString, fs::File, io, ops::ControlFlow, path::Path};

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What [`TopicDir::list`] does with each entry.
pub(crate) type Visit<'a> = dyn FnMut(io::Result<(OsString, Kind)>) -> ControlFlow<()> + 'a;

/// What changes when a file does.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// An open topic directory.
#[derive(Debug)]
pub(crate) struct TopicDir {
    #[cfg(not(target_arch = "wasm32"))]
    dir: File,
    #[cfg(target_arch = "wasm32")]
    dir: std::path::PathBuf,
}

#[cfg(not(target_arch = "wasm32"))]
impl TopicDir {
    /// Opens the directory at `path`; `path` itself may lead through links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let dir = cap_primitives::fs::open_ambient_dir(path, cap_primitives::ambient_authority())?;
        Ok(Self { dir })
    }

    /// Opens the directory at `relative` inside `root`, refusing whatever leads out of `root`.
    pub(crate) fn open_beneath(root: &Path, relative: &Path) -> io::Result<Self> {
        let dir = cap_primitives::fs::open_dir(&Self::open(root)?.dir, relative)?;
        Ok(Self { dir })
    }

    /// Calls `visit` with each entry of the directory at `path`, in no particular order.
    pub(crate) fn list(&self, path: &str, visit: &mut Visit<'_>) -> io::Result<()> {
        for entry in cap_primitives::fs::read_dir(&self.dir, here(path))? {
            let entry = entry.and_then(|entry| {
                let kind = entry.file_type()?;
                Ok((
                    entry.file_name(),
                    kind_of(kind.is_file(), kind.is_dir(), kind.is_symlink()),
                ))
            });
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Tells what `path` leads to, following links.
    pub(crate) fn kind(&self, path: &str) -> io::Result<Kind> {
        let follow = cap_primitives::fs::FollowSymlinks::Yes;
        let metadata = cap_primitives::fs::stat(&self.dir, here(path), follow)?;
        Ok(kind_of(metadata.is_file(), metadata.is_dir(), false))
    }

    /// Follows `path` to where it leads, relative to the directory.
    #[cfg(unix)]
    pub(crate) fn resolve(&self, path: &str) -> io::Result<std::path::PathBuf> {
        cap_primitives::fs::canonicalize(&self.dir, here(path))
    }

    /// Returns what changes when the file at `path` does.
    #[cfg(unix)]
    pub(crate) fn stamp(&self, path: &str) -> io::Result<Stamp> {
        use cap_primitives::fs::MetadataExt as _;
        let follow = cap_primitives::fs::FollowSymlinks::Yes;
        let found = cap_primitives::fs::stat(&self.dir, here(path), follow)?;
        Ok(Stamp {
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    fn open_any(&self, path: &str) -> io::Result<File> {
        let mut options = cap_primitives::fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_primitives::fs::OpenOptionsExt as _;
            // A FIFO that took the file's place since the walk would block the host for ever.
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        cap_primitives::fs::open(&self.dir, here(path), &options)
    }
}

#[cfg(target_arch = "wasm32")]
impl TopicDir {
    /// Opens the directory at `path`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let dir = path.to_owned();
        if !std::fs::metadata(&dir)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { dir })
    }

    /// Calls `visit` with each entry of the directory at `path`, in no particular order.
    pub(crate) fn list(&self, path: &str, visit: &mut Visit<'_>) -> io::Result<()> {
        for entry in std::fs::read_dir(self.dir.join(path))? {
            let entry = entry.and_then(|entry| {
                let kind = entry.file_type()?;
                Ok((
                    entry.file_name(),
                    kind_of(kind.is_file(), kind.is_dir(), kind.is_symlink()),
                ))
            });
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Tells what `path` leads to, following links.
    pub(crate) fn kind(&self, path: &str) -> io::Result<Kind> {
        let metadata = std::fs::metadata(self.dir.join(path))?;
        Ok(kind_of(metadata.is_file(), metadata.is_dir(), false))
    }

    fn open_any(&self, path: &str) -> io::Result<File> {
        File::open(self.dir.join(path))
    }
}

impl TopicDir {
    /// Opens the regular file at `path`, and returns its size too.
    pub(crate) fn open_file(&self, path: &str) -> io::Result<(File, u64)> {
        let file = self.open_any(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() {
            Ok((file, metadata.len()))
        } else {
            Err(io::Error::other("not a regular file"))
        }
    }
}

fn kind_of(is_file: bool, is_dir: bool, is_link: bool) -> Kind {
    match (is_file, is_dir, is_link) {
        (_, _, true) => Kind::Link,
        (true, ..) => Kind::File,
        (_, true, _) => Kind::Directory,
        _ => Kind::Other,
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn here(path: &str) -> &Path {
    Path::new(if path.is_empty() { "." } else { path })
}

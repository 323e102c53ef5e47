//! Every look and every change that applying and recovering make on the host: one method, one system call.
//!
//! A [`Gate`] stands before and behind each call, so that a test can let any of them fail or be the last one.
//! Paths are relative to an open directory that they cannot leave (cap-std); moves take single names, so that no
//! link is followed on the way.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, SystemTimeSpec};
use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt,
};
use jp_bash_system::{FileKind, Timestamp};
use rustix::fs::{Access, AtFlags, RenameFlags};

use super::super::host::{name_bytes, system_time, timestamp};

/// What a call does, as far as a test of failures cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vfs) enum Call {
    /// Reads something.
    Look,
    /// Makes or writes something, which takes space.
    Fill,
    /// Moves a name.
    Move,
    /// Swaps two names.
    Swap,
    /// Changes mode, times or owner.
    Mark,
    /// Removes something.
    Remove,
    /// Waits until something is safe from a power cut.
    Sync,
}

/// Stands around every call.
pub(in crate::vfs) trait Gate {
    /// Before a call: an error is the call's own, and it is not made.
    fn before(&self, call: Call) -> io::Result<()>;
    /// After a call that succeeded: an error makes it look as if it had not.
    fn after(&self, call: Call) -> io::Result<()>;
    /// Whether to wait for the disk: who only pretends to die need not.
    fn syncs(&self) -> bool {
        true
    }
}

/// Lets every call through.
pub(in crate::vfs) struct Through;

impl Gate for Through {
    fn before(&self, _call: Call) -> io::Result<()> {
        Ok(())
    }
    fn after(&self, _call: Call) -> io::Result<()> {
        Ok(())
    }
}

/// What is under a name of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vfs) struct Mark {
    /// `None` for a socket, a device or a FIFO.
    pub(in crate::vfs) kind: Option<FileKind>,
    pub(in crate::vfs) dev: u64,
    pub(in crate::vfs) ino: u64,
    pub(in crate::vfs) mode: u32,
    pub(in crate::vfs) uid: u32,
    pub(in crate::vfs) gid: u32,
    pub(in crate::vfs) size: u64,
    pub(in crate::vfs) mtime: Timestamp,
    pub(in crate::vfs) ctime: Timestamp,
}

impl Mark {
    pub(in crate::vfs) fn is_dir(&self) -> bool {
        self.kind == Some(FileKind::Directory)
    }
}

/// The calls.
#[derive(Clone, Copy)]
pub(in crate::vfs) struct Disk<'a> {
    gate: &'a dyn Gate,
}

impl<'a> Disk<'a> {
    pub(in crate::vfs) fn new(gate: &'a dyn Gate) -> Self {
        Self { gate }
    }

    fn call<T>(&self, call: Call, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.gate.before(call)?;
        let made = make()?;
        self.gate.after(call)?;
        Ok(made)
    }

    fn sync(&self, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let waits = self.gate.syncs();
        self.call(Call::Sync, || if waits { make() } else { Ok(()) })
    }

    /// Looks at a name, not through a link; nothing there is `None`.
    pub(in crate::vfs) fn look(&self, at: &Dir, path: &[u8]) -> io::Result<Option<Mark>> {
        let looked = self.call(Call::Look, || match path {
            b"" => at.dir_metadata(),
            path => at.symlink_metadata(of(path)),
        });
        match looked {
            Ok(metadata) => Ok(Some(mark(&metadata))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists the names of a directory, sorted.
    pub(in crate::vfs) fn names(&self, at: &Dir, path: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let mut names = self.call(Call::Look, || {
            let entries = match path {
                b"" => at.entries()?,
                path => at.open_dir_nofollow(of(path))?.entries()?,
            };
            entries
                .map(|entry| Ok(name_bytes(&entry?.file_name())))
                .collect::<io::Result<Vec<_>>>()
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Opens a directory that is not behind a link.
    pub(in crate::vfs) fn enter(&self, at: &Dir, name: &[u8]) -> io::Result<Dir> {
        self.call(Call::Look, || at.open_dir_nofollow(of(name)))
    }

    /// Opens the directory of a path, component by component, through no link, and returns the last name.
    pub(in crate::vfs) fn parent<'p>(
        &self,
        root: &Dir,
        path: &'p [u8],
    ) -> io::Result<(Dir, &'p [u8])> {
        let mut parts = path.split(|byte| *byte == b'/');
        let name = parts.next_back().unwrap_or_default();
        let mut dir = self.call(Call::Look, || root.try_clone())?;
        for part in parts {
            dir = self.enter(&dir, part)?;
        }
        Ok((dir, name))
    }

    /// Opens a regular file for reading; what was swapped in for it cannot make the caller wait.
    pub(in crate::vfs) fn open(&self, at: &Dir, path: &[u8]) -> io::Result<File> {
        self.call(Call::Look, || {
            let mut options = OpenOptions::new();
            let flags = rustix::fs::OFlags::NONBLOCK.bits();
            options.read(true).follow(FollowSymlinks::No);
            options.custom_flags(i32::try_from(flags).unwrap_or_default());
            let file = at.open_with(of(path), &options)?;
            if !file.metadata()?.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            Ok(file.into_std())
        })
    }

    /// Returns what an open file is now.
    pub(in crate::vfs) fn look_at(&self, file: &File) -> io::Result<Mark> {
        self.call(Call::Look, || {
            let metadata = cap_std::fs::Metadata::from_just_metadata(file.metadata()?);
            Ok(mark(&metadata))
        })
    }

    /// Reads at an offset; 0 is the end.
    pub(in crate::vfs) fn read(&self, file: &File, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.call(Call::Look, || file.read_at(buf, at))
    }

    /// Reads a whole file of at most `most` bytes; nothing there is `None`.
    pub(in crate::vfs) fn read_all(
        &self,
        at: &Dir,
        path: &[u8],
        most: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(at, path) {
            Err(error) if is_missing(&error) => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        self.call(Call::Look, || file.take(most + 1).read_to_end(&mut bytes))?;
        if bytes.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(bytes))
    }

    /// Makes a directory that only this user may enter.
    pub(in crate::vfs) fn make_dir(&self, at: &Dir, path: &[u8]) -> io::Result<()> {
        self.call(Call::Fill, || {
            let mut builder = DirBuilder::new();
            builder.mode(0o700);
            at.create_dir_with(of(path), &builder)
        })
    }

    /// Makes a file that only this user may open.
    pub(in crate::vfs) fn create(&self, at: &Dir, path: &[u8]) -> io::Result<File> {
        self.call(Call::Fill, || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            options.follow(FollowSymlinks::No);
            Ok(at.open_with(of(path), &options)?.into_std())
        })
    }

    pub(in crate::vfs) fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.call(Call::Fill, || file.write_all_at(bytes, at))
    }

    pub(in crate::vfs) fn set_len(&self, file: &File, size: u64) -> io::Result<()> {
        self.call(Call::Fill, || file.set_len(size))
    }

    pub(in crate::vfs) fn link(&self, at: &Dir, from: &[u8], to: &[u8]) -> io::Result<()> {
        self.call(Call::Fill, || at.hard_link(of(from), at, of(to)))
    }

    pub(in crate::vfs) fn symlink(&self, at: &Dir, target: &[u8], path: &[u8]) -> io::Result<()> {
        self.call(Call::Fill, || at.symlink_contents(of(target), of(path)))
    }

    /// Sets the mode of what is not a link; an empty path is the directory itself.
    pub(in crate::vfs) fn set_mode(&self, at: &Dir, path: &[u8], mode: u32) -> io::Result<()> {
        let path = if path.is_empty() { b"." } else { path };
        self.call(Call::Mark, || {
            at.set_permissions(of(path), cap_std::fs::Permissions::from_mode(mode))
        })
    }

    /// Sets when something was changed last, of a link itself too.
    pub(in crate::vfs) fn set_mtime(
        &self,
        at: &Dir,
        path: &[u8],
        time: Timestamp,
    ) -> io::Result<()> {
        self.call(Call::Mark, || {
            let time = cap_std::time::SystemTime::from_std(system_time(time));
            let spec = Some(SystemTimeSpec::Absolute(time));
            at.set_symlink_times(of(path), None, spec)
        })
    }

    /// Gives a directory to an owner and a group.
    pub(in crate::vfs) fn set_dir_owner(&self, dir: &Dir, uid: u32, gid: u32) -> io::Result<()> {
        self.set_owner(&reopened(dir)?, uid, gid)
    }

    /// Gives a file to an owner and a group.
    pub(in crate::vfs) fn set_owner(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        self.call(Call::Mark, || {
            let uid = rustix::fs::Uid::from_raw(uid);
            let gid = rustix::fs::Gid::from_raw(gid);
            Ok(rustix::fs::fchown(file, Some(uid), Some(gid))?)
        })
    }

    /// Moves a name to where nothing is.
    pub(in crate::vfs) fn rename(
        &self,
        (from, old): (&Dir, &[u8]),
        (to, new): (&Dir, &[u8]),
    ) -> io::Result<()> {
        let moved = self.call(Call::Move, || {
            Ok(rustix::fs::renameat_with(
                from,
                old,
                to,
                new,
                RenameFlags::NOREPLACE,
            )?)
        });
        match moved {
            Err(error) if is_unsupported(&error) => {}
            moved => return moved,
        }
        if self.look(to, new)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.call(Call::Move, || Ok(rustix::fs::renameat(from, old, to, new)?))
    }

    /// Swaps two names, or says that the file system cannot (`Ok(false)`).
    pub(in crate::vfs) fn swap(
        &self,
        (one, first): (&Dir, &[u8]),
        (two, second): (&Dir, &[u8]),
    ) -> io::Result<bool> {
        let swapped = self.call(Call::Swap, || {
            Ok(rustix::fs::renameat_with(
                one,
                first,
                two,
                second,
                RenameFlags::EXCHANGE,
            )?)
        });
        match swapped {
            Ok(()) => Ok(true),
            Err(error) if is_unsupported(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(in crate::vfs) fn remove_file(&self, at: &Dir, path: &[u8]) -> io::Result<()> {
        self.call(Call::Remove, || at.remove_file_or_symlink(of(path)))
    }

    pub(in crate::vfs) fn remove_dir(&self, at: &Dir, path: &[u8]) -> io::Result<()> {
        self.call(Call::Remove, || at.remove_dir(of(path)))
    }

    pub(in crate::vfs) fn sync_file(&self, file: &File) -> io::Result<()> {
        self.sync(|| file.sync_all())
    }

    pub(in crate::vfs) fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        self.sync(|| Ok(rustix::fs::fsync(reopened(dir)?)?))
    }

    /// Waits until everything on the file system of a directory is safe.
    pub(in crate::vfs) fn sync_all(&self, dir: &Dir) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        let synced = self.sync(|| Ok(rustix::fs::syncfs(reopened(dir)?)?));
        #[cfg(not(target_os = "linux"))]
        let synced = self.sync(|| {
            let _ = dir;
            rustix::fs::sync();
            Ok(())
        });
        synced
    }

    /// Returns how many bytes this user may still write, if the file system says so.
    pub(in crate::vfs) fn free(&self, at: &Dir) -> io::Result<Option<u64>> {
        let found = self.call(Call::Look, || Ok(rustix::fs::fstatvfs(at)?))?;
        Ok((found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize)))
    }

    /// Tells whether names may be made and removed in a directory.
    pub(in crate::vfs) fn may_change(&self, dir: &Dir) -> io::Result<bool> {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        let asked = self.call(Call::Look, || {
            Ok(rustix::fs::accessat(dir, ".", access, AtFlags::empty())?)
        });
        match asked {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Locks a directory against other applies; `None` if one is at work. Dropping the file, or dying, unlocks it.
    pub(in crate::vfs) fn lock(&self, root: &Dir) -> io::Result<Option<File>> {
        self.call(Call::Look, || {
            // A description of its own: a copy of the handle would share the lock.
            let file = reopened(root)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(std::fs::TryLockError::WouldBlock) => Ok(None),
                Err(std::fs::TryLockError::Error(error)) => Err(error),
            }
        })
    }
}

fn of(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}

/// Opens a directory itself: a handle that only leads to it can be neither locked nor synced.
fn reopened(dir: &Dir) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(
        dir,
        ".",
        flags,
        Mode::empty(),
    )?))
}

/// Returns who this process is.
pub(in crate::vfs) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Tells whether an error says that there is nothing under the name.
pub(in crate::vfs) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
    )
}

fn mark(metadata: &cap_std::fs::Metadata) -> Mark {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => Some(FileKind::Regular),
        kind if kind.is_dir() => Some(FileKind::Directory),
        kind if kind.is_symlink() => Some(FileKind::Symlink),
        _ => None,
    };
    Mark {
        kind,
        dev: metadata.dev(),
        ino: metadata.ino(),
        mode: metadata.mode() & 0o7777,
        uid: metadata.uid(),
        gid: metadata.gid(),
        size: metadata.len(),
        mtime: timestamp(metadata.modified().map(cap_std::time::SystemTime::into_std)),
        ctime: Timestamp {
            secs: metadata.ctime(),
            nanos: u32::try_from(metadata.ctime_nsec()).unwrap_or(0),
        },
    }
}

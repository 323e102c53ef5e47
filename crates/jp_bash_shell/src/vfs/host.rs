//! A directory of the host, through a capability: every path is resolved beneath it, by cap-std.
//!
//! Our own walk resolves symlinks in the virtual tree, so none should be met here; if the host swaps one in
//! between, cap-std still refuses whatever leads outside. FIFOs, sockets and devices are never opened.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, SystemTimeSpec};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use jp_bash_system::{Errno, FileKind, SetTime, Timestamp};

use super::apply::AREA;

/// A directory that the embedder hands over for a mount.
#[derive(Debug, Clone)]
pub struct HostDir {
    dir: Arc<Dir>,
}

/// A name of a directory, its kind and its inode.
pub(super) type Listed = (Vec<u8>, FileKind, u64);

/// What the host says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: FileKind,
    pub(super) mode: u32,
    pub(super) nlink: u32,
    pub(super) ino: u64,
    pub(super) size: u64,
    pub(super) atime: Timestamp,
    pub(super) mtime: Timestamp,
    pub(super) ctime: Timestamp,
    pub(super) btime: Timestamp,
}

impl HostDir {
    /// Opens a directory of the host: the one place where ambient authority is used.
    ///
    /// # Errors
    /// The directory does not exist or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::from_dir(Dir::open_ambient_dir(
            path,
            ambient_authority(),
        )?))
    }

    /// Opens a directory below this one, which it must not leave, not even through symbolic links.
    ///
    /// # Errors
    /// The directory does not exist, leads outside or cannot be opened.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        Ok(Self::from_dir(self.dir.open_dir(path)?))
    }

    /// Takes a directory that is already open.
    pub fn from_dir(dir: Dir) -> Self {
        Self { dir: Arc::new(dir) }
    }

    /// The directory itself, for applying and recovering.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Looks at a file, not through a symlink. What is no file, directory or symlink is refused.
    pub(super) fn look(&self, path: &[u8]) -> Result<Seen, Errno> {
        if is_staging(path) {
            return Err(Errno::NoEnt);
        }
        let metadata = if path.is_empty() {
            self.dir.dir_metadata()
        } else {
            self.dir.symlink_metadata(host_path(path)?)
        };
        seen(&metadata.map_err(|error| errno(&error))?)
    }

    /// Lists the files, directories and symlinks of a directory; other kinds are left out.
    pub(super) fn list(&self, path: &[u8]) -> Result<Vec<Listed>, Errno> {
        let entries = if path.is_empty() {
            self.dir.entries()
        } else {
            let dir = self
                .dir
                .open_dir_nofollow(host_path(path)?)
                .map_err(|error| errno(&error))?;
            dir.entries()
        };
        let mut found = Vec::new();
        for entry in entries.map_err(|error| errno(&error))? {
            let entry = entry.map_err(|error| errno(&error))?;
            // A file that vanishes while we list is simply not listed.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let name = name_bytes(&entry.file_name());
            match seen(&metadata) {
                Ok(seen) if name != AREA => found.push((name, seen.kind, seen.ino)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns where a symlink points, whatever that is.
    pub(super) fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        self.dir
            .read_link_contents(host_path(path)?)
            .map(|target| name_bytes(target.as_os_str()))
            .map_err(|error| errno(&error))
    }

    /// Opens a regular file.
    pub(super) fn open_file(&self, path: &[u8], how: HostOpen) -> Result<HostFile, Errno> {
        let mut options = OpenOptions::new();
        options.read(how.read).follow(FollowSymlinks::No);
        options.write(how.write);
        if how.create {
            options.create_new(true);
        }
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            // A FIFO that was swapped in for the file must not make the session hang.
            #[cfg(target_os = "linux")]
            options.custom_flags(0o4000);
            options.mode(how.mode & !SET_ID);
        }
        let file = self
            .dir
            .open_with(host_path(path)?, &options)
            .map_err(|error| errno(&error))?;
        let metadata = file.metadata().map_err(|error| errno(&error))?;
        if !metadata.is_file() {
            return Err(if metadata.is_dir() {
                Errno::IsDir
            } else {
                Errno::Perm
            });
        }
        Ok(HostFile {
            file: file.into_std(),
        })
    }

    pub(super) fn mkdir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let path = host_path(path)?;
        refuse_set_id(mode, 0)?;
        self.dir.create_dir(path).map_err(|error| errno(&error))?;
        self.set_mode(path, mode)
    }

    pub(super) fn unlink(&self, path: &[u8]) -> Result<(), Errno> {
        self.dir
            .remove_file_or_symlink(host_path(path)?)
            .map_err(|error| errno(&error))
    }

    pub(super) fn rmdir(&self, path: &[u8]) -> Result<(), Errno> {
        self.dir
            .remove_dir(host_path(path)?)
            .map_err(|error| errno(&error))
    }

    pub(super) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        self.dir
            .rename(host_path(from)?, &self.dir, host_path(to)?)
            .map_err(|error| errno(&error))
    }

    pub(super) fn link(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        self.dir
            .hard_link(host_path(from)?, &self.dir, host_path(to)?)
            .map_err(|error| errno(&error))
    }

    /// Makes a symlink with any target: what it means is decided by our walk, never by the host.
    pub(super) fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        #[cfg(unix)]
        {
            self.dir
                .symlink_contents(plain_path(target)?, host_path(path)?)
                .map_err(|error| errno(&error))
        }
        #[cfg(not(unix))]
        {
            let _ = (target, path);
            Err(Errno::NotSup)
        }
    }

    pub(super) fn chmod(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        if mode & SET_ID != 0 {
            refuse_set_id(mode, self.look(path)?.mode)?;
        }
        self.set_mode(host_path(path)?, mode)
    }

    pub(super) fn set_times(
        &self,
        path: &[u8],
        access: SetTime,
        modify: SetTime,
    ) -> Result<(), Errno> {
        let spec = |time| match time {
            SetTime::Keep => None,
            SetTime::Now => Some(SystemTimeSpec::SymbolicNow),
            SetTime::At(time) => Some(SystemTimeSpec::Absolute(
                cap_std::time::SystemTime::from_std(system_time(time)),
            )),
        };
        self.dir
            .set_symlink_times(host_path(path)?, spec(access), spec(modify))
            .map_err(|error| errno(&error))
    }

    #[cfg(unix)]
    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), Errno> {
        use cap_std::fs::PermissionsExt;
        self.dir
            .set_permissions(path, cap_std::fs::Permissions::from_mode(mode))
            .map_err(|error| errno(&error))
    }

    #[cfg(not(unix))]
    fn set_mode(&self, _path: &Path, _mode: u32) -> Result<(), Errno> {
        Ok(())
    }
}

/// The bits that let a program run as somebody else.
const SET_ID: u32 = 0o6000;

/// Refuses to give a file of the host such a bit that it does not have: a script may change files, not
/// what others run them as.
fn refuse_set_id(mode: u32, before: u32) -> Result<(), Errno> {
    match mode & SET_ID & !before {
        0 => Ok(()),
        _ => Err(Errno::Perm),
    }
}

/// How a file of the host is opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostOpen {
    pub(super) read: bool,
    pub(super) write: bool,
    /// The file must be new.
    pub(super) create: bool,
    pub(super) mode: u32,
}

impl HostOpen {
    pub(super) const READ: Self = Self {
        read: true,
        write: false,
        create: false,
        mode: 0,
    };
}

/// An open regular file of the host.
#[derive(Debug)]
pub(super) struct HostFile {
    file: std::fs::File,
}

impl HostFile {
    pub(super) fn look(&self) -> Result<Seen, Errno> {
        let metadata = self.file.metadata().map_err(|error| errno(&error))?;
        seen(&Metadata::from_just_metadata(metadata))
    }

    pub(super) fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        self.at(offset)?.read(buf).map_err(|error| errno(&error))
    }

    pub(super) fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.at(offset)?
            .write_all(data)
            .map_err(|error| errno(&error))
    }

    pub(super) fn truncate(&mut self, size: u64) -> Result<(), Errno> {
        self.file.set_len(size).map_err(|error| errno(&error))
    }

    fn at(&mut self, offset: u64) -> Result<&mut std::fs::File, Errno> {
        self.file
            .seek(SeekFrom::Start(offset))
            .map_err(|error| errno(&error))?;
        Ok(&mut self.file)
    }
}

fn seen(metadata: &Metadata) -> Result<Seen, Errno> {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => FileKind::Regular,
        kind if kind.is_dir() => FileKind::Directory,
        kind if kind.is_symlink() => FileKind::Symlink,
        _ => return Err(Errno::Perm),
    };
    let mtime = timestamp(metadata.modified().map(cap_std::time::SystemTime::into_std));
    Ok(Seen {
        kind,
        mode: mode(metadata, kind),
        nlink: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
        ino: metadata.ino(),
        size: metadata.len(),
        atime: timestamp(metadata.accessed().map(cap_std::time::SystemTime::into_std)),
        mtime,
        ctime: ctime(metadata, mtime),
        btime: timestamp(metadata.created().map(cap_std::time::SystemTime::into_std)),
    })
}

#[cfg(unix)]
fn mode(metadata: &Metadata, _kind: FileKind) -> u32 {
    use cap_std::fs::PermissionsExt;
    metadata.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_metadata: &Metadata, kind: FileKind) -> u32 {
    if kind == FileKind::Regular {
        0o644
    } else {
        0o755
    }
}

#[cfg(unix)]
fn ctime(metadata: &Metadata, _mtime: Timestamp) -> Timestamp {
    Timestamp {
        secs: cap_std::fs::MetadataExt::ctime(metadata),
        nanos: u32::try_from(cap_std::fs::MetadataExt::ctime_nsec(metadata)).unwrap_or(0),
    }
}

#[cfg(not(unix))]
fn ctime(_metadata: &Metadata, mtime: Timestamp) -> Timestamp {
    mtime
}

pub(super) fn timestamp(time: io::Result<SystemTime>) -> Timestamp {
    let Ok(time) = time else {
        return Timestamp::default();
    };
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => Timestamp {
            secs: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            nanos: since.subsec_nanos(),
        },
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            match before.subsec_nanos() {
                0 => Timestamp {
                    secs: -whole,
                    nanos: 0,
                },
                nanos => Timestamp {
                    secs: -whole - 1,
                    nanos: 1_000_000_000 - nanos,
                },
            }
        }
    }
}

pub(super) fn system_time(time: Timestamp) -> SystemTime {
    let nanos = Duration::from_nanos(u64::from(time.nanos));
    let whole = Duration::from_secs(time.secs.unsigned_abs());
    let base = if time.secs >= 0 {
        UNIX_EPOCH.checked_add(whole)
    } else {
        UNIX_EPOCH.checked_sub(whole)
    };
    base.and_then(|base| base.checked_add(nanos))
        .unwrap_or(UNIX_EPOCH)
}

/// Tells whether a path leads into the staging area of an apply, which no script sees.
fn is_staging(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == AREA)
}

/// Turns a path into the host's; none leads into a staging area.
fn host_path(path: &[u8]) -> Result<&Path, Errno> {
    match is_staging(path) {
        true => Err(Errno::Perm),
        false => plain_path(path),
    }
}

#[cfg(unix)]
fn plain_path(path: &[u8]) -> Result<&Path, Errno> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
fn plain_path(path: &[u8]) -> Result<&Path, Errno> {
    std::str::from_utf8(path)
        .map(Path::new)
        .map_err(|_| Errno::Inval)
}

pub(super) fn name_bytes(name: &std::ffi::OsStr) -> Vec<u8> {
    name.as_encoded_bytes().to_vec()
}

/// Turns an error of the host into ours. What cap-std refuses as an escape is a plain "permission denied".
pub(crate) fn errno(error: &io::Error) -> Errno {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Errno::Pipe,
        io::ErrorKind::NotFound => Errno::NoEnt,
        io::ErrorKind::PermissionDenied if error.raw_os_error() == Some(1) => Errno::Perm,
        io::ErrorKind::PermissionDenied => Errno::Access,
        io::ErrorKind::AlreadyExists => Errno::Exist,
        io::ErrorKind::InvalidInput => Errno::Inval,
        io::ErrorKind::IsADirectory => Errno::IsDir,
        io::ErrorKind::NotADirectory => Errno::NotDir,
        io::ErrorKind::DirectoryNotEmpty => Errno::NotEmpty,
        io::ErrorKind::ReadOnlyFilesystem => Errno::RoFs,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Errno::NoSpc,
        io::ErrorKind::FileTooLarge => Errno::FBig,
        io::ErrorKind::CrossesDevices => Errno::XDev,
        io::ErrorKind::TooManyLinks => Errno::MLink,
        io::ErrorKind::InvalidFilename => Errno::NameTooLong,
        io::ErrorKind::ResourceBusy => Errno::Busy,
        io::ErrorKind::Unsupported => Errno::NotSup,
        _ => match error.raw_os_error() {
            Some(24) => Errno::MFile,
            Some(36) => Errno::NameTooLong,
            Some(40) => Errno::Loop,
            _ => Errno::Io,
        },
    }
}

//! Files that hold components: opened without blocking, read whole, and recognised again.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    time::{Duration, SystemTime},
};

use cap_fs_ext::OpenOptionsSyncExt;

use crate::{error::Error, prescan};

/// A file changed this recently may change again without its times showing it.
const RACY: Duration = Duration::from_millis(50);

/// Where a component lies.
pub(crate) enum Place<'a> {
    /// At a path the host chose.
    Path(&'a Path),
    /// Below a directory, which it must not leave: symbolic links included.
    Below {
        /// The directory.
        root: &'a File,
        /// The path in it.
        relative: &'a Path,
        /// The same as a whole path, for messages and as a name to remember it by.
        path: &'a Path,
    },
}

/// What makes a file the same file: anything else is read and hashed again.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A file that was read whole.
pub(crate) struct Read {
    pub(crate) bytes: Vec<u8>,
    /// By what the file can be recognised; `None` while it is too young for that.
    pub(crate) identity: Option<Identity>,
}

impl Place<'_> {
    pub(crate) const fn path(&self) -> &Path {
        match self {
            Self::Path(path) | Self::Below { path, .. } => path,
        }
    }

    /// Looks at the file without reading it.
    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let found = match self {
            Self::Path(path) => std::fs::metadata(path),
            Self::Below { .. } => self.open().and_then(|file| file.metadata()),
        };
        found
            .map(|found| Identity::of(&found))
            .map_err(|error| self.error(error))
    }

    /// Reads a file that nobody changes meanwhile.
    pub(crate) fn read(&self) -> Result<Read, Error> {
        let failed = |error| self.error(error);
        for _ in 0..3 {
            let mut file = self.open().map_err(failed)?;
            let before = file.metadata().map_err(failed)?;
            if !before.is_file() {
                return Err(failed(io::Error::other("not a regular file")));
            }
            prescan::check_size(before.len())?;
            let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or_default());
            file.by_ref()
                .take(prescan::MAX_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(failed)?;
            let after = file.metadata().map_err(failed)?;
            let identity = Identity::of(&after);
            if Identity::of(&before) == identity && bytes.len() as u64 == after.len() {
                return Ok(Read {
                    bytes,
                    identity: is_settled(&after).then_some(identity),
                });
            }
        }
        Err(failed(io::Error::other(
            "it keeps changing while being read",
        )))
    }

    /// Opens without blocking: a FIFO in place of the file must not hang the host.
    fn open(&self) -> io::Result<File> {
        match self {
            Self::Path(path) => {
                let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
                OpenOptions::new()
                    .read(true)
                    .custom_flags(nonblock)
                    .open(path)
            }
            Self::Below { root, relative, .. } => {
                let mut options = cap_primitives::fs::OpenOptions::new();
                options.read(true).nonblock(true);
                cap_primitives::fs::open(root, relative, &options)
            }
        }
    }

    fn error(&self, source: io::Error) -> Error {
        let path = self.path().to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Error::NotFound { path },
            // Not the system's own refusal but that of the walk: the path led outside.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
                Error::Outside { path }
            }
            _ => Error::Read { path, source },
        }
    }
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// Whether the next change of a file is sure to show in its times. Anyone may set the time of
/// modification back, nobody that of the last change.
fn is_settled(found: &Metadata) -> bool {
    let changed = u64::try_from(found.ctime())
        .ok()
        .zip(u32::try_from(found.ctime_nsec()).ok())
        .map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos));
    let is_old = |time: SystemTime| {
        SystemTime::now()
            .duration_since(time)
            .is_ok_and(|age| age > RACY)
    };
    changed.is_some_and(is_old) && found.modified().is_ok_and(is_old)
}

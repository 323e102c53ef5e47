//! Files that hold components: opened without blocking, read whole, and recognised again.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap_fs_ext::OpenOptionsSyncExt;

use crate::{
    error::Error,
    looks::{Identity, Looks},
    prescan,
};

/// A file changed this recently may change again without its times showing it.
const RACY: Duration = Duration::from_millis(50);

/// Where a component lies.
pub(crate) enum Place<'a> {
    /// At a path the host chose.
    Path(&'a Path),
    /// Below a directory, which it must not leave: symbolic links included.
    Below {
        /// Opens the directory, when the file is not one that is known already.
        root: &'a (dyn Fn() -> Result<Arc<File>, Error> + Sync),
        /// The path in it.
        relative: &'a Path,
        /// The same as a whole path, for messages and as a name to remember it by.
        path: &'a Path,
    },
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

    /// Looks at the file without opening it.
    ///
    /// This follows a link that leads outside, which is harmless: what is recognised as a file
    /// that was read before is that file, and everyone else is opened by [`Self::read`], which
    /// stays inside.
    pub(crate) fn identity(&self, looks: &Looks) -> Result<Identity, Error> {
        let found = looks.identity(self.path());
        found.map_err(|error| self.error(error.into()))
    }

    /// Reads a file that nobody changes meanwhile.
    pub(crate) fn read(&self) -> Result<Read, Error> {
        let failed = |error| self.error(error);
        let root = match self {
            Self::Path(_) => None,
            Self::Below { root, .. } => Some(root()?),
        };
        for _ in 0..3 {
            let mut file = self.open(root.as_deref()).map_err(failed)?;
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
            let identity = identity_of(&after);
            if identity_of(&before) == identity && bytes.len() as u64 == after.len() {
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
    fn open(&self, root: Option<&File>) -> io::Result<File> {
        match (self, root) {
            (Self::Below { relative, .. }, Some(root)) => {
                let mut options = cap_primitives::fs::OpenOptions::new();
                options.read(true).nonblock(true);
                cap_primitives::fs::open(root, relative, &options)
            }
            _ => {
                let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
                OpenOptions::new()
                    .read(true)
                    .custom_flags(nonblock)
                    .open(self.path())
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

fn identity_of(found: &Metadata) -> Identity {
    Identity {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
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

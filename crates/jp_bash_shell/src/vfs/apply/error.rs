//! Why changes were not applied, in words that a terminal can show whatever the names are.

use jp_bash_system::{Errno, Stop, SysError};

use super::recover::RecoverError;

/// The most names in one message.
const MAX_NAMES: usize = 10;

/// Why changes were not applied. Unless it is [`ApplyError::Unfinished`], the host is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The host changed since the script saw it.
    #[error("changed on the host since the script saw it: {}", names(paths))]
    Conflict {
        /// The paths that changed, appeared or vanished.
        paths: Vec<Vec<u8>>,
    },
    /// Some changes cannot be made on the host.
    #[error("{}", refusals(refused))]
    Refused {
        /// The paths with the reasons.
        refused: Vec<Refusal>,
    },
    /// The file system has too little space.
    #[error("not enough space: {needed} bytes are needed, {free} are free")]
    Space {
        /// How many bytes the changes take.
        needed: u64,
        /// How many there are.
        free: u64,
    },
    /// Another run is applying changes to the same directory.
    #[error("another apply is at work in the same directory")]
    Busy,
    /// A system call failed; whatever had been changed was put back.
    #[error("{errno} ({})", names(std::slice::from_ref(path)))]
    Failed {
        /// Where.
        path: Vec<u8>,
        /// Why.
        errno: Errno,
    },
    /// A system call failed, and so did putting back what had been changed. The next recovery does it.
    #[error(
        "{errno} ({}), and undoing failed: {undo}; the next jp command in this directory undoes it",
        names(std::slice::from_ref(path))
    )]
    Unfinished {
        /// Where.
        path: Vec<u8>,
        /// Why.
        errno: Errno,
        /// Why it was not undone.
        undo: RecoverError,
    },
    /// An earlier apply was interrupted here and cannot be undone.
    #[error("an earlier apply was interrupted and cannot be undone: {0}")]
    Unrecovered(#[from] RecoverError),
    /// There is no overlay there, or it could not be read.
    #[error("{0}")]
    Overlay(Errno),
    /// The run ended first.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// One path that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The path, relative to the mounted directory.
    pub path: Vec<u8>,
    /// Why not.
    pub reason: &'static str,
}

impl From<SysError> for ApplyError {
    fn from(error: SysError) -> Self {
        match error {
            SysError::Errno(errno) => Self::Overlay(errno),
            SysError::Stop(stop) => Self::Stop(stop),
        }
    }
}

impl From<Errno> for ApplyError {
    fn from(errno: Errno) -> Self {
        Self::Overlay(errno)
    }
}

fn refusals(refused: &[Refusal]) -> String {
    let shown = refused
        .iter()
        .take(MAX_NAMES)
        .map(|one| format!("{} {}", name(&one.path), one.reason));
    and_more(shown, refused.len())
}

/// Lists names, not too many, each so that it is one word on one line.
pub(super) fn names(paths: &[Vec<u8>]) -> String {
    let shown = paths.iter().take(MAX_NAMES).map(|path| name(path));
    and_more(shown, paths.len())
}

fn and_more(shown: impl Iterator<Item = String>, count: usize) -> String {
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if count > MAX_NAMES {
        text.push_str(&format!(" and {} more", count - MAX_NAMES));
    }
    text
}

/// Escapes what would break a line or is not text; the mounted directory itself is `.`.
fn name(path: &[u8]) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let mut out = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

//! Why a lock file was refused or not written, and what to do about it.

use std::{io, path::PathBuf};

use super::MAX_LOCK;

/// Why a lock file was refused or not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// The file cannot be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Two branches changed it and somebody has to choose.
    #[error(
        "`jp.lock` has a merge conflict in line {line}: keep one side, then run `jp tool lock`"
    )]
    Conflict {
        /// Where it begins.
        line: usize,
    },
    /// A newer jp wrote it.
    #[error("`jp.lock` has version {found}; this jp knows versions up to 2: use a newer jp")]
    Version {
        /// What it says.
        found: i64,
    },
    /// It has entries that its version does not have: no jp wrote it so.
    #[error("`jp.lock` says `version = 1`, and has `[[custom]]`, which came with version 2")]
    OlderThanItsEntries,
    /// It is not a lock file.
    #[error("`jp.lock` cannot be read: {reason}")]
    Malformed {
        /// What is wrong, and where.
        reason: String,
    },
    /// One name stands for two things.
    #[error("`jp.lock` names `{name}` twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// It would be larger than what is read again.
    #[error("`jp.lock` would have {size} bytes, more than the {MAX_LOCK} that are read")]
    TooLarge {
        /// How large it would be.
        size: usize,
    },
}

impl LockError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Conflict { .. } => {
                "keep one side, and what it lacks is added: `git checkout --ours jp.lock && jp tool lock`"
            }
            Self::Malformed { .. } | Self::Duplicate { .. } => {
                "take the last one that was right: `git checkout HEAD jp.lock`; without one, begin anew: \
                 `mv jp.lock jp.lock.old && jp tool lock`"
            }
            Self::OlderThanItsEntries => {
                "take the last one that was right: `git checkout HEAD jp.lock`; without one, write \
                 `version = 2` there, and look at what `jp tool lock` says"
            }
            Self::Version { .. } => "see `jp --version`, and use the jp that wrote it",
            Self::TooLarge { .. } => "remove tools that are not needed: `jp tool remove NAME`",
            Self::Io { path, .. } => {
                let path = path.display();
                return Some(format!("see who may read it: `ls -ld {path}`"));
            }
        };
        Some(text.to_owned())
    }
}

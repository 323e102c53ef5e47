//! Why something about secrets cannot be done. Never holds a value.

use std::{fmt, io, path::PathBuf};

use super::KeyringError;
use crate::CallError;

/// Why something about secrets cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The text is not the name of a secret.
    #[error("invalid name of a secret: expected 1 to 64 characters of a-z, 0-9, `_` and `-`")]
    Name,
    /// The text is not an audience.
    #[error(
        "invalid audience `{}`: expected `https://host`, `https://host:port` or `https://host/path`",
        jp_text::inline(text)
    )]
    Audience {
        /// What was written.
        text: String,
    },
    /// The value cannot be kept.
    #[error("invalid value: {problem}")]
    Value {
        /// What is wrong with it, without showing it.
        problem: &'static str,
    },
    /// More than the store takes.
    #[error("the store is full: {limit}")]
    Full {
        /// What it holds at most.
        limit: &'static str,
    },
    /// Others could read or change the file.
    #[error("{} {problem}", path.display())]
    Exposed {
        /// The file or directory.
        path: PathBuf,
        /// Why it is not trusted, and what to do.
        problem: &'static str,
    },
    /// There are sealed secrets, and no key to open them with.
    #[error(
        "the key {} is missing, and without it {} cannot be read; put the key back from a backup, or move that file away and set the secrets again with `jp secret set NAME --for URL`",
        path.display(),
        sealed.display()
    )]
    KeyMissing {
        /// The sealed file.
        sealed: PathBuf,
        /// Where the key is expected.
        path: PathBuf,
    },
    /// The key lies in the keyring, which cannot be asked for it.
    #[error(
        "cannot read the key of the secrets from the keyring: {problem}; {}; `jp secret move-key --to file`, run where the keyring can be read, moves the key to a file",
        problem.way_out()
    )]
    KeyUnreachable {
        /// Why not.
        problem: KeyringError,
    },
    /// The key should lie in the keyring, and does not.
    #[error(
        "the key of the secrets should be in the keyring (`jp-key` {id}) and is not there, and without it {} cannot be read; put it back from a backup of the keyring, or move that file and {} away and set the secrets again with `jp secret set NAME --for URL`",
        sealed.display(),
        path.display()
    )]
    KeyNotInKeyring {
        /// The sealed file.
        sealed: PathBuf,
        /// The file that says where the key is.
        path: PathBuf,
        /// Under which id it is expected.
        id: String,
    },
    /// The key cannot be moved to the keyring, and stays in its file.
    #[error("the key stays in its file: {problem}; {}", problem.way_out())]
    KeyStays {
        /// Why the keyring does not take it.
        problem: KeyringError,
    },
    /// The sealed file and the key do not belong together.
    #[error(
        "{} and {key} do not belong together: one of them is damaged, or another's; put both back from a backup, or move both {} and {} away and set the secrets again with `jp secret set NAME --for URL`",
        sealed.display(),
        sealed.display(),
        path.display()
    )]
    Tampered {
        /// The sealed file.
        sealed: PathBuf,
        /// The file of the key, or the one that says where it is.
        path: PathBuf,
        /// Where the key lies.
        key: KeyLies,
    },
    /// Something else lies in the place of a file.
    #[error("{} is {kind}, not a file; {}", path.display(), way_out(kind))]
    NotAFile {
        /// Where.
        path: PathBuf,
        /// What it is, such as `a FIFO`.
        kind: &'static str,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

/// Where a key lies, as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyLies {
    /// In a file.
    File(PathBuf),
    /// In the keyring, under an id.
    Keyring(String),
}

impl fmt::Display for KeyLies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "the key {}", path.display()),
            Self::Keyring(id) => write!(f, "the key in the keyring (`jp-key` {id})"),
        }
    }
}

/// Says what to do about something that lies in the place of a file.
fn way_out(kind: &str) -> &'static str {
    match kind {
        super::private::LINK => "it is not followed: put the file itself there",
        _ => "see who put it there, move it away, and put the file back from a backup",
    }
}

/// Makes the error for a guest, which must not learn about files of this machine.
impl From<SecretError> for CallError {
    fn from(_: SecretError) -> Self {
        Self::unconfigured("the secret store cannot be read; `jp secret list` says why")
    }
}

//! Why a signing key could not be made, read or kept.

use std::{io, path::PathBuf};

/// Why a signing key could not be made, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The system gave no randomness.
    #[error("cannot make a key: the system provides no random numbers")]
    Random,
    /// The file could not be used.
    #[error("cannot {action} the key file {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is a file already.
    #[error("cannot write the key file {}: it exists already, and a key is never overwritten", path.display())]
    Exists {
        /// Which file.
        path: PathBuf,
    },
    /// The file holds the half that everybody may have.
    #[error("{} holds a public key, which checks signatures; signing takes the secret one", path.display())]
    PublicHalf {
        /// Which file.
        path: PathBuf,
    },
    /// Others can get at the file.
    #[error("the key file {} {problem}", path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file holds something else.
    #[error("the key file {} is damaged: {source}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: KeyTextError,
    },
}

/// Why a text is not that of a key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// It does not say that it is one.
    #[error("expected `jp-signing-key-v1` in its first line")]
    Header,
    /// There is no public key.
    #[error("expected the public key in its second line")]
    Public,
    /// There is no secret key.
    #[error("expected the secret key in its third line")]
    Secret,
    /// There is a longer or a shorter one.
    #[error("the secret key has the wrong length")]
    Length,
    /// The halves are of two keys.
    #[error("its secret and its public key do not belong together")]
    Halves,
}

impl KeyError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if let Self::PublicHalf { path } = self {
            // How `jp registry keygen FILE.key > FILE.pub` names the two.
            let secret = path.with_extension("key");
            let secret = secret.display();
            return Some(format!(
                "give the file that `jp registry keygen` wrote, such as `{secret}`, not what it printed"
            ));
        }
        let text = match self {
            Self::Exists { .. } => "choose another name, or move the old key away",
            Self::Exposed { .. } => {
                "make it a file of your own with `chmod 600`; if others may have read it, make a new key and rotate to it"
            }
            Self::Damaged { .. } => "restore it from a backup, or make a new key",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

//! Whom the user trusts: the keys of publishers, bound to names of tools, and of registries.
//!
//! A publisher's key speaks for the names it is bound to and no other. Keys come in by the user's
//! word, or by a statement of the key before them; a key that was revoked never comes back. Where
//! the file lies is somebody else's to know.

mod file;
mod pattern;
mod rotation;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, io, path::PathBuf};

use serde::{Deserialize, Serialize};

use file::{DamagedError, MAX_BYTES};
pub use pattern::NamePattern;
pub(crate) use pattern::PatternError;
pub(crate) use rotation::{Rotated, RotationError};
pub use rotation::{Rotation, Rotations, SignedRotation};

use crate::{
    ToolId,
    key::{KeyId, PublicKey},
};

/// Why the trust file could not be used, or a key not be trusted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrustError {
    /// The file could not be read or written.
    #[error("cannot {action} the trust file {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others can change the file, or it is not one.
    #[error("the trust file {} {problem}", path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file is not what jp writes.
    #[error("the trust file {} is damaged: {source}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<DamagedError>,
    },
    /// The file would become too large.
    #[error("the trust file would have more than {MAX_BYTES} bytes")]
    Full,
    /// A key is bound to no name.
    #[error("the key {key} is trusted for no name")]
    NoNames {
        /// Which key.
        key: KeyId,
    },
    /// A key would be trusted for all names without the user's word.
    #[error("the key {key} would be trusted for every tool there is")]
    AllNames {
        /// Which key.
        key: KeyId,
    },
    /// A revoked key stays revoked.
    #[error("the key {key} was revoked: {reason}")]
    Revoked {
        /// Which key.
        key: KeyId,
        /// Why.
        reason: String,
    },
    /// The key gave its names to another.
    #[error("the key {key} was replaced by {to}")]
    RotatedAway {
        /// Which key.
        key: KeyId,
        /// Which one has its names.
        to: KeyId,
    },
    /// An invalid name of a registry.
    #[error(
        "invalid registry name `{}`: expected words of a-z and 0-9, joined by `-` or `.`",
        jp_text::inline(name)
    )]
    RegistryName {
        /// The name, or its beginning.
        name: String,
    },
}

impl TrustError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exposed { path, .. } => format!(
                "look through it, then `chmod 600 {0}`; or remove it and trust your keys anew",
                path.display()
            ),
            Self::Damaged { path, .. } => format!(
                "restore {} from a backup, or remove it and trust your keys anew",
                path.display()
            ),
            Self::Full => "forget keys that are not needed".to_owned(),
            Self::NoNames { .. } => "name its tools, such as `ocr` or `pdf.*`".to_owned(),
            Self::AllNames { .. } => {
                "name its tools, such as `ocr` or `pdf.*`, or say explicitly that you mean all"
                    .to_owned()
            }
            Self::RotatedAway { to, .. } => format!("trust its successor {to}"),
            Self::Revoked { .. } => "ask the publisher for its new key".to_owned(),
            Self::Io { .. } | Self::RegistryName { .. } => return None,
        })
    }
}

/// Whether a key may be trusted for every name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllNames {
    /// `*` is refused.
    Refused,
    /// The user said that `*` is meant.
    Allowed,
}

/// A publisher's key and what it speaks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publisher {
    /// The key.
    pub key: PublicKey,
    /// What it speaks for.
    pub names: Vec<NamePattern>,
    /// The user said that `*` is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    all_names: bool,
    /// The number of the statement that brought the key in; 0 when the user did.
    #[serde(default)]
    number: u64,
}

/// A registry's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedRegistry {
    /// Signs its index, its revocations and its validations.
    pub key: PublicKey,
    /// It validates every tool it offers: one without its countersignature is refused.
    #[serde(default)]
    pub validates: bool,
}

/// What became of a key that is trusted no more. It stays here, so that no old statement can bring
/// the key back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", deny_unknown_fields)]
enum Tombstone {
    /// Gave its names to another key.
    Rotated {
        to: KeyId,
        number: u64,
        /// What it was, for what was installed before.
        was: Publisher,
    },
    /// Revoked; for good.
    Revoked { reason: String },
}

/// How a key stands to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It speaks for the name.
    Trusted(PublicKey),
    /// It did, and gave its names to another: good for what is installed already, not for anything
    /// new.
    RotatedAway {
        /// The key itself.
        key: PublicKey,
        /// Which one has its names now.
        to: KeyId,
    },
    /// It is trusted, but for other names.
    OtherNames {
        /// The key itself.
        key: PublicKey,
        /// What it speaks for.
        names: Vec<NamePattern>,
    },
    /// It was revoked.
    Revoked {
        /// Why.
        reason: String,
    },
    /// It is unknown.
    Unknown,
}

/// The keys the user trusts, as in the trust file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRoots {
    #[serde(default)]
    publishers: BTreeMap<KeyId, Publisher>,
    #[serde(default)]
    registries: BTreeMap<String, TrustedRegistry>,
    #[serde(default)]
    retired: BTreeMap<KeyId, Tombstone>,
    /// The number of the last list of revocations of each registry. Kept here, beside what makes the
    /// registry count at all: if the lists are lost, it is still known that there were some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    revocations: BTreeMap<String, u64>,
}

impl Publisher {
    fn speaks_for(&self, name: &ToolId) -> bool {
        self.names.iter().any(|pattern| pattern.matches(name))
    }
}

impl TrustRoots {
    /// Says how a key stands to a name.
    #[must_use]
    pub(crate) fn standing(&self, key: &KeyId, name: &ToolId) -> Standing {
        if let Some(Tombstone::Revoked { reason }) = self.retired.get(key) {
            let reason = reason.clone();
            return Standing::Revoked { reason };
        }
        if let Some(publisher) = self.publishers.get(key) {
            let key = publisher.key.clone();
            let names = || publisher.names.clone();
            return match publisher.speaks_for(name) {
                true => Standing::Trusted(key),
                false => Standing::OtherNames {
                    key,
                    names: names(),
                },
            };
        }
        match self.retired.get(key) {
            Some(Tombstone::Rotated { to, was, .. }) if was.speaks_for(name) => {
                Standing::RotatedAway {
                    key: was.key.clone(),
                    to: *to,
                }
            }
            Some(Tombstone::Rotated { was, .. }) => Standing::OtherNames {
                key: was.key.clone(),
                names: was.names.clone(),
            },
            _ => Standing::Unknown,
        }
    }

    /// Returns a registry's key.
    #[must_use]
    pub fn registry(&self, name: &str) -> Option<&TrustedRegistry> {
        let known = self.registries.get(name);
        known.filter(|registry| self.revoked(&registry.key.id()).is_none())
    }

    /// Returns the publishers' keys, by id.
    pub fn publishers(&self) -> impl Iterator<Item = (&KeyId, &Publisher)> {
        self.publishers.iter()
    }

    /// Returns the registries' keys, by name.
    pub fn registries(&self) -> impl Iterator<Item = (&str, &TrustedRegistry)> {
        self.registries
            .iter()
            .map(|(name, key)| (name.as_str(), key))
    }

    /// Says why a key was revoked by the user, if it was.
    #[must_use]
    pub(crate) fn revoked(&self, key: &KeyId) -> Option<&str> {
        match self.retired.get(key) {
            Some(Tombstone::Revoked { reason }) => Some(reason),
            _ => None,
        }
    }
}

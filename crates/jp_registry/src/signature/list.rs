//! Numbered lists that a registry signs: its index and its revocations.
//!
//! A list is taken only when the registry's key signed it as this kind of list, and never in place
//! of a newer one.

mod dated;
mod error;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

pub(crate) use dated::Dated;
pub(crate) use error::ListError;

use super::{Domain, Role, Signatures};
use crate::{Digest, document, revocation::Revocations, trust::TrustRoots};

/// A list may be dated as far ahead of our clock.
pub(crate) const CLOCK_SKEW: u64 = 24 * 60 * 60;

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// What a registry offers.
    Index,
    /// What it takes back.
    Revocations,
}

/// A list and its signatures, as they lie in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedList {
    /// `index.json` or `revocations.json`.
    pub document: Vec<u8>,
    /// The file `.sig` beside it.
    pub signatures: Vec<u8>,
}

/// Who is asked whether a list is good: the registry it must be by, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'a> {
    /// The name of the registry the list must be by.
    pub registry: &'a str,
    /// Whom the user trusts.
    pub roots: &'a TrustRoots,
    /// In seconds since 1970.
    pub now: u64,
}

impl fmt::Display for ListKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Index => "index",
            Self::Revocations => "list of revocations",
        })
    }
}

/// A list that was seen: its number, and which one it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl ListKind {
    pub(crate) const fn domain(self) -> Domain {
        match self {
            Self::Index => Domain::Index,
            Self::Revocations => Domain::Revocations,
        }
    }

    /// Reads a list that the registry signed; whether it is the newest is another question.
    pub(crate) fn open<T: DeserializeOwned>(
        self,
        signed: &SignedList,
        max: usize,
        judge: &Judge<'_>,
        revoked: &Revocations,
    ) -> Result<(T, Digest), ListError> {
        let (list, registry) = (self, judge.registry.to_owned());
        let value = match document::parse(&signed.document, max) {
            Ok(value) => value,
            Err(source) => {
                return Err(ListError::Document {
                    list,
                    registry,
                    source: source.into(),
                });
            }
        };
        self.check_signature(&value, &signed.signatures, judge, revoked)?;
        let digest = match document::digest(&value) {
            Ok(digest) => digest,
            Err(source) => {
                return Err(ListError::Document {
                    list,
                    registry,
                    source: source.into(),
                });
            }
        };
        let content = serde_json::from_value(value).map_err(|error| self.shape(judge, &error))?;
        Ok((content, digest))
    }

    pub(crate) fn shape(self, judge: &Judge<'_>, reason: &impl fmt::Display) -> ListError {
        ListError::Shape {
            list: self,
            registry: judge.registry.to_owned(),
            reason: jp_text::mask(&reason.to_string(), 300),
        }
    }

    fn check_signature(
        self,
        value: &Value,
        signatures: &[u8],
        judge: &Judge<'_>,
        revoked: &Revocations,
    ) -> Result<(), ListError> {
        let (list, registry) = (self, judge.registry.to_owned());
        let Some(trusted) = judge.roots.registry(judge.registry) else {
            return Err(ListError::UnknownRegistry { registry });
        };
        let key = trusted.key.id();
        if let Some(found) = revoked.key(&key) {
            let reason = found.reason().to_owned();
            return Err(ListError::KeyRevoked {
                registry,
                key,
                reason,
            });
        }
        let signatures = match Signatures::read(signatures) {
            Ok(signatures) => signatures,
            Err(source) => {
                return Err(ListError::Signatures {
                    list,
                    registry,
                    source,
                });
            }
        };
        let mut by = signatures.by(Role::Registry).filter(|s| s.key == key);
        let Some(signature) = by.next() else {
            return Err(ListError::Unsigned {
                list,
                registry,
                key,
            });
        };
        if signature.is_by(&trusted.key, self.domain(), value) {
            return Ok(());
        }
        Err(ListError::BadSignature {
            list,
            registry,
            key,
        })
    }

    /// Refuses a list in place of a newer one, another one of the same number, or one of tomorrow.
    pub(crate) fn check_fresh(
        self,
        new: Seen,
        issued_at: u64,
        last: Option<Seen>,
        judge: &Judge<'_>,
    ) -> Result<(), ListError> {
        let (list, registry) = (self, judge.registry.to_owned());
        let ahead = issued_at.saturating_sub(judge.now);
        if ahead > CLOCK_SKEW {
            return Err(ListError::Future {
                list,
                registry,
                ahead,
            });
        }
        let Some(last) = last else { return Ok(()) };
        let number = new.number;
        if number < last.number {
            let seen = last.number;
            return Err(ListError::Rollback {
                list,
                registry,
                number,
                seen,
            });
        }
        if number == last.number && new.digest != last.digest {
            return Err(ListError::Conflict {
                list,
                registry,
                number,
            });
        }
        Ok(())
    }
}

//! Statements by which a key gives its names to another.

mod error;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use error::RotationError;

use super::{NamePattern, Publisher, Tombstone, TrustError, TrustRoots};
use crate::{
    FormatError, document,
    format::Kind,
    key::{KeyId, PublicKey},
    revocation::Revocations,
    signature::{Domain, SignatureBytes},
};

/// A larger list of statements is refused.
const MAX_BYTES: usize = 1024 * 1024;
/// More names in a statement are refused.
const MAX_NAMES: usize = 256;

/// Says that a key gives its names to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The key that gives its names away, and is done with.
    pub old: KeyId,
    /// The key that gets them.
    pub new: PublicKey,
    /// Which names; of those, the new key gets what the user trusted the old one for.
    pub names: Vec<NamePattern>,
    /// Above that of the statement that brought the old key in.
    pub number: u64,
}

/// A statement and the old key's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedRotation {
    /// What it says; whether it is true is for `TrustRoots::rotate` to find out.
    pub statement: Rotation,
    /// By the old key.
    pub value: SignatureBytes,
}

/// The statements a registry passes on: `rotations.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotations {
    /// Of a list that was read, in the order of their numbers.
    pub rotations: Vec<SignedRotation>,
}

/// What a statement changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rotated {
    /// The names moved.
    Moved {
        /// From this key.
        old: KeyId,
        /// To this one.
        new: KeyId,
        /// These.
        names: Vec<NamePattern>,
    },
    /// They had moved already.
    Already,
}

fn to_value(statement: &Rotation) -> Value {
    serde_json::to_value(statement).unwrap_or(Value::Null)
}

impl Rotations {
    /// Reads a list of statements.
    ///
    /// # Errors
    ///
    /// When it is too large, no JSON, or says anything else.
    pub fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        let shape = |reason: String| Kind::Rotations { reason };
        let value = document::parse(bytes, MAX_BYTES).map_err(|error| shape(error.to_string()))?;
        let mut list: Self =
            serde_json::from_value(value).map_err(|error| shape(document::said(&error)))?;
        // A chain comes in its order, in whatever order it was passed on.
        list.rotations.sort_by_key(|signed| signed.statement.number);
        let wide = |s: &SignedRotation| s.statement.names.len() > MAX_NAMES;
        match list.rotations.iter().find(|signed| wide(signed)) {
            Some(signed) => {
                let old = signed.statement.old;
                let reason = format!("the statement of {old} names too many tools");
                Err(shape(reason).into())
            }
            None => Ok(list),
        }
    }
}

impl TrustRoots {
    /// Moves names from a key to its successor, when the old key says so and nobody revoked it. The
    /// old key is done with, for all its names.
    ///
    /// # Errors
    ///
    /// When the statement is not by the old key, is stale, or one of the keys is not what it must be.
    pub(crate) fn rotate(
        &mut self,
        signed: &SignedRotation,
        revoked: &Revocations,
    ) -> Result<Rotated, RotationError> {
        let Rotation {
            old, new, number, ..
        } = &signed.statement;
        let to = new.id();
        if let Some(Tombstone::Rotated {
            to: known,
            number: at,
            was,
        }) = self.retired.get(old)
            && (*known, *at) == (to, *number)
            && signed.is_by(&was.key)
        {
            return Ok(Rotated::Already);
        }
        for key in [old, &to] {
            self.refuse_retired(key)?;
            if let Some(found) = revoked.key(key) {
                let reason = found.reason().to_owned();
                return Err(TrustError::Revoked { key: *key, reason }.into());
            }
        }
        let unknown = RotationError::Unknown { old: *old };
        let was = self.publishers.get(old).ok_or(unknown)?;
        if !signed.is_by(&was.key) {
            return Err(RotationError::BadSignature { old: *old, new: to });
        }
        if to == *old {
            return Err(RotationError::Itself { old: *old });
        }
        if *number <= was.number {
            return Err(RotationError::Stale {
                old: *old,
                number: *number,
                seen: was.number,
            });
        }
        let (was, before) = (was.clone(), self.clone());
        let moved = self.move_names(&was, signed)?;
        // Publishers must not fill the file: the user has to be able to revoke them.
        let size = self.to_bytes().map_or(usize::MAX, |bytes| bytes.len());
        if size > super::MAX_BYTES / 2 {
            *self = before;
            return Err(TrustError::Full.into());
        }
        Ok(moved)
    }

    fn move_names(
        &mut self,
        was: &Publisher,
        signed: &SignedRotation,
    ) -> Result<Rotated, RotationError> {
        let Rotation {
            new, names, number, ..
        } = &signed.statement;
        let (old, to) = (was.key.id(), new.id());
        let moved = was
            .names
            .iter()
            .flat_map(|mine| names.iter().filter_map(|theirs| mine.meet(theirs)));
        let moved: BTreeSet<NamePattern> = moved.collect();
        if moved.is_empty() {
            return Err(RotationError::NoNames { old });
        }
        let fresh = Publisher {
            key: new.clone(),
            names: Vec::new(),
            all_names: false,
            // Of a key that is trusted already it stays: somebody else's statement must not make its
            // own ones stale.
            number: *number,
        };
        let heir = self.publishers.entry(to).or_insert(fresh);
        // What the user gave the new key before stays; what comes is at most what the old one had.
        let mut all: BTreeSet<NamePattern> = heir.names.drain(..).collect();
        all.extend(moved.iter().cloned());
        heir.names = all.into_iter().collect();
        heir.all_names |= moved.contains(&NamePattern::All) && was.all_names;
        self.publishers.remove(&old);
        let tombstone = Tombstone::Rotated {
            to,
            number: *number,
            was: was.clone(),
        };
        self.retired.insert(old, tombstone);
        Ok(Rotated::Moved {
            old,
            new: to,
            names: moved.into_iter().collect(),
        })
    }
}

impl SignedRotation {
    fn is_by(&self, key: &PublicKey) -> bool {
        let statement = to_value(&self.statement);
        self.value.is_by(key, Domain::Rotation, &statement)
    }
}

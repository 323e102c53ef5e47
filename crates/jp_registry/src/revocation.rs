//! What registries took back: artifacts, keys and versions of tools.
//!
//! A revocation that was seen once refuses for ever, whether or not a later list still has it; a
//! list that cannot be reached takes nothing away and adds nothing. That a list was seen is written
//! beside the registry's key, so that losing the lists is noticed and not taken for "nothing revoked".

mod cache;
mod entry;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Bound};

use semver::Version;
use serde::{Deserialize, Serialize};

pub use entry::{Revocation, RevokedThing};

use crate::{
    Digest, ToolId,
    key::KeyId,
    signature::{Dated, Judge, ListError, ListKind, Seen, SignedList},
    trust::TrustRoots,
};

/// A larger list is refused.
const MAX_LIST: usize = 4 * 1024 * 1024;

/// The list that a registry signs: `revocations.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevocationList {
    /// One more than that of the list before.
    pub number: u64,
    /// In seconds since 1970.
    pub issued_at: u64,
    /// Until when there will be a newer one; users who get this one later are warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// What is taken back.
    pub revoked: Vec<Revocation>,
}

/// All revocations that were seen, of all registries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revocations {
    registries: BTreeMap<String, Known>,
}

/// What is known of one registry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    seen: Seen,
    dated: Dated,
    /// By [`RevokedThing::text`], so that each is there once.
    revoked: BTreeMap<String, Revocation>,
}

/// A revocation that was found, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    registry: &'a str,
    revocation: &'a Revocation,
}

impl<'a> Found<'a> {
    /// Returns which registry revoked it.
    #[must_use]
    pub(crate) const fn registry(&self) -> &'a str {
        self.registry
    }

    /// Returns why.
    #[must_use]
    pub(crate) fn reason(&self) -> &'a str {
        &self.revocation.reason
    }
}

impl Revocations {
    /// Takes a newer list of a registry. Everything that was known stays known.
    ///
    /// # Errors
    ///
    /// When the registry's key did not sign it, or it is not newer than what was seen.
    pub(crate) fn accept(
        &mut self,
        signed: &SignedList,
        judge: &Judge<'_>,
    ) -> Result<(), ListError> {
        let kind = ListKind::Revocations;
        let (list, digest): (RevocationList, _) = kind.open(signed, MAX_LIST, judge, self)?;
        let number = list.number;
        let seen = Seen { number, digest };
        let known = self.registries.get(judge.registry);
        kind.check_fresh(seen, list.issued_at, known.map(|known| known.seen), judge)?;
        if let Some(seen) = judge.roots.revocations_seen(judge.registry)
            && number < seen
        {
            let registry = judge.registry.to_owned();
            return Err(ListError::Rollback {
                list: kind,
                registry,
                number,
                seen,
            });
        }
        let fresh = list.revoked.into_iter().map(|r| (r.thing.text(), r));
        let entry = self.registries.entry(judge.registry.to_owned());
        let dated = Dated {
            issued_at: list.issued_at,
            expires_at: list.expires_at,
        };
        let known = entry.or_insert_with(|| Known {
            seen,
            dated,
            revoked: BTreeMap::new(),
        });
        known.seen = seen;
        known.dated = dated;
        known.revoked.extend(fresh);
        Ok(())
    }

    /// Finds an artifact that was taken back.
    #[must_use]
    pub(crate) fn artifact(&self, sha256: &Digest) -> Option<Found<'_>> {
        self.find(&RevokedThing::Artifact(*sha256).text())
    }

    /// Finds a key that was taken back.
    #[must_use]
    pub(crate) fn key(&self, key: &KeyId) -> Option<Found<'_>> {
        self.find(&RevokedThing::Key(*key).text())
    }

    /// Finds a version of a tool that was taken back.
    #[must_use]
    pub(crate) fn version(&self, id: &ToolId, version: &Version) -> Option<Found<'_>> {
        let prefix = entry::versions_of(id);
        self.registries.iter().find_map(|(registry, known)| {
            let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
            known
                .revoked
                .range::<str, _>(from)
                .take_while(|(text, _)| text.starts_with(&prefix))
                .map(|(_, revocation)| revocation)
                .find(|revocation| revocation.thing.is_version(id, version))
                .map(|revocation| Found {
                    registry,
                    revocation,
                })
        })
    }

    /// Returns the number and date of the list of a registry that was seen last.
    #[must_use]
    pub(crate) fn last(&self, registry: &str) -> Option<(u64, u64)> {
        let known = self.registries.get(registry)?;
        Some((known.seen.number, known.dated.issued_at))
    }

    /// Returns when that list was made and until when it holds.
    #[must_use]
    pub(crate) fn dated(&self, registry: &str) -> Option<Dated> {
        self.registries.get(registry).map(|known| known.dated)
    }

    /// Finds a trusted registry of which a later list was seen than is known here: the file was lost,
    /// or an old copy put in its place. Returns its name and the number of that list.
    #[must_use]
    pub(crate) fn lost<'a>(&self, roots: &'a TrustRoots) -> Option<(&'a str, u64)> {
        self.all_lost(roots).next()
    }

    /// Finds all that [`Revocations::lost`] finds one of.
    pub(crate) fn all_lost<'a>(
        &self,
        roots: &'a TrustRoots,
    ) -> impl Iterator<Item = (&'a str, u64)> {
        let seen = roots.registries().filter_map(|(name, _)| {
            roots.registry(name)?;
            Some((name, roots.revocations_seen(name)?))
        });
        seen.filter(|(name, seen)| self.last(name).is_none_or(|(last, _)| last < *seen))
    }

    fn find(&self, text: &str) -> Option<Found<'_>> {
        self.registries.iter().find_map(|(registry, known)| {
            let revocation = known.revoked.get(text)?;
            Some(Found {
                registry,
                revocation,
            })
        })
    }
}

//! The trust file: read with suspicion, and changed as it is now, under a lock.

use std::path::Path;

use serde_json::Value;

use super::{AllNames, NamePattern, Publisher, Tombstone, TrustError, TrustRoots, TrustedRegistry};
use crate::{
    InstallError, ToolId,
    disk::{
        self, Disk,
        private::{self, Others, ReadError},
    },
    document::{self, DocumentError},
    key::{KeyId, PublicKey},
};

/// A larger trust file is refused.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// Why bytes are not those of a trust file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DamagedError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("{reason}")]
    Shape { reason: String },
    #[error("the key under {id} has a different id")]
    OtherKey { id: KeyId },
    #[error("the retired key under {id} has a different id")]
    OtherRetiredKey { id: KeyId },
    #[error("the key {id} is both trusted and retired")]
    Both { id: KeyId },
    #[error(transparent)]
    Publisher(TrustError),
}

/// As many characters of a reason are kept.
const MAX_REASON: usize = 500;

impl TrustRoots {
    /// Reads the trust file; none means that nobody is trusted.
    ///
    /// # Errors
    ///
    /// When the file is there and cannot be read, is damaged, or could have been changed by others.
    pub fn load(path: &Path) -> Result<Self, InstallError> {
        Ok(Self::from_file(path)?)
    }

    fn from_file(path: &Path) -> Result<Self, TrustError> {
        let owned = || path.to_owned();
        let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        let bytes = private::read(path, most, Others::Read).map_err(|error| match error {
            ReadError::Io(source) => TrustError::Io {
                action: "read",
                path: owned(),
                source,
            },
            ReadError::Unsafe(exposure) => TrustError::Exposed {
                path: owned(),
                problem: exposure.words(),
            },
        })?;
        let Some(bytes) = bytes else {
            return Ok(Self::default());
        };
        Self::from_bytes(&bytes).map_err(|source| TrustError::Damaged {
            path: owned(),
            source: Box::new(source),
        })
    }

    /// Changes the file as it is now, not as it was when it was read: what another process took back
    /// meanwhile stays taken back. Nothing is written when `change` fails.
    ///
    /// # Errors
    ///
    /// What `change` says, or what kept the file from being read or written.
    pub fn change<T, E: From<InstallError>>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        Self::change_on(&Disk::real(), path, change)
    }

    /// Does what [`TrustRoots::change`] does, on the disk it is handed.
    ///
    /// # Errors
    ///
    /// As [`TrustRoots::change`].
    pub(crate) fn change_on<T, E: From<InstallError>>(
        disk: &Disk,
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let failed = |action| {
            move |source| {
                InstallError::from(TrustError::Io {
                    action,
                    path: path.to_owned(),
                    source,
                })
            }
        };
        let _lock = disk.lock_beside(path).map_err(failed("lock"))?;
        let mut roots = Self::load(path)?;
        let before = roots.clone();
        let changed = change(&mut roots)?;
        if roots != before {
            let bytes = roots.to_bytes().map_err(InstallError::from)?;
            let written = disk.replace(path, &bytes, disk::PRIVATE);
            written.map_err(failed("write"))?;
        }
        Ok((roots, changed))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, DamagedError> {
        let value = document::parse(bytes, MAX_BYTES)?;
        let roots: Self = serde_json::from_value(value).map_err(|error| DamagedError::Shape {
            reason: document::said(&error),
        })?;
        for (id, publisher) in &roots.publishers {
            if publisher.key.id() != *id {
                return Err(DamagedError::OtherKey { id: *id });
            }
            check(publisher).map_err(DamagedError::Publisher)?;
            if roots.retired.contains_key(id) {
                return Err(DamagedError::Both { id: *id });
            }
        }
        for (id, tombstone) in &roots.retired {
            if let Tombstone::Rotated { was, .. } = tombstone
                && was.key.id() != *id
            {
                return Err(DamagedError::OtherRetiredKey { id: *id });
            }
        }
        Ok(roots)
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, TrustError> {
        let value = serde_json::to_value(self).unwrap_or(Value::Null);
        let mut bytes = serde_json::to_vec_pretty(&value).unwrap_or_default();
        bytes.push(b'\n');
        if bytes.len() > MAX_BYTES {
            return Err(TrustError::Full);
        }
        Ok(bytes)
    }

    /// Trusts a publisher's key for names, beside those it is trusted for already.
    ///
    /// # Errors
    ///
    /// When no name is given, `*` was not allowed, or the key was revoked or replaced.
    pub fn trust(
        &mut self,
        key: &PublicKey,
        names: &[NamePattern],
        all: AllNames,
    ) -> Result<&Publisher, InstallError> {
        let id = key.id();
        self.refuse_retired(&id)?;
        let mut publisher = self.publishers.get(&id).cloned().unwrap_or(Publisher {
            key: key.clone(),
            names: Vec::new(),
            all_names: false,
            number: 0,
        });
        publisher.all_names |= all == AllNames::Allowed && names.contains(&NamePattern::All);
        publisher.names.extend_from_slice(names);
        publisher.names.sort();
        publisher.names.dedup();
        check(&publisher)?;
        let entry = self.publishers.entry(id);
        Ok(entry.insert_entry(publisher).into_mut())
    }

    /// Trusts a registry's key under a name, in place of the one known under it.
    ///
    /// # Errors
    ///
    /// When the name is invalid, or the key was revoked or replaced.
    pub fn trust_registry(
        &mut self,
        name: &str,
        registry: TrustedRegistry,
    ) -> Result<(), InstallError> {
        // The same words as a tool's: a name becomes that of a file.
        let parsed: Result<ToolId, _> = name.parse();
        if parsed.is_err() {
            let name = jp_text::shorten(name, 80).into_owned();
            return Err(TrustError::RegistryName { name }.into());
        }
        self.refuse_retired(&registry.key.id())?;
        self.registries.insert(name.to_owned(), registry);
        Ok(())
    }

    /// Forgets a publisher's key; returns whether it was trusted. The user may trust it again.
    pub fn forget(&mut self, key: &KeyId) -> bool {
        self.publishers.remove(key).is_some()
    }

    /// Returns the number of the last list of revocations of a registry that was seen.
    #[must_use]
    pub(crate) fn revocations_seen(&self, registry: &str) -> Option<u64> {
        self.revocations.get(registry).copied()
    }

    /// Remembers that a list of revocations of a registry was seen; the number never falls.
    pub(crate) fn saw_revocations(&mut self, registry: &str, number: u64) {
        let seen = self.revocations.entry(registry.to_owned()).or_default();
        *seen = number.max(*seen);
    }

    /// Revokes a key for good; returns whether it was trusted.
    pub fn revoke(&mut self, key: &KeyId, reason: &str) -> bool {
        let reason = jp_text::mask(reason, MAX_REASON);
        self.retired.insert(*key, Tombstone::Revoked { reason });
        self.publishers.remove(key).is_some()
    }

    pub(super) fn refuse_retired(&self, key: &KeyId) -> Result<(), TrustError> {
        match self.retired.get(key) {
            None => Ok(()),
            Some(Tombstone::Revoked { reason }) => Err(TrustError::Revoked {
                key: *key,
                reason: reason.clone(),
            }),
            Some(Tombstone::Rotated { to, .. }) => {
                Err(TrustError::RotatedAway { key: *key, to: *to })
            }
        }
    }
}

/// Checks what a key is bound to.
fn check(publisher: &Publisher) -> Result<(), TrustError> {
    let key = publisher.key.id();
    if publisher.names.is_empty() {
        return Err(TrustError::NoNames { key });
    }
    if publisher.names.contains(&NamePattern::All) && !publisher.all_names {
        return Err(TrustError::AllNames { key });
    }
    Ok(())
}

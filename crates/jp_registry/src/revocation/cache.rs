//! What was seen, kept in a file of the user.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Known, Revocation, Revocations};
use crate::{
    disk::private::{self, Others, ReadError},
    disk::{self, Disk},
    document,
    signature::{Dated, Judge, ListError, ListKind, Seen, SignedList},
};

/// A larger file is refused, and none is written.
const MAX_FILE: usize = 32 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    registries: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    seen: Seen,
    issued_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    revoked: Vec<Revocation>,
}

impl Revocations {
    /// Reads what was seen; no file means nothing.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is damaged, or could have been changed by others.
    pub(crate) fn load(path: &Path) -> Result<Self, ListError> {
        let damaged = |problem: String| ListError::Damaged {
            path: path.to_owned(),
            problem,
        };
        let most = u64::try_from(MAX_FILE).unwrap_or(u64::MAX);
        let bytes = private::read(path, most, Others::Read).map_err(|error| match error {
            ReadError::Io(source) => io_error("read", path, source),
            ReadError::Unsafe(exposure) => damaged(exposure.words().to_owned()),
        })?;
        let Some(bytes) = bytes else {
            return Ok(Self::default());
        };
        let value = document::parse(&bytes, MAX_FILE);
        let value = value.map_err(|error| damaged(format!("is damaged: {error}")))?;
        let file: File = serde_json::from_value(value)
            .map_err(|error| damaged(format!("is damaged: {}", document::said(&error))))?;
        let registries = file.registries.into_iter().map(|(name, entry)| {
            let revoked = entry.revoked.into_iter().map(|r| (r.thing.text(), r));
            let known = Known {
                seen: entry.seen,
                dated: Dated {
                    issued_at: entry.issued_at,
                    expires_at: entry.expires_at,
                },
                revoked: revoked.collect(),
            };
            (name, known)
        });
        let registries = registries.collect();
        Ok(Self { registries })
    }

    /// Takes a newer list of a registry into the file, as the file is now.
    ///
    /// # Errors
    ///
    /// Those of [`Revocations::accept`], or what kept the file from being read or written; then it
    /// stays as it was.
    pub(crate) fn update(
        disk: &Disk,
        path: &Path,
        signed: &SignedList,
        judge: &Judge<'_>,
    ) -> Result<Self, ListError> {
        let lock = disk.lock_beside(path);
        let _lock = lock.map_err(|source| io_error("lock", path, source))?;
        let mut all = Self::load(path)?;
        let before = all.clone();
        all.accept(signed, judge)?;
        if all != before {
            let bytes = all.to_bytes().ok_or_else(|| ListError::Full {
                list: ListKind::Revocations,
                registry: judge.registry.to_owned(),
                max: MAX_FILE,
            })?;
            disk.replace(path, &bytes, disk::PRIVATE)
                .map_err(|source| io_error("write", path, source))?;
        }
        Ok(all)
    }

    fn to_bytes(&self) -> Option<Vec<u8>> {
        let registries = self.registries.iter().map(|(name, known)| {
            let entry = Entry {
                seen: known.seen,
                issued_at: known.dated.issued_at,
                expires_at: known.dated.expires_at,
                revoked: known.revoked.values().cloned().collect(),
            };
            (name.clone(), entry)
        });
        let registries = registries.collect();
        let bytes = serde_json::to_vec(&File { registries }).ok()?;
        (bytes.len() <= MAX_FILE).then_some(bytes)
    }
}

fn io_error(action: &'static str, path: &Path, source: std::io::Error) -> ListError {
    ListError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

//! The index seen last, kept in a file of the user: against a rollback, and for work offline.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Index, MAX_INDEX};
use crate::{
    Digest,
    disk::private::{self, Others, ReadError},
    disk::{self, Disk},
    document,
    revocation::Revocations,
    signature::{Judge, ListError, ListKind, Seen, SignedList},
};

/// A larger file is refused: both texts with everything in them escaped.
const MAX_FILE: usize = 2 * MAX_INDEX + 256 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Of the index, so that it is known even when its key is not trusted any more.
    number: u64,
    digest: Digest,
    document: String,
    signatures: String,
}

impl Index {
    /// Verifies an index and keeps it in place of the one seen before.
    ///
    /// # Errors
    ///
    /// When the registry's key did not sign it, it is older than the one seen before or another one
    /// of the same number, or the file cannot be used. The file then stays as it was.
    pub(crate) fn update(
        disk: &Disk,
        path: &Path,
        signed: &SignedList,
        judge: &Judge<'_>,
        revoked: &Revocations,
    ) -> Result<Self, ListError> {
        let index = Self::open(signed, judge, revoked)?;
        let lock = disk.lock_beside(path);
        let _lock = lock.map_err(|source| io_error("lock", path, source))?;
        let last = load(path)?.map(|file| Seen {
            number: file.number,
            digest: file.digest,
        });
        ListKind::Index.check_fresh(index.seen, index.issued_at(), last, judge)?;
        if last == Some(index.seen) {
            return Ok(index);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let file = File {
            number: index.seen.number,
            digest: index.seen.digest,
            document: text(&signed.document),
            signatures: text(&signed.signatures),
        };
        let bytes = serde_json::to_vec(&file).map_err(|e| damaged(path, &e.to_string()))?;
        if bytes.len() > MAX_FILE {
            return Err(ListError::Full {
                list: ListKind::Index,
                registry: judge.registry.to_owned(),
                max: MAX_FILE,
            });
        }
        disk.replace(path, &bytes, disk::PRIVATE)
            .map_err(|source| io_error("write", path, source))?;
        Ok(index)
    }

    /// Returns the index seen last, verified anew: its key may be trusted no more.
    ///
    /// # Errors
    ///
    /// As for [`Index::open`], or when the file cannot be used.
    pub(crate) fn cached(
        path: &Path,
        judge: &Judge<'_>,
        revoked: &Revocations,
    ) -> Result<Option<Self>, ListError> {
        let Some(file) = load(path)? else {
            return Ok(None);
        };
        let signed = SignedList {
            document: file.document.into_bytes(),
            signatures: file.signatures.into_bytes(),
        };
        Self::open(&signed, judge, revoked).map(Some)
    }
}

fn load(path: &Path) -> Result<Option<File>, ListError> {
    let most = u64::try_from(MAX_FILE).unwrap_or(u64::MAX);
    let bytes = private::read(path, most, Others::Read).map_err(|error| match error {
        ReadError::Io(source) => io_error("read", path, source),
        ReadError::Unsafe(exposure) => damaged(path, exposure.words()),
    })?;
    let Some(bytes) = bytes else { return Ok(None) };
    let value = document::parse(&bytes, MAX_FILE).map_err(|e| e.to_string());
    let file =
        value.and_then(|value| serde_json::from_value(value).map_err(|e| document::said(&e)));
    file.map(Some)
        .map_err(|reason| damaged(path, &format!("is damaged: {reason}")))
}

fn damaged(path: &Path, problem: &str) -> ListError {
    ListError::Damaged {
        path: path.to_owned(),
        problem: problem.to_owned(),
    }
}

fn io_error(action: &'static str, path: &Path, source: std::io::Error) -> ListError {
    ListError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

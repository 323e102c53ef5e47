//! The log's key and what it keys: the chain, the head and the hash of arguments. Does not know
//! where records come from.

use std::{
    fmt,
    io::Read,
    path::{Path, PathBuf},
};

use jp_disk::{Disk, PRIVATE};

use crate::{AuditError, files, json};

/// Identifies the arguments of a call without telling them: a keyed hash of their bytes.
///
/// Equal arguments have equal hashes within one log. Without the log's key, not even arguments as
/// short as `{"n":1}` can be found by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArgumentsHash(pub(crate) [u8; 32]);

impl fmt::Display for ArgumentsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(64);
        json::hex(&mut text, &self.0);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// Three keys derived from the one in the file, so that no text signed for one use fits another.
pub(crate) struct Keys {
    chain: [u8; 32],
    head: [u8; 32],
    arguments: [u8; 32],
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(hidden)")
    }
}

impl Keys {
    fn derive(secret: &[u8; 32]) -> Self {
        Self {
            chain: blake3::derive_key("jp_audit v1 chain of records", secret),
            head: blake3::derive_key("jp_audit v1 head of the log", secret),
            arguments: blake3::derive_key("jp_audit v1 arguments of a call", secret),
        }
    }

    /// Makes keys from fresh randomness; the second value goes to [`Keys::save`].
    pub(crate) fn generate() -> Result<(Self, [u8; 32]), AuditError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| AuditError::NoRandomness {
            reason: error.to_string(),
        })?;
        Ok((Self::derive(&secret), secret))
    }

    /// Reads the key file; `None` when it is not there.
    pub(crate) fn load(dir: &Path) -> Result<Option<Self>, AuditError> {
        let path = path(dir);
        let Some(file) = files::open_existing(&path)? else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(33);
        // One byte more than a key has is enough to see that it is not one.
        file.take(33)
            .read_to_end(&mut bytes)
            .map_err(|error| AuditError::io("read", &path, error))?;
        let secret: &[u8; 32] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| AuditError::KeyDamaged { file: path })?;
        Ok(Some(Self::derive(secret)))
    }

    /// Puts a key in place in one step, so that nobody ever reads half a key. The caller holds the
    /// lock under which keys are made.
    pub(crate) fn save(dir: &Path, secret: &[u8; 32]) -> Result<(), AuditError> {
        let path = path(dir);
        Disk::real()
            .replace(&path, secret, PRIVATE)
            .map_err(|error| AuditError::io("write", &path, error))
    }

    /// Signs the bytes of a record; they begin with the MAC of the record before.
    pub(crate) fn chain(&self, bytes: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.chain, bytes)
    }

    /// Signs the head.
    pub(crate) fn head(&self, bytes: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.head, bytes)
    }

    /// Hashes arguments.
    pub(crate) fn arguments(&self, bytes: &[u8]) -> ArgumentsHash {
        ArgumentsHash(*blake3::keyed_hash(&self.arguments, bytes).as_bytes())
    }
}

/// Names the key file.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("key")
}

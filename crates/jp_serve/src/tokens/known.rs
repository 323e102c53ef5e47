//! The tokens as a running server knows them: read again when the file has changed.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex, PoisonError},
};

use jp_disk::Sha256;
use jp_policy::Policy;
use jp_store::Millis;

use super::{Tokens, digest};
use crate::Token;

/// What changes when the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
    mode: u32,
}

/// The tokens of a file.
pub(crate) struct Known {
    tokens: Tokens,
    read: Mutex<(Option<Stamp>, Arc<Snapshot>)>,
}

/// The tokens as the file had them.
#[derive(Default)]
pub(crate) struct Snapshot {
    /// Whose each is, and when it ends.
    by_hash: HashMap<Sha256, (Arc<str>, Option<Millis>)>,
    policies: HashMap<Arc<str>, Arc<Policy>>,
}

impl Known {
    pub(crate) fn new(tokens: Tokens) -> Self {
        Self {
            tokens,
            read: Mutex::default(),
        }
    }

    /// Returns the tokens as they are now. A file that cannot be used has none: nobody is let in by what
    /// somebody else could have written.
    pub(crate) fn now(&self) -> Arc<Snapshot> {
        let stamp = self.stamp();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.0 != stamp {
            *read = (stamp, Arc::new(self.read()));
        }
        Arc::clone(&read.1)
    }

    fn stamp(&self) -> Option<Stamp> {
        let found = fs::symlink_metadata(&self.tokens.path).ok()?;
        Some(Stamp {
            inode: found.ino(),
            size: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
            mode: found.mode(),
        })
    }

    fn read(&self) -> Snapshot {
        let mut read = Snapshot::default();
        let Ok(book) = self.tokens.read() else {
            return read;
        };
        for (name, entry) in book.principals {
            let name: Arc<str> = name.into();
            let policy = entry.policy.map(|policy| policy.to_policy());
            match policy.transpose() {
                Ok(policy) => {
                    let policy = policy.map(|policy| (Arc::clone(&name), Arc::new(policy)));
                    read.policies.extend(policy);
                }
                Err(_) => continue,
            }
            let tokens = entry.tokens.iter().filter_map(|kept| {
                let whose = (Arc::clone(&name), kept.ends);
                Some((digest(kept)?, whose))
            });
            read.by_hash.extend(tokens);
        }
        read
    }
}

impl Snapshot {
    /// Returns whose token it is, if it is one that has not ended.
    pub(crate) fn holder(&self, token: &Token, now: Millis) -> Option<&Arc<str>> {
        let (name, ends) = self.by_hash.get(token.digest())?;
        ends.is_none_or(|ends| ends > now).then_some(name)
    }

    /// Returns what was said of a principal when it got its token.
    pub(crate) fn policy(&self, name: &str) -> Option<&Arc<Policy>> {
        self.policies.get(name)
    }
}

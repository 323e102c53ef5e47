//! Writing a registry: static files that anything can serve.
//!
//! Whoever runs a registry holds its key. What is there is checked against that key before it is
//! changed and signed again, so that a stranger's change to the files is never signed. All documents
//! of one change appear at once, see `commit`; what a crash leaves is the old registry or the new
//! one, for readers of this crate, and the next change puts the files right for all others.

mod change;
mod commit;
mod error;
mod submit;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    disk::Disk,
    index::IndexContent,
    key::SigningKey,
    revocation::{RevocationList, Revocations},
    signature::{Judge, ListKind, SignedList},
    source::{self, About, DirSource, Source as _, layout},
    trust::{TrustRoots, TrustedRegistry},
};

use commit::Change;
pub use error::PublishError;
pub use submit::{Published, Submission};

/// A registry in a directory, and the key that it signs with.
pub struct Registry<'a> {
    dir: PathBuf,
    about: About,
    key: &'a SigningKey,
    now: u64,
    disk: Disk,
    /// Held while this value lives: two people that publish do so one after the other.
    _lock: File,
}

impl<'a> Registry<'a> {
    /// Makes a new registry in a directory that has none.
    ///
    /// # Errors
    /// [`PublishError::Exists`], or if a file cannot be written.
    pub fn init(
        dir: &Path,
        name: &str,
        key: &'a SigningKey,
        now: u64,
    ) -> Result<Self, PublishError> {
        let disk = Disk::real();
        let lock = lock(dir, &disk)?;
        commit::recover(dir, &disk)?;
        if dir.join(layout::ABOUT).exists() {
            return Err(PublishError::Exists {
                dir: dir.to_owned(),
            });
        }
        let registry = Self {
            dir: dir.to_owned(),
            about: About {
                schema: source::SCHEMA.to_owned(),
                name: name.to_owned(),
                key: key.public().to_string(),
            },
            key,
            now,
            disk,
            _lock: lock,
        };
        registry.roots()?;
        let about = json!({"schema": source::SCHEMA, "name": name, "key": registry.about.key});
        let mut change = Change::default();
        change.add(layout::ABOUT, pretty(&about));
        registry.sign_index(&mut change, IndexContent::default())?;
        let none = RevocationList {
            number: 0,
            issued_at: now,
            expires_at: None,
            revoked: Vec::new(),
        };
        registry.sign_revocations(&mut change, none)?;
        registry.commit(change)?;
        Ok(registry)
    }

    /// Opens a registry to change it, and finishes what a crash interrupted.
    ///
    /// # Errors
    /// If there is none, if it has another key, or if it is in use for more than a moment.
    pub fn open(dir: &Path, key: &'a SigningKey, now: u64) -> Result<Self, PublishError> {
        Self::open_on(dir, key, now, Disk::real())
    }

    /// Opens a registry on a disk that may stop working, for tests of crashes.
    ///
    /// # Errors
    /// As [`Registry::open`].
    pub fn open_on(
        dir: &Path,
        key: &'a SigningKey,
        now: u64,
        disk: Disk,
    ) -> Result<Self, PublishError> {
        if !dir.is_dir() {
            return Err(PublishError::NoRegistry {
                dir: dir.to_owned(),
            });
        }
        let lock = lock(dir, &disk)?;
        commit::recover(dir, &disk)?;
        let about = DirSource::new(dir).about()?;
        if about.key != key.public().to_string() {
            return Err(PublishError::OtherKey {
                dir: dir.to_owned(),
                key: about.key,
            });
        }
        Ok(Self {
            dir: dir.to_owned(),
            about,
            key,
            now,
            disk,
            _lock: lock,
        })
    }

    /// Returns what the registry says of itself.
    #[must_use]
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// Reads the index, which must be signed by this very key.
    pub(crate) fn index(&self) -> Result<IndexContent, PublishError> {
        let fetched = DirSource::new(&self.dir).index()?;
        self.own(ListKind::Index, fetched)
    }

    fn own<T: serde::de::DeserializeOwned>(
        &self,
        kind: ListKind,
        fetched: Option<source::Fetched>,
    ) -> Result<T, PublishError> {
        let roots = self.roots()?;
        let judge = Judge {
            registry: &self.about.name,
            roots: &roots,
            now: self.now,
        };
        let fetched = fetched.ok_or_else(|| PublishError::NoRegistry {
            dir: self.dir.clone(),
        })?;
        let signed = SignedList::from(fetched);
        let max = usize::try_from(source::MAX_INDEX).unwrap_or(usize::MAX);
        Ok(kind
            .open::<T>(&signed, max, &judge, &Revocations::default())?
            .0)
    }

    fn roots(&self) -> Result<TrustRoots, PublishError> {
        let mut roots = TrustRoots::default();
        let key = self.key.public().clone();
        let validates = false;
        roots.trust_registry(&self.about.name, TrustedRegistry { key, validates })?;
        Ok(roots)
    }
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn lock(dir: &Path, disk: &Disk) -> Result<File, PublishError> {
    let path = dir.join(".lock");
    let failed = |source| PublishError::Io {
        action: format!("lock {}", path.display()),
        source,
    };
    fs::create_dir_all(dir).map_err(failed)?;
    disk.lock(&path).map_err(failed)
}

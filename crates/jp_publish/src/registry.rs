//! Writing a registry: static files that anything can serve.
//!
//! The operator of a registry holds its key. What is there is checked against that key before it is
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

use jp_disk::Disk;
use jp_registry::{
    About, Domain, Fetched, IndexContent, Place, RevocationList, Role, SCHEMA, Signatures,
    Source as _, StaticSource, ToolId, parse_document,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{SigningKey, sign::pretty};
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
        // The same words as a tool's: a name becomes that of a file.
        if name.parse::<ToolId>().is_err() {
            return Err(PublishError::Name {
                name: jp_text::shorten(name, 80).into_owned(),
            });
        }
        let disk = Disk::real();
        let lock = lock(dir, &disk)?;
        commit::recover(dir, &disk)?;
        if dir.join(Place::About.path()?).exists() {
            return Err(PublishError::Exists {
                dir: dir.to_owned(),
            });
        }
        let registry = Self {
            dir: dir.to_owned(),
            about: About {
                schema: SCHEMA.to_owned(),
                name: name.to_owned(),
                key: key.public().to_string(),
            },
            key,
            now,
            disk,
            _lock: lock,
        };
        let about = json!({"schema": SCHEMA, "name": name, "key": registry.about.key});
        let mut change = Change::default();
        change.add(&Place::About.path()?, pretty(&about));
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
        let about = StaticSource::in_dir(dir).about()?;
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
    fn index(&self) -> Result<IndexContent, PublishError> {
        let fetched = StaticSource::in_dir(&self.dir).index()?;
        self.own(Domain::Index, fetched)
    }

    /// Reads the revocations, which must be signed by this very key.
    fn revocations(&self) -> Result<RevocationList, PublishError> {
        let fetched = StaticSource::in_dir(&self.dir).revocations()?;
        self.own(Domain::Revocations, fetched)
    }

    fn own<T: DeserializeOwned>(
        &self,
        domain: Domain,
        fetched: Option<Fetched>,
    ) -> Result<T, PublishError> {
        let fetched = fetched.ok_or_else(|| PublishError::NoRegistry {
            dir: self.dir.clone(),
        })?;
        let public = self.key.public();
        let not_own = || PublishError::NotOwn {
            from: fetched.from.clone(),
            key: public.id(),
        };
        let value = parse_document(&fetched.bytes, fetched.bytes.len())?;
        let signatures = Signatures::read(&fetched.signatures)?;
        let signed = signatures
            .by(Role::Registry)
            .any(|signature| signature.is_by(public, domain, &value));
        match signed {
            true => serde_json::from_value(value).map_err(|_| not_own()),
            false => Err(not_own()),
        }
    }
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

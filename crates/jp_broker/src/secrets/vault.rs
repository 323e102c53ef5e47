//! Where secrets are kept: a file sealed with a key that lies elsewhere, in a file or a keyring.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use zeroize::Zeroizing;

use super::{
    KeyPlace, Keyring, Moved, Secret, SecretError, SecretName,
    key::Key,
    private::{self, Present},
    seal,
};

/// The largest file that may be one of ours.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Keeps secrets.
pub trait Vault: Send + Sync {
    /// Returns all secrets, and the same allocation as long as nothing changed.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or not be trusted.
    fn load(&self) -> Result<Arc<Vec<Secret>>, SecretError>;

    /// Replaces the secrets by what `change` makes of them, while no other process changes them.
    ///
    /// # Errors
    ///
    /// What `change` says, or when they cannot be read or written; nothing is changed then.
    fn change(
        &self,
        change: &mut dyn FnMut(&mut Vec<Secret>) -> Result<(), SecretError>,
    ) -> Result<(), SecretError>;
}

/// Where a [`FileVault`] keeps its files; both directories are for their owner only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultPaths {
    /// The sealed secrets.
    pub secrets: PathBuf,
    /// The key, or where it lies; in another directory, so that a copy of the one holds nothing.
    pub key: PathBuf,
}

/// Keeps secrets in a file sealed with ChaCha20-Poly1305.
#[derive(Debug)]
pub struct FileVault {
    paths: VaultPaths,
    key: Key,
    last: Mutex<Option<Loaded>>,
}

/// What was read last, and the sealed bytes it was read from.
#[derive(Debug)]
struct Loaded {
    sealed: Zeroizing<Vec<u8>>,
    secrets: Arc<Vec<Secret>>,
}

impl FileVault {
    /// Makes a vault at these paths. Nothing is made or read before it is needed.
    ///
    /// # Errors
    ///
    /// [`SecretError::Exposed`] when both lie in one directory.
    pub fn new(paths: VaultPaths) -> Result<Self, SecretError> {
        if paths.secrets.parent() == paths.key.parent() {
            return Err(SecretError::Exposed {
                path: paths.key,
                problem: "lies beside the secrets it opens",
            });
        }
        Ok(Self {
            key: Key::new(paths.clone()),
            paths,
            last: Mutex::default(),
        })
    }

    /// Lets the key lie in a keyring: a new one if the keyring takes it, another if it was moved there.
    /// Without one, keys lie in files.
    #[must_use]
    pub fn with_keyring(mut self, keyring: Arc<dyn Keyring>) -> Self {
        self.key.set_keyring(keyring);
        self
    }

    /// Tells where the key lies; `None` when none was made yet. The keyring is not asked.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or not be trusted.
    pub fn key_place(&self) -> Result<Option<KeyPlace>, SecretError> {
        self.key.place()
    }

    /// Moves the key. It is gone from the old place only once it was read at the new one.
    ///
    /// # Errors
    ///
    /// When the key cannot be read or does not open the secrets, or the new place does not take it;
    /// it lies where it lay then.
    pub fn move_key(&self, to: KeyPlace) -> Result<Moved, SecretError> {
        if self.key.place()?.is_none() && !self.paths.secrets.exists() {
            return Ok(Moved::NoKey);
        }
        let _lock = private::lock(&self.paths.secrets)?;
        self.sweep();
        let key = self.key.read()?.ok_or_else(|| self.key.missing())?;
        if let Some(sealed) = private::read(&self.paths.secrets, MAX_FILE)? {
            self.unseal(&sealed, &key)?;
        }
        self.key.move_to(to, &key)
    }

    /// Removes what a process left behind that was killed while it wrote: it may hold a key. No other
    /// process writes while the lock is held.
    fn sweep(&self) {
        private::sweep(&self.paths.secrets);
        private::sweep(&self.paths.key);
    }

    fn unseal(&self, sealed: &[u8], key: &[u8]) -> Result<Vec<Secret>, SecretError> {
        seal::unseal(sealed, key).map_err(|_| self.key.tampered())
    }

    fn read(&self) -> Result<Arc<Vec<Secret>>, SecretError> {
        let Some(sealed) = private::read(&self.paths.secrets, MAX_FILE)? else {
            return Ok(Arc::default());
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.sealed == sealed) {
            return Ok(Arc::clone(&last.secrets));
        }
        let key = self.key.read()?.ok_or_else(|| self.key.missing())?;
        let secrets = Arc::new(self.unseal(&sealed, &key)?);
        *last = Some(Loaded {
            sealed,
            secrets: Arc::clone(&secrets),
        });
        Ok(secrets)
    }
}

impl Vault for FileVault {
    fn load(&self) -> Result<Arc<Vec<Secret>>, SecretError> {
        self.read()
    }

    fn change(
        &self,
        change: &mut dyn FnMut(&mut Vec<Secret>) -> Result<(), SecretError>,
    ) -> Result<(), SecretError> {
        let _lock = private::lock(&self.paths.secrets)?;
        self.sweep();
        let mut secrets = self.read()?.as_ref().clone();
        change(&mut secrets)?;
        secrets.sort_by(|a, b| a.name.cmp(&b.name));
        let sealed = seal::seal(&secrets, &self.key.read_or_make()?)?;
        private::write(&self.paths.secrets, &sealed, Present::Replace)?;
        Ok(())
    }
}

/// Finds a secret by its name.
pub(super) fn find<'a>(secrets: &'a [Secret], name: &SecretName) -> Option<&'a Secret> {
    secrets.iter().find(|secret| secret.name == *name)
}

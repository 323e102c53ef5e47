//! Where secrets are kept: a file sealed with a key that lies elsewhere.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use zeroize::Zeroizing;

use super::{
    Secret, SecretError, SecretName,
    private::{self, Present},
    seal,
};

/// Larger sealed files are none of ours.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Keeps secrets. The system's keyring could be one more.
pub trait Vault: Send + Sync {
    /// Returns all secrets, and the same allocation as long as nothing changed.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or not be trusted.
    fn load(&self) -> Result<Arc<Vec<Secret>>, SecretError>;

    /// Replaces the secrets by what `change` makes of them, with nobody else changing them meanwhile.
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
    /// The key; in another directory, so that a copy of the one holds nothing.
    pub key: PathBuf,
}

/// Keeps secrets in a file sealed with ChaCha20-Poly1305.
#[derive(Debug)]
pub struct FileVault {
    paths: VaultPaths,
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
            paths,
            last: Mutex::default(),
        })
    }

    fn read_key(&self) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        let key = private::read(&self.paths.key, MAX_FILE)?;
        match key {
            Some(key) if key.len() != seal::KEY_LEN => Err(SecretError::Tampered {
                path: self.paths.key.clone(),
            }),
            key => Ok(key),
        }
    }

    /// Returns the key, made now if there is none.
    fn key(&self) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        if let Some(key) = self.read_key()? {
            return Ok(key);
        }
        private::write(&self.paths.key, &seal::new_key()?, Present::Keep)?;
        // Whoever was first: two processes must not seal with two keys.
        self.read_key()?.ok_or_else(|| self.key_missing())
    }

    fn key_missing(&self) -> SecretError {
        SecretError::KeyMissing {
            sealed: self.paths.secrets.clone(),
            path: self.paths.key.clone(),
        }
    }

    fn read(&self) -> Result<Arc<Vec<Secret>>, SecretError> {
        let Some(sealed) = private::read(&self.paths.secrets, MAX_FILE)? else {
            return Ok(Arc::default());
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.sealed == sealed) {
            return Ok(Arc::clone(&last.secrets));
        }
        let key = self.read_key()?.ok_or_else(|| self.key_missing())?;
        let secrets = seal::unseal(&sealed, &key).map_err(|_| SecretError::Tampered {
            path: self.paths.secrets.clone(),
        })?;
        let secrets = Arc::new(secrets);
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
        let mut secrets = self.read()?.as_ref().clone();
        change(&mut secrets)?;
        secrets.sort_by(|a, b| a.name.cmp(&b.name));
        let sealed = seal::seal(&secrets, &self.key()?)?;
        private::write(&self.paths.secrets, &sealed, Present::Replace)?;
        Ok(())
    }
}

/// Finds a secret by its name.
pub(super) fn find<'a>(secrets: &'a [Secret], name: &SecretName) -> Option<&'a Secret> {
    secrets.iter().find(|secret| secret.name == *name)
}

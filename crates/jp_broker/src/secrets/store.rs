//! All secrets of a user, and the scrubber that knows them.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use jp_policy::Brokered;

use super::{Scrubber, Secret, SecretError, SecretInfo, SecretName, Vault, vault};

/// More secrets, or more bytes of values, would make each scrubbing slow.
const MAX_SECRETS: usize = 256;
const MAX_TOTAL: usize = 64 * 1024;
/// More places one secret is meant for are refused.
const MAX_AUDIENCE: usize = 32;

/// Holds the secrets of a user.
pub struct SecretStore {
    vault: Arc<dyn Vault>,
    /// The scrubber made last, and what it was made of.
    last: Mutex<Option<(Arc<Vec<Secret>>, Scrubber)>>,
}

impl SecretStore {
    /// Makes a store over a vault.
    #[must_use]
    pub fn new(vault: Arc<dyn Vault>) -> Self {
        Self {
            vault,
            last: Mutex::default(),
        }
    }

    /// Keeps a secret, in place of one of the same name.
    ///
    /// # Errors
    ///
    /// [`SecretError::Full`], or what kept it from being written.
    pub fn set(&self, secret: &Secret) -> Result<(), SecretError> {
        if secret.audience.len() > MAX_AUDIENCE {
            let limit = "a secret is meant for at most 32 places";
            return Err(SecretError::Full { limit });
        }
        self.change(&mut |secrets| {
            secrets.retain(|known| known.name != secret.name);
            secrets.push(secret.clone());
            Ok(())
        })
    }

    /// Replaces the secrets by what `change` makes of them, while no other process changes them.
    pub(crate) fn change(
        &self,
        change: &mut dyn FnMut(&mut Vec<Secret>) -> Result<(), SecretError>,
    ) -> Result<(), SecretError> {
        self.vault.change(&mut |secrets| {
            change(secrets)?;
            let total: usize = secrets.iter().map(|s| s.value.expose().len()).sum();
            if secrets.len() > MAX_SECRETS || total > MAX_TOTAL {
                let limit = "it takes 256 secrets, and 64 KiB of values in all";
                return Err(SecretError::Full { limit });
            }
            Ok(())
        })
    }

    /// Returns all secrets.
    pub(crate) fn load(&self) -> Result<Arc<Vec<Secret>>, SecretError> {
        self.vault.load()
    }

    /// Returns what may be shown of all secrets, by name.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn list(&self) -> Result<Vec<SecretInfo>, SecretError> {
        Ok(self.vault.load()?.iter().map(Secret::info).collect())
    }

    /// Forgets a secret; returns whether there was one.
    ///
    /// # Errors
    ///
    /// When the rest cannot be read or written.
    pub fn remove(&self, name: &SecretName) -> Result<bool, SecretError> {
        if vault::find(&self.vault.load()?, name).is_none() {
            return Ok(false);
        }
        self.vault.change(&mut |secrets| {
            secrets.retain(|known| known.name != *name);
            Ok(())
        })?;
        Ok(true)
    }

    /// Returns a secret; for the host's own use.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn find(&self, name: &SecretName) -> Result<Option<Secret>, SecretError> {
        Ok(vault::find(&self.vault.load()?, name).cloned())
    }

    /// Returns what scrubs all secrets; for logs, audit, and answers to guests.
    ///
    /// # Errors
    ///
    /// When the secrets cannot be read: what cannot be scrubbed must not be shown.
    pub fn scrubber(&self) -> Result<Scrubber, SecretError> {
        let secrets = self.vault.load()?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((of, scrubber)) if Arc::ptr_eq(of, &secrets) => Ok(scrubber.clone()),
            _ => {
                let scrubber = scrubber_of(secrets.iter())?;
                *last = Some((secrets, scrubber.clone()));
                Ok(scrubber)
            }
        }
    }

    /// Returns what scrubs the output of a tool: all secrets but those that both the grant and the
    /// secret itself allow the tool to show.
    ///
    /// # Errors
    ///
    /// When the secrets cannot be read: what cannot be scrubbed must not be shown.
    pub fn scrubber_for(&self, grant: &Brokered) -> Result<Scrubber, SecretError> {
        let secrets = self.vault.load()?;
        if secrets.iter().any(|secret| is_revealed(secret, grant)) {
            let hidden = secrets.iter().filter(|secret| !is_revealed(secret, grant));
            return scrubber_of(hidden);
        }
        self.scrubber()
    }
}

fn scrubber_of<'a>(secrets: impl Iterator<Item = &'a Secret>) -> Result<Scrubber, SecretError> {
    Scrubber::new(secrets.map(|secret| (secret.name.as_str(), secret.value.expose())))
}

/// Tells whether a tool with this grant may see the value.
pub(super) fn is_revealed(secret: &Secret, grant: &Brokered) -> bool {
    let name = format!("secrets.reveal.{}", secret.name).parse();
    secret.reveal && !secret.name.is_reserved() && name.is_ok_and(|name| grant.allows(&name))
}

impl fmt::Debug for SecretStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretStore")
    }
}

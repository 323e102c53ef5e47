//! The key that opens the secrets: in a file, or in a keyring with a line in the file that says so.
//!
//! Whichever it is, it was decided when the key was made or moved, and written down: a keyring that
//! cannot be reached later is an error, never a reason for another key.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{
    KeyId, Keyring, KeyringError, SecretError, VaultPaths,
    error::KeyLies,
    private::{self, Present},
    seal,
};

/// How the line begins that stands in the file when the key lies in a keyring; an id follows. No
/// such line has the length of a key.
const MARK: &str = "jp-secrets-key 1 in the keyring: ";
/// The largest file that may hold a key or the line.
const MAX_FILE: u64 = 4096;

/// Where a key lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a file for its owner only.
    File,
    /// In the keyring of the user's session.
    Keyring,
}

/// What became of a key that was to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It lies at the new place, and nowhere else.
    Moved,
    /// It lies at the new place, and could not be deleted from the keyring.
    CopyLeft {
        /// Why not.
        problem: KeyringError,
    },
    /// It lay there before.
    AlreadyThere,
    /// There is none: it is made with the first secret.
    NoKey,
}

/// The key of a vault.
#[derive(Debug)]
pub(super) struct Key {
    paths: VaultPaths,
    keyring: Option<Arc<dyn Keyring>>,
}

/// What the file says.
enum Found {
    Key(Zeroizing<Vec<u8>>),
    InKeyring(KeyId),
}

impl Found {
    /// Reads the file; `None` when it is neither.
    fn of(bytes: Zeroizing<Vec<u8>>) -> Option<Self> {
        if bytes.len() == seal::KEY_LEN {
            return Some(Self::Key(bytes));
        }
        parse_mark(&bytes).map(Self::InKeyring)
    }
}

impl Key {
    pub(super) fn new(paths: VaultPaths) -> Self {
        Self {
            paths,
            keyring: None,
        }
    }

    pub(super) fn set_keyring(&mut self, keyring: Arc<dyn Keyring>) {
        self.keyring = Some(keyring);
    }

    /// Tells where the key lies; asks no keyring.
    pub(super) fn place(&self) -> Result<Option<KeyPlace>, SecretError> {
        Ok(self.look()?.map(|found| match found {
            Found::Key(_) => KeyPlace::File,
            Found::InKeyring(_) => KeyPlace::Keyring,
        }))
    }

    /// Returns the key; `None` when none was made yet.
    pub(super) fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        let id = match self.look()? {
            None => return Ok(None),
            Some(Found::Key(key)) => return Ok(Some(key)),
            Some(Found::InKeyring(id)) => id,
        };
        let fetched = self.fetch(&id);
        if let Ok(Some(key)) = fetched {
            return Ok(Some(key));
        }
        // Another process may have moved it between the two reads.
        let fetched = match self.look()? {
            Some(Found::Key(key)) => return Ok(Some(key)),
            Some(Found::InKeyring(now)) if now != id => self.fetch(&now),
            _ => fetched,
        };
        if let Some(key) = fetched? {
            return Ok(Some(key));
        }
        Err(SecretError::KeyNotInKeyring {
            sealed: self.paths.secrets.clone(),
            path: self.paths.key.clone(),
            id: id.to_string(),
        })
    }

    /// Returns the key, made now if there is none: in the keyring if that takes it, else in the file.
    pub(super) fn read_or_make(&self) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        if let Some(key) = self.read()? {
            return Ok(key);
        }
        let key = seal::new_key()?;
        // Nothing lies in the keyring yet, so nothing is lost by doing without.
        let keyring = self.keyring.as_deref();
        let kept = keyring.and_then(|keyring| Some((keyring, keep(keyring, &key).ok()?)));
        if let Some((keyring, id)) = kept {
            let written = self.write(mark(&id).as_bytes(), Present::Keep);
            if !matches!(written, Ok(true)) {
                // Another process was first, or it failed: no file names this item.
                let _ = keyring.remove(&id);
            }
            written?;
        } else {
            self.write(&key, Present::Keep)?;
        }
        // The first one counts: two processes must not seal with two keys.
        self.read()?.ok_or_else(|| self.missing())
    }

    /// Moves the key, which is `key`. No other process may make or move it meanwhile.
    pub(super) fn move_to(&self, place: KeyPlace, key: &[u8]) -> Result<Moved, SecretError> {
        match (self.look()?, place) {
            (None, _) => Ok(Moved::NoKey),
            (Some(Found::Key(_)), KeyPlace::File)
            | (Some(Found::InKeyring(_)), KeyPlace::Keyring) => Ok(Moved::AlreadyThere),
            (Some(Found::Key(_)), KeyPlace::Keyring) => {
                let stays = |problem| SecretError::KeyStays { problem };
                let keyring = self.keyring.as_deref().ok_or(stays(KeyringError::Off))?;
                let id = keep(keyring, key).map_err(stays)?;
                if let Err(error) = self.write(mark(&id).as_bytes(), Present::Replace) {
                    let _ = keyring.remove(&id);
                    return Err(error);
                }
                Ok(Moved::Moved)
            }
            (Some(Found::InKeyring(id)), KeyPlace::File) => {
                self.write(key, Present::Replace)?;
                match self.look()? {
                    Some(Found::Key(written)) if *written == key => {}
                    _ => return Err(self.tampered()),
                }
                let forgotten = self.keyring.as_deref().map(|keyring| keyring.remove(&id));
                Ok(match forgotten {
                    Some(Ok(())) => Moved::Moved,
                    Some(Err(problem)) => Moved::CopyLeft { problem },
                    None => Moved::CopyLeft {
                        problem: KeyringError::Off,
                    },
                })
            }
        }
    }

    /// Makes the error of secrets without a key.
    pub(super) fn missing(&self) -> SecretError {
        SecretError::KeyMissing {
            sealed: self.paths.secrets.clone(),
            path: self.paths.key.clone(),
        }
    }

    /// Makes the error of a key that does not open the secrets.
    pub(super) fn tampered(&self) -> SecretError {
        let path = self.paths.key.clone();
        let read = private::read(&path, MAX_FILE).ok().flatten();
        SecretError::Tampered {
            sealed: self.paths.secrets.clone(),
            key: match read.and_then(Found::of) {
                Some(Found::InKeyring(id)) => KeyLies::Keyring(id.to_string()),
                _ => KeyLies::File(path.clone()),
            },
            path,
        }
    }

    fn look(&self) -> Result<Option<Found>, SecretError> {
        match private::read(&self.paths.key, MAX_FILE)? {
            None => Ok(None),
            Some(bytes) => match Found::of(bytes) {
                Some(found) => Ok(Some(found)),
                None => Err(self.tampered()),
            },
        }
    }

    fn fetch(&self, id: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, SecretError> {
        let unreachable = |problem| SecretError::KeyUnreachable { problem };
        let keyring = self.keyring.as_deref();
        let keyring = keyring.ok_or(unreachable(KeyringError::Off))?;
        let key = keyring.get(id).map_err(unreachable)?;
        if key.as_ref().is_some_and(|key| key.len() != seal::KEY_LEN) {
            let reason = "what it keeps for jp is not a key".to_owned();
            return Err(unreachable(KeyringError::Failed { reason }));
        }
        Ok(key)
    }

    fn write(&self, bytes: &[u8], present: Present) -> Result<bool, SecretError> {
        private::write(&self.paths.key, bytes, present)
    }
}

/// Puts a key into a keyring under a new id, and makes sure that it comes back.
fn keep(keyring: &dyn Keyring, key: &[u8]) -> Result<KeyId, KeyringError> {
    let id = seal::new_id().map_err(|error| KeyringError::Failed {
        reason: error.to_string(),
    })?;
    keyring.put(&id, key)?;
    let error = match keyring.get(&id) {
        Ok(Some(back)) if *back == key => return Ok(id),
        Ok(_) => KeyringError::Failed {
            reason: "it did not give back what it was given".to_owned(),
        },
        Err(error) => error,
    };
    // No file names the item: one that is left over does no harm.
    let _ = keyring.remove(&id);
    Err(error)
}

fn mark(id: &KeyId) -> String {
    format!("{MARK}{id}\n")
}

fn parse_mark(bytes: &[u8]) -> Option<KeyId> {
    let text = std::str::from_utf8(bytes).ok()?;
    KeyId::parse(text.strip_prefix(MARK)?.strip_suffix('\n')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_for_a_keyring_is_read_back_and_nothing_else_is() {
        let id = seal::new_id().unwrap();
        let line = mark(&id);
        assert_ne!(line.len(), seal::KEY_LEN);
        assert_eq!(parse_mark(line.as_bytes()), Some(id.clone()));
        let upper = mark(&id).to_uppercase();
        for bad in [
            line.trim_end().to_owned(),
            format!("{line}\n"),
            format!(" {line}"),
            format!("{MARK}\n"),
            format!("{MARK}{id}00\n"),
            format!("{MARK}../../login\n"),
            format!("{MARK}{}\n", "g".repeat(32)),
            format!("{MARK}{id}\0\n"),
            line.replace(" 1 ", " 2 "),
            upper,
        ] {
            assert_eq!(parse_mark(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(parse_mark(&[0xff; 64]), None);
    }
}

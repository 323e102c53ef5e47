//! Tokens of others whom the user lets in. They lie as hashes in a private file of the user's data
//! directory, which servers read again when it has changed.

mod known;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use jp_config::{PolicyConfig, is_principal_name};
use jp_disk::{
    Disk, Sha256,
    private::{self, Others, ReadError},
};
use jp_store::Millis;
use serde::{Deserialize, Serialize};

pub(crate) use self::known::{Known, Snapshot};
use crate::{
    ServeError, Token,
    keep::{millis, now},
};

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// As many principals have tokens.
const MOST: usize = 1_000;

/// As many tokens of one principal are good at once: the newest, and those in their grace period.
const MOST_OF_ONE: usize = 8;

/// The file of the tokens.
#[derive(Debug, Clone)]
pub struct Tokens {
    path: PathBuf,
}

/// A principal with tokens, as `jp serve token list` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its name.
    pub name: String,
    /// What it may do at most, within the user's policy; the same where it is not said.
    pub policy: Option<PolicyConfig>,
    /// When each of its tokens was made and ends, in milliseconds since 1970, the newest last.
    pub tokens: Vec<(Millis, Option<Millis>)>,
}

/// Why tokens cannot be had or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// The file cannot be read or written.
    #[error("cannot use the tokens in {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else could have written or read it.
    #[error("cannot use the tokens in {}: it {problem}", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// What makes it unsafe.
        problem: &'static str,
    },
    /// It is not what jp writes.
    #[error("cannot use the tokens in {}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The name cannot be one.
    #[error(
        "invalid name `{name}`: expected up to 64 letters, digits or `._-@+`, a letter or digit first"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The principal has a token.
    #[error("`{name}` has a token already")]
    Taken {
        /// The name.
        name: String,
    },
    /// The principal has no token.
    #[error("`{name}` has no token")]
    Unknown {
        /// The name.
        name: String,
    },
    /// There is no room for another.
    #[error("too many tokens: expected at most {most}")]
    Full {
        /// The most.
        most: usize,
    },
    /// The policy cannot be one.
    #[error("invalid policy: {0}")]
    Policy(#[from] jp_policy::LimitError),
    /// No token can be made.
    #[error(transparent)]
    Random(#[from] ServeError),
}

/// The file's content.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u8,
    principals: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<PolicyConfig>,
    tokens: Vec<Kept>,
}

/// A token, without what would let anybody in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    sha256: String,
    made: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends: Option<Millis>,
}

impl Kept {
    fn is_good(&self, now: Millis) -> bool {
        self.ends.is_none_or(|ends| ends > now)
    }
}

impl Tokens {
    /// Takes the tokens of a file, which need not be there yet.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Makes a token for somebody who has none, and returns its text, which nobody can get again.
    ///
    /// # Errors
    ///
    /// When the name is invalid or taken, or the file cannot be changed.
    pub fn add(
        &self,
        name: &str,
        policy: Option<PolicyConfig>,
        life: Option<Duration>,
    ) -> Result<String, TokensError> {
        if !is_principal_name(name) {
            let name = jp_text::shorten(name, 80).into_owned();
            return Err(TokensError::Name { name });
        }
        if let Some(policy) = &policy {
            policy.to_policy()?;
        }
        let (token, text) = Token::random()?;
        self.change(|book, now| {
            // Whose tokens have all ended is as good as gone.
            let is_good = |entry: &Entry| entry.tokens.iter().any(|token| token.is_good(now));
            if book.principals.get(name).is_some_and(is_good) {
                let name = name.to_owned();
                return Err(TokensError::Taken { name });
            }
            if book.principals.len() >= MOST {
                return Err(TokensError::Full { most: MOST });
            }
            let tokens = vec![kept(&token, now, life)];
            let entry = Entry { policy, tokens };
            book.principals.insert(name.to_owned(), entry);
            Ok(())
        })?;
        Ok(text)
    }

    /// Makes a new token for a principal, and returns its text. Those before are good for `grace`
    /// longer, and no longer than they were.
    ///
    /// # Errors
    ///
    /// When there is no such principal, or the file cannot be changed.
    pub fn rotate(
        &self,
        name: &str,
        grace: Duration,
        life: Option<Duration>,
    ) -> Result<String, TokensError> {
        let (token, text) = Token::random()?;
        self.change(|book, now| {
            let entry = book.principals.get_mut(name);
            let entry = entry.ok_or_else(|| unknown(name))?;
            let end = now.saturating_add(millis(grace));
            for before in &mut entry.tokens {
                before.ends = Some(before.ends.map_or(end, |ends| ends.min(end)));
            }
            entry.tokens.retain(|token| token.is_good(now));
            if entry.tokens.len() >= MOST_OF_ONE {
                return Err(TokensError::Full { most: MOST_OF_ONE });
            }
            entry.tokens.push(kept(&token, now, life));
            Ok(())
        })?;
        Ok(text)
    }

    /// Removes a principal with all its tokens.
    ///
    /// # Errors
    ///
    /// When there is no such principal, or the file cannot be changed.
    pub fn remove(&self, name: &str) -> Result<(), TokensError> {
        self.change(|book, _| match book.principals.remove(name) {
            Some(_) => Ok(()),
            None => Err(unknown(name)),
        })
    }

    /// Returns who has tokens, by name.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<Holder>, TokensError> {
        let book = self.read()?;
        let holders = book.principals.into_iter().map(|(name, entry)| Holder {
            name,
            policy: entry.policy,
            tokens: entry
                .tokens
                .iter()
                .map(|one| (one.made, one.ends))
                .collect(),
        });
        Ok(holders.collect())
    }

    /// Changes the file as it is now, with nobody else changing it meanwhile.
    fn change(
        &self,
        change: impl FnOnce(&mut Book, Millis) -> Result<(), TokensError>,
    ) -> Result<(), TokensError> {
        let failed = |source| self.failed(source);
        jp_disk::create_dir(jp_disk::parent(&self.path)).map_err(failed)?;
        let lock = Disk::real().lock(&self.path.with_extension("lock"));
        let _lock = lock.map_err(failed)?;
        let mut book = self.read()?;
        change(&mut book, now())?;
        let text = serde_json::to_vec_pretty(&book).map_err(|error| failed(error.into()))?;
        jp_disk::replace_private(&self.path, &text).map_err(failed)
    }

    fn read(&self) -> Result<Book, TokensError> {
        let bytes = match private::read(&self.path, LARGEST, Others::Nothing) {
            Ok(None) => {
                return Ok(Book {
                    version: 1,
                    ..Book::default()
                });
            }
            Ok(Some(bytes)) => bytes,
            Err(ReadError::Io(source)) => return Err(self.failed(source)),
            Err(ReadError::Unsafe(problem)) => {
                return Err(TokensError::Exposed {
                    path: self.path.clone(),
                    problem: problem.words(),
                });
            }
        };
        let damaged = |reason: String| TokensError::Damaged {
            path: self.path.clone(),
            reason,
        };
        let book: Book =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        match book.version {
            1 => Ok(book),
            found => Err(damaged(format!("expected version 1, found {found}"))),
        }
    }

    fn failed(&self, source: io::Error) -> TokensError {
        TokensError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

fn unknown(name: &str) -> TokensError {
    TokensError::Unknown {
        name: jp_text::shorten(name, 80).into_owned(),
    }
}

fn kept(token: &Token, now: Millis, life: Option<Duration>) -> Kept {
    Kept {
        sha256: token.digest().to_string(),
        made: now,
        ends: life.map(|life| now.saturating_add(millis(life))),
    }
}

/// Reads a hash of the file; nothing when it is not one, which lets nobody in.
fn digest(kept: &Kept) -> Option<Sha256> {
    kept.sha256.parse().ok()
}

#[cfg(test)]
mod tests;

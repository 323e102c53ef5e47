//! Names of what the host does on a tool's behalf (`kv.sqlite.todo.create`), and sets of them.
//!
//! Does not know which names anybody implements: that is the broker's table.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
};
use core::{fmt, str::FromStr};

/// Longer names are refused; the longest anybody needs has a third of this.
const MAX_NAME: usize = 128;

/// How the names of secrets start, which `*` does not cover.
const SECRETS: &str = "secrets.";

/// The name of something the host does on a tool's behalf, or of all that start alike:
/// `secrets.get.github_pat`, `kv.sqlite.todo.*`.
///
/// `*` covers everything but `secrets.…`; `a.b.*` covers `a.b.c` and `a.b.c.d`, not `a.b` itself; and `a.b` covers nothing but `a.b`, so a
/// bare `secrets.get` opens no secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokeredName(String);

/// Why a text is not the name of a brokered capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a brokered capability is written as words of a-z, 0-9, `_` and `-` joined by dots, such as `clock.now_unix` or `kv.sqlite.todo.*`"
)]
pub struct BrokeredNameError;

impl BrokeredName {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether what it names stays on this machine: the clock, the log and the user's own rows.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let families = ["clock.", "log.", "kv."];
        families.iter().any(|family| self.0.starts_with(family))
    }

    /// Returns whether nothing it names changes anything: the clock, the log of the call, and secrets,
    /// which are handed out and never written.
    #[must_use]
    pub(crate) fn only_reads(&self) -> bool {
        let families = ["clock.", "log.", SECRETS];
        families.iter().any(|family| self.0.starts_with(family))
    }

    /// Returns whether something it names may reach a host of the network.
    #[must_use]
    pub fn reaches_out(&self) -> bool {
        !self.is_local() && !self.0.starts_with(SECRETS)
    }

    /// Returns whether everything `other` names is named by this.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match self.0.strip_suffix('*') {
            // A secret is always named: a user who allows everything means everything harmless.
            Some("") => !other.0.starts_with(SECRETS),
            // The dot stays in the prefix: `kv.a*` does not exist, and `kv.a.*` is not `kv.ab`.
            Some(prefix) => other.0.starts_with(prefix),
            None => self == other,
        }
    }
}

impl FromStr for BrokeredName {
    type Err = BrokeredNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        };
        if text == "*" {
            return Ok(Self(text.to_string()));
        }
        let words = text.strip_suffix(".*").unwrap_or(text);
        if text.len() > MAX_NAME || !words.contains('.') && words.len() == text.len() {
            return Err(BrokeredNameError);
        }
        if words.split('.').all(is_word) {
            Ok(Self(text.to_string()))
        } else {
            Err(BrokeredNameError)
        }
    }
}

impl fmt::Display for BrokeredName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of brokered capabilities.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Brokered(BTreeSet<BrokeredName>);

impl Brokered {
    /// Makes a set; names that others of it cover are left out.
    pub fn new(names: impl IntoIterator<Item = BrokeredName>) -> Self {
        let all: BTreeSet<_> = names.into_iter().collect();
        let needed =
            |name: &&BrokeredName| !all.iter().any(|other| other != *name && other.covers(name));
        Self(all.iter().filter(needed).cloned().collect())
    }

    /// Returns the names.
    pub fn names(&self) -> impl Iterator<Item = &BrokeredName> {
        self.0.iter()
    }

    /// Returns whether nothing is in the set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a name, or all it stands for, is in the set.
    #[must_use]
    pub fn allows(&self, name: &BrokeredName) -> bool {
        self.0.contains(name) || self.0.iter().any(|mine| mine.covers(name))
    }

    /// Returns what both sets allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let both = |a: &Self, b: &Self| -> BTreeSet<BrokeredName> {
            a.0.iter().filter(|name| b.allows(name)).cloned().collect()
        };
        let mut names = both(self, other);
        names.extend(both(other, self));
        Self::new(names)
    }

    /// Returns the first name `other` allows and this set does not.
    #[must_use]
    pub fn missing<'a>(&self, other: &'a Self) -> Option<&'a BrokeredName> {
        other.0.iter().find(|name| !self.allows(name))
    }
}

impl fmt::Display for Brokered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}{name}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "brokered_tests.rs"]
mod tests;

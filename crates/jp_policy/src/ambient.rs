//! What a guest has around it without asking, and the variables it may see.

use alloc::string::{String, ToString};
use core::{fmt, str::FromStr};

/// The longest name of a variable that is accepted.
const MAX_NAME: usize = 128;

/// What every tool has unless it, the app or the host says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ambient {
    /// Reading clocks.
    pub clocks: bool,
    /// Random numbers of cryptographic quality.
    pub random: bool,
    /// Arguments on standard input and results on standard output.
    pub stdio: bool,
}

impl Default for Ambient {
    fn default() -> Self {
        Self {
            clocks: true,
            random: true,
            stdio: true,
        }
    }
}

impl Ambient {
    /// Nothing at all.
    pub const NONE: Self = Self {
        clocks: false,
        random: false,
        stdio: false,
    };

    /// Returns just what has this name.
    pub(crate) fn only(name: &str) -> Self {
        Self {
            clocks: name == "clocks",
            random: name == "random",
            stdio: name == "stdio",
        }
    }

    /// Returns what both have.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Self {
        Self {
            clocks: self.clocks && other.clocks,
            random: self.random && other.random,
            stdio: self.stdio && other.stdio,
        }
    }

    /// Returns what either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            clocks: self.clocks || other.clocks,
            random: self.random || other.random,
            stdio: self.stdio || other.stdio,
        }
    }

    /// Returns the first thing `other` has and this has not.
    #[must_use]
    pub fn missing(self, other: Self) -> Option<&'static str> {
        let theirs = other.named();
        let missing = |(at, (_, mine)): &(usize, (&str, bool))| !mine && theirs[*at].1;
        let found = self.named().into_iter().enumerate().find(missing);
        found.map(|(_, (name, _))| name)
    }

    /// Returns the names of what is taken away.
    pub fn withheld(self) -> impl Iterator<Item = &'static str> {
        let all = self.named().into_iter();
        all.filter_map(|(name, has)| (!has).then_some(name))
    }

    const fn named(self) -> [(&'static str, bool); 3] {
        [
            ("clocks", self.clocks),
            ("random", self.random),
            ("stdio", self.stdio),
        ]
    }
}

/// The name of a variable of the host's environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvName(String);

/// Why a text is not the name of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a variable is written with letters, digits and `_`, such as `LANG`")]
pub struct EnvNameError;

impl EnvName {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvName {
    type Err = EnvNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let starts = text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
        if starts && text.len() <= MAX_NAME && text.bytes().all(word) {
            Ok(Self(text.to_string()))
        } else {
            Err(EnvNameError)
        }
    }
}

impl fmt::Display for EnvName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! Which files a call may touch, in the guest's own namespace (`/workspace`, `/subjects`, `/tmp`).
//!
//! Host paths never occur here: where a guest path leads on the host is decided by the host when
//! it opens the directory.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{
    fmt::{self, Write as _},
    str::FromStr,
};

/// The longest guest path that is accepted.
const MAX_PATH: usize = 4096;

/// A path as a guest sees it: absolute, and without `..`, empty parts or NUL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestPath(String);

/// Why a text is not a [`GuestPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuestPathError {
    /// The path does not start at the root.
    #[error("invalid path `{}`: expected an absolute path", jp_text::inline(path))]
    Relative {
        /// The path as given.
        path: String,
    },
    /// The path has a part that could lead elsewhere.
    #[error(
        "invalid path `{}`: it has an empty, `.`, `..` or NUL part",
        jp_text::inline(path)
    )]
    Part {
        /// The path as given.
        path: String,
    },
    /// The path is longer than any file system allows.
    #[error("path too long: expected at most {MAX_PATH} bytes, found {length}")]
    TooLong {
        /// How long it is.
        length: usize,
    },
}

impl GuestPath {
    /// Checks a path.
    ///
    /// # Errors
    ///
    /// When the path is relative, too long, or has a part that could lead elsewhere.
    pub fn new(path: &str) -> Result<Self, GuestPathError> {
        if path.len() > MAX_PATH {
            return Err(GuestPathError::TooLong { length: path.len() });
        }
        let Some(rest) = path.strip_prefix('/') else {
            return Err(GuestPathError::Relative {
                path: path.to_string(),
            });
        };
        let bad = |part: &str| matches!(part, "" | "." | "..") || part.contains('\0');
        if !rest.is_empty() && rest.split('/').any(bad) {
            return Err(GuestPathError::Part {
                path: path.to_string(),
            });
        }
        Ok(Self(path.to_string()))
    }

    /// Returns where a chosen file lies: `/in/0`.
    pub(crate) fn chosen(number: usize) -> Self {
        Self(alloc::format!("/in/{number}"))
    }

    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this path is `other` or lies below it, part by part: `/data-secret` does not
    /// lie below `/data`.
    #[must_use]
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        match self.0.strip_prefix(other.0.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/') || other.0 == "/",
            None => false,
        }
    }

    /// Returns every path this one lies below, from the root down, without itself.
    fn parents(&self) -> impl Iterator<Item = &str> {
        let root = (self.0 != "/").then_some("/");
        let inner = self.0.match_indices('/').skip(1);
        root.into_iter()
            .chain(inner.filter_map(|(at, _)| self.0.get(..at)))
    }

    /// Returns a form that is safe inside a quoted string and on a terminal.
    pub(crate) const fn escaped(&self) -> Escaped<'_> {
        Escaped(self)
    }
}

/// A path whose quotes, backslashes and unprintable characters are written as TOML escapes. A
/// request comes from strangers: their path must not end the string of a suggested setting, add
/// rules to it, or move the cursor of the person who reads it.
pub(crate) struct Escaped<'a>(&'a GuestPath);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\'' => f.write_char(c)?,
                _ if !jp_text::is_hidden(c) && c.escape_debug().len() == 1 => f.write_char(c)?,
                _ => match u32::from(c) {
                    code @ 0..=0xffff => write!(f, "\\u{code:04X}")?,
                    code => write!(f, "\\U{code:08X}")?,
                },
            }
        }
        Ok(())
    }
}

impl FromStr for GuestPath {
    type Err = GuestPathError;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        Self::new(path)
    }
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What may be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Look at it.
    Read,
    /// Look at it, change, create and remove it.
    ReadWrite,
}

impl Access {
    /// Returns its name: `read` or `read-write`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read-write",
        }
    }

    /// Returns the access of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Read, Self::ReadWrite]
            .into_iter()
            .find(|access| access.name() == name)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One directory tree and what may be done in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRule {
    /// The top of the tree.
    pub path: GuestPath,
    /// What may be done in it.
    pub access: Access,
}

impl FileRule {
    /// Returns the path of the host that the rule is about, if it is about one beside the workspace. Policies
    /// have such paths below `/host`, so that none passes for one of a guest.
    #[must_use]
    pub fn host_path(&self) -> Option<&str> {
        let path = self.path.as_str().strip_prefix("/host")?;
        (path.len() > 1 && path.starts_with('/')).then_some(path)
    }
}

/// The form that a configuration holds between quotes: `/data:read-write`.
impl fmt::Display for FileRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.escaped(), self.access)
    }
}

/// A set of file rules. A path has the widest access of all rules that cover it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files(Vec<FileRule>);

impl Files {
    /// Makes a set without redundant rules.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = FileRule>) -> Self {
        let mut all: Vec<FileRule> = rules.into_iter().collect();
        // Widest first among equal paths, so that the widest is the one that stays.
        all.sort_by(|a, b| a.path.cmp(&b.path).then(b.access.cmp(&a.access)));
        all.dedup_by(|later, first| later.path == first.path);
        let all = Self(all);
        let covered = |rule: &&FileRule| all.above(&rule.path) >= Some(rule.access);
        Self(
            all.0
                .iter()
                .filter(|rule| !covered(rule))
                .cloned()
                .collect(),
        )
    }

    /// Makes a set of one rule.
    #[must_use]
    pub fn one(path: GuestPath, access: Access) -> Self {
        Self(alloc::vec![FileRule { path, access }])
    }

    /// Returns the rules, sorted by path.
    #[must_use]
    pub fn rules(&self) -> &[FileRule] {
        &self.0
    }

    /// Returns what may be done at a path, if anything.
    #[must_use]
    pub fn access(&self, path: &GuestPath) -> Option<Access> {
        self.at(path.as_str()).max(self.above(path))
    }

    /// Returns what the rules for the directories above a path allow. Looking up each of them keeps
    /// a manifest of many thousand rules cheap; comparing all rules with all others would not.
    fn above(&self, path: &GuestPath) -> Option<Access> {
        path.parents().filter_map(|parent| self.at(parent)).max()
    }

    /// Returns what the rule for exactly this path allows.
    fn at(&self, path: &str) -> Option<Access> {
        let found = self
            .0
            .binary_search_by(|rule| rule.path.0.as_str().cmp(path));
        found
            .ok()
            .and_then(|at| self.0.get(at))
            .map(|rule| rule.access)
    }

    /// Returns whether every rule of `other` holds here too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.missing(other).is_none()
    }

    /// Returns the first rule of `other` that does not hold here.
    #[must_use]
    pub fn missing<'a>(&self, other: &'a Self) -> Option<&'a FileRule> {
        other
            .0
            .iter()
            .find(|rule| self.access(&rule.path) < Some(rule.access))
    }

    /// Returns what both sets allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let within = |rules: &Self, bound: &Self| -> Vec<FileRule> {
            let narrowed = |rule: &FileRule| {
                let access = bound.access(&rule.path)?.min(rule.access);
                let path = rule.path.clone();
                Some(FileRule { path, access })
            };
            rules.0.iter().filter_map(narrowed).collect()
        };
        Self::new(within(self, other).into_iter().chain(within(other, self)))
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

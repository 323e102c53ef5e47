//! Which versions of a tool will do: the newest, one, or a range with Cargo's meaning.
//!
//! Ranges are written by strangers too (a workspace has them): they are bounded before they are
//! read, and shown only as they were understood.

use std::{fmt, str::FromStr};

use semver::{Op, Version, VersionReq};

use super::VersionsError;
use crate::FormatError;

/// A longer text is neither a version nor a range.
const MAX_TEXT: usize = 256;

/// Which versions of a tool will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Versions {
    /// The newest; one before a release only while there is no release.
    Newest,
    /// This one.
    One(Version),
    /// The newest of those that fit; one before a release only where the range names it.
    Range(VersionReq),
}

impl Versions {
    /// Tells whether a version will do.
    #[must_use]
    pub(crate) fn fits(&self, version: &Version) -> bool {
        match self {
            Self::Newest => true,
            Self::One(one) => one == version,
            Self::Range(range) => range.matches(version),
        }
    }

    /// Returns the one version that is meant, where only one can be.
    pub(super) fn one(&self) -> Option<Version> {
        let range = match self {
            Self::Newest => return None,
            Self::One(version) => return Some(version.clone()),
            Self::Range(range) => range,
        };
        let [only] = range.comparators.as_slice() else {
            return None;
        };
        let mut version = Version::new(only.major, only.minor?, only.patch?);
        version.pre = only.pre.clone();
        (only.op == Op::Exact).then_some(version)
    }

    /// Tells whether every release will do.
    pub(super) fn is_any(&self) -> bool {
        match self {
            Self::Newest => true,
            Self::One(_) => false,
            Self::Range(range) => *range == VersionReq::STAR,
        }
    }
}

impl FromStr for Versions {
    type Err = FormatError;

    /// Reads a whole version as that one, and everything else as a range.
    fn from_str(text: &str) -> Result<Self, FormatError> {
        let refused = || VersionsError {
            text: jp_text::shorten(text, 80).into_owned(),
        };
        if text.len() > MAX_TEXT {
            return Err(refused().into());
        }
        if let Ok(version) = text.parse() {
            return Ok(Self::One(version));
        }
        text.parse().map(Self::Range).map_err(|_| refused().into())
    }
}

/// Writes nothing for the newest.
impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => Ok(()),
            Self::One(version) => version.fmt(f),
            Self::Range(range) => range.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Versions;

    /// Returns which of some versions fit a text.
    fn check(text: &str) -> String {
        let versions: Versions = text.parse().unwrap();
        let all = [
            "0.2.1",
            "0.2.9",
            "0.3.0",
            "1.2.0-rc.1",
            "1.2.0",
            "1.2.3",
            "1.3.0",
            "2.0.0",
        ];
        let fitting = all
            .into_iter()
            .filter(|v| versions.fits(&v.parse().unwrap()));
        fitting.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_whole_version_is_that_one_and_anything_else_is_a_range_of_cargos() {
        assert_eq!(check("1.2.0"), "1.2.0");
        assert_eq!(check("=1.2.0"), "1.2.0");
        assert_eq!(check("1.2"), "1.2.0 1.2.3 1.3.0");
        assert_eq!(check("^1.2.3"), "1.2.3 1.3.0");
        assert_eq!(check("~1.2"), "1.2.0 1.2.3");
        assert_eq!(check("1"), "1.2.0 1.2.3 1.3.0");
        assert_eq!(check("0.2.1"), "0.2.1");
        assert_eq!(check("^0.2.1"), "0.2.1 0.2.9");
        assert_eq!(check("1.2.*"), "1.2.0 1.2.3");
        assert_eq!(check(">=1.2.3, <2"), "1.2.3 1.3.0");
        assert_eq!(check("*"), "0.2.1 0.2.9 0.3.0 1.2.0 1.2.3 1.3.0 2.0.0");
        assert_eq!(check("1.2.0-rc.1"), "1.2.0-rc.1");
        assert_eq!(check("^1.2.0-rc.1"), "1.2.0-rc.1 1.2.0 1.2.3 1.3.0");
    }

    #[test]
    fn an_invalid_range_is_refused_and_quoted_safely() {
        let long = "1".repeat(100_000);
        let many = vec![">1"; 10_000].join(",");
        let huge = "^99999999999999999999999999";
        let escape = "1.\u{1b}[2J\u{202e}";
        for bad in [
            "", " ", "1.2.0@2", "newest", "^^1", huge, escape, &long, &many,
        ] {
            let error = bad.parse::<Versions>().unwrap_err().to_string();
            assert!(error.len() < 800, "{error}");
            assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error:?}");
        }
    }
}

//! References such as `oci://ghcr.io/someone/tools`: read strictly, since each part becomes a URL.

use std::{fmt, str::FromStr};

use semver::Version;
use url::Url;

use crate::{id::Digest, transport::FetchError};

/// Longer repositories are refused, as the protocol says.
const MAX_REPOSITORY: usize = 255;
const MAX_TAG: usize = 128;

/// A registry, and a repository or namespace in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OciReference {
    secure: bool,
    /// The host and, where it is not the usual one, the port.
    host: String,
    pub(super) repository: String,
    pub(super) which: Option<Which>,
}

/// Which manifest of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Which {
    Tag(String),
    Digest(Digest),
}

impl OciReference {
    /// Returns the URL that `v2/…` comes after.
    pub(super) fn base(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}/", self.host)
    }
}

impl Which {
    /// Returns the tag of a version; `+` cannot be in a tag, and is written `_`.
    pub(super) fn version(version: Option<&Version>) -> Result<Self, FetchError> {
        let Some(version) = version else {
            return Ok(Self::Tag("latest".to_owned()));
        };
        let tag = version.to_string().replace('+', "_");
        match is_tag(&tag) {
            true => Ok(Self::Tag(tag)),
            false => Err(FetchError::invalid(
                format!("the version {version}"),
                "it is too long for a tag",
            )),
        }
    }

    pub(super) const fn digest(&self) -> Option<Digest> {
        match self {
            Self::Digest(digest) => Some(*digest),
            Self::Tag(_) => None,
        }
    }
}

/// Reads `sha256:<64 digits>`.
pub(super) fn digest(text: &str) -> Option<Digest> {
    text.strip_prefix("sha256:")?.parse().ok()
}

impl FromStr for OciReference {
    type Err = FetchError;

    /// Reads `oci://host[:port]/repository[:tag][@sha256:…]`, or `oci+http://…` for a registry
    /// without TLS.
    fn from_str(text: &str) -> Result<Self, FetchError> {
        let refused = |reason: &str| {
            FetchError::invalid(
                format!("the reference `{}`", jp_text::start(text, 200)),
                reason,
            )
        };
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| refused("it does not begin with oci://"))?;
        let secure = match scheme {
            "oci" => true,
            "oci+http" => false,
            _ => return Err(refused("it does not begin with oci://")),
        };
        let (host, rest) = rest
            .split_once('/')
            .ok_or_else(|| refused("it has no repository"))?;
        if !is_host(secure, host) {
            return Err(refused("it has no valid host"));
        }
        let (rest, by_digest) = match rest.split_once('@') {
            None => (rest, None),
            Some((rest, text)) => {
                let digest =
                    digest(text).ok_or_else(|| refused("expected a sha256 as its digest"))?;
                (rest, Some(Which::Digest(digest)))
            }
        };
        let (repository, tag) = match rest.split_once(':') {
            None => (rest, None),
            Some((repository, tag)) if is_tag(tag) => {
                (repository, Some(Which::Tag(tag.to_owned())))
            }
            Some(_) => return Err(refused("invalid tag")),
        };
        if !is_repository(repository) {
            return Err(refused(
                "a repository is words of a-z and 0-9, joined by `.`, `_`, `-` and `/`",
            ));
        }
        Ok(Self {
            secure,
            host: host.to_owned(),
            repository: repository.to_owned(),
            // A digest says more than the tag beside it.
            which: by_digest.or(tag),
        })
    }
}

/// Tells whether whoever makes the request reads it as the same host: no other spelling of an
/// address, nothing before an `@`.
fn is_host(secure: bool, host: &str) -> bool {
    let scheme = if secure { "https" } else { "http" };
    let url = format!("{scheme}://{host}/");
    Url::parse(&url).is_ok_and(|parsed| parsed.as_str() == url && !host.contains('@'))
}

/// Tells whether a name is one, after the grammar of the distribution specification.
fn is_repository(name: &str) -> bool {
    let part = |part: &str| {
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let bytes = part.as_bytes();
        let letters = bytes.iter().all(|b| edge(Some(*b)) || b"._-".contains(b));
        let joined = ["..", "___", "._", "_.", ".-", "-.", "_-", "-_"];
        letters
            && edge(bytes.first().copied())
            && edge(bytes.last().copied())
            && !joined.iter().any(|pair| part.contains(pair))
    };
    name.len() <= MAX_REPOSITORY && name.split('/').all(part)
}

fn is_tag(tag: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    let first = tag.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
        && tag.len() <= MAX_TAG
        && tag.bytes().all(letter)
}

impl fmt::Display for OciReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "oci" } else { "oci+http" };
        write!(f, "{scheme}://{}/{}", self.host, self.repository)?;
        match &self.which {
            None => Ok(()),
            Some(Which::Tag(tag)) => write!(f, ":{tag}"),
            Some(Which::Digest(digest)) => write!(f, "@sha256:{digest}"),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => write!(f, "sha256:{digest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_as_it_is_written() {
        let sha = Digest::of(b"x");
        for text in [
            "oci://ghcr.io/someone/tools".to_owned(),
            "oci+http://127.0.0.1:5000/t:1.0.0_b".to_owned(),
            format!("oci://a.example/x/y__z@sha256:{sha}"),
        ] {
            assert_eq!(text.parse::<OciReference>().unwrap().to_string(), text);
        }
        let both = format!("oci://a.example/x:1@sha256:{sha}");
        let both: OciReference = both.parse().unwrap();
        assert_eq!(both.which, Some(Which::Digest(sha)));
    }

    #[test]
    fn crooked_references_are_refused() {
        for text in [
            "",
            "ghcr.io/x",
            "https://ghcr.io/x",
            "oci://ghcr.io",
            "oci://ghcr.io/",
            "oci:///x",
            "oci://GHCR.io/x",
            "oci://user@ghcr.io/x",
            "oci://ghcr.io/X",
            "oci://ghcr.io/../x",
            "oci://ghcr.io/a//b",
            "oci://ghcr.io/a?b",
            "oci://ghcr.io/a#b",
            "oci://ghcr.io/a%2fb",
            "oci://ghcr.io/a:",
            "oci://ghcr.io/a:b/c",
            "oci://ghcr.io/a@sha256:12",
            "oci://ghcr.io/a@md5:12",
            "oci://ghcr.io:port/a",
            "oci://ghcr.io:443/a",
            "oci://2130706433/a",
            "oci://ghcr.io\\x/a",
            "oci://ghсr.io/a",
        ] {
            assert!(text.parse::<OciReference>().is_err(), "{text}");
        }
    }
}

//! A URL taken apart into what is checked and what is sent. Does not know any grant.
//!
//! The same parse feeds the check, the connection and the `Host` header, so no two of them can read
//! a malformed URL differently.

use std::net::IpAddr;

use url::Url;

use super::{HttpError, address::canonical};

/// Longer URLs are refused; servers refuse them too.
const MAX_URL: usize = 16 * 1024;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) scheme: Scheme,
    pub(super) host: Host,
    pub(super) port: u16,
    /// The path and query, as they stand in the request line.
    pub(super) path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// A host in its one canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

impl Target {
    /// Takes a URL apart; numbers such as `0x7f.1` have become addresses and international names
    /// `xn--` afterwards.
    pub(super) fn parse(text: &str) -> Result<Self, HttpError> {
        Self::of(&parse(text)?)
    }

    fn of(url: &Url) -> Result<Self, HttpError> {
        let invalid = |reason: &str| HttpError::invalid(format!("the URL has {reason}"));
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => {
                return Err(HttpError::invalid(
                    "only http and https URLs can be requested",
                ));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(
                "a user name or password in it; send a header instead",
            ));
        }
        let host = match url.host() {
            Some(url::Host::Domain(name)) if name.ends_with('.') => {
                return Err(invalid("a dot at the end of its host"));
            }
            Some(url::Host::Domain(name)) => Host::Name(name.to_owned()),
            Some(url::Host::Ipv4(address)) => Host::Address(address.into()),
            Some(url::Host::Ipv6(address)) => Host::Address(canonical(address.into())),
            None => return Err(invalid("no host")),
        };
        let port = url.port_or_known_default().filter(|port| *port != 0);
        let query = url.query().map(|query| format!("?{query}"));
        let path = format!("{}{}", url.path(), query.unwrap_or_default());
        // The parser encodes all of these; the request line depends on it.
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid("a character in it that cannot be sent"));
        }
        Ok(Self {
            scheme,
            host,
            port: port.ok_or_else(|| invalid("no usable port"))?,
            path,
        })
    }

    /// Returns host and port, as a grant spells them.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host_text(), self.port)
    }

    /// Returns the value of the `Host` header.
    pub(super) fn host_header(&self) -> String {
        match (self.scheme, self.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => self.host_text(),
            _ => self.authority(),
        }
    }

    fn host_text(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        }
    }
}

/// Where a URL leads, in the one spelling that is checked and connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The host and port, as a grant spells them.
    pub authority: String,
    /// The path, without the query.
    pub path: String,
}

impl Location {
    /// Returns scheme, host and port: who gets what is sent there.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }
}

/// Tells where a URL leads, without going there.
///
/// # Errors
/// [`HttpError::Invalid`] if it is not a URL that could be requested.
pub fn locate(url: &str) -> Result<Location, HttpError> {
    let target = Target::parse(url)?;
    let path = target.path.split('?').next().unwrap_or_default();
    Ok(Location {
        scheme: match target.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        },
        authority: target.authority(),
        path: path.to_owned(),
    })
}

/// Returns the URL that a response's `Location` means, seen from the URL that was requested; the
/// fragment is left out.
///
/// The result is a request of its own: its host is checked like any other, and headers meant for the
/// first host should stay behind when the host, port or scheme changes.
///
/// # Errors
/// [`HttpError::Invalid`] if either is not a URL that could be requested.
pub fn redirect_target(url: &str, location: &[u8]) -> Result<String, HttpError> {
    let base = parse(url)?;
    let location = std::str::from_utf8(location).ok();
    let location = location.filter(|text| is_plain(text));
    let joined = location.and_then(|text| base.join(text).ok());
    let mut joined = joined.ok_or_else(|| HttpError::invalid("the redirect leads to no URL"))?;
    joined.set_fragment(None);
    Target::of(&joined)?;
    Ok(joined.into())
}

fn parse(text: &str) -> Result<Url, HttpError> {
    // The text itself stays out of the errors: it may hold a password.
    let invalid = |why: &str| HttpError::invalid(format!("the URL {why}"));
    if !is_plain(text) {
        return Err(invalid(
            "is too long, or has spaces, control characters or backslashes",
        ));
    }
    // The parser would also take `http:host`, `http:///host` and `http://@host`.
    let authority = text
        .split_once("://")
        .map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    match authority {
        None => return Err(invalid("does not look like `https://host/path`")),
        Some("") => return Err(invalid("has no host")),
        Some(authority) if authority.contains('@') => {
            return Err(invalid(
                "has a user name or password in it; send a header instead",
            ));
        }
        Some(_) => {}
    }
    Url::parse(text).map_err(|error| invalid(&format!("is wrong: {error}")))
}

/// Refuses what the parser would drop or turn into something else.
fn is_plain(text: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    text.len() <= MAX_URL && !text.contains(odd)
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;

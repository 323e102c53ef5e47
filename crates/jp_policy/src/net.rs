//! Which hosts a call may reach.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
};
use core::{fmt, net::Ipv4Addr, str::FromStr};

/// A host name, `*.` wildcard or IPv4 address, with an optional port; without one, every port.
///
/// Only the one canonical spelling is accepted: lower case, no trailing dot, international names as
/// `xn--`, addresses as four decimal numbers. Two spellings of one host would make a check miss.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    host: String,
    port: Option<u16>,
}

/// Why a text is not a [`HostPattern`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid host `{}`: expected a name such as `api.example.com`, `*.example.com` or `example.com:8443`",
    jp_text::inline(text)
)]
pub struct HostPatternError {
    text: String,
}

impl HostPattern {
    /// Returns whether this pattern allows everything `other` allows.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let port = self.port.is_none() || self.port == other.port;
        port && self.covers_host(other)
    }

    fn covers_host(&self, other: &Self) -> bool {
        // `*.example.com` covers `a.example.com` and `*.a.example.com`, not `example.com`.
        let wildcard = self.host.strip_prefix("*.").is_some_and(|suffix| {
            let rest = other.host.strip_suffix(suffix);
            rest.is_some_and(|rest| rest.ends_with('.'))
        });
        wildcard || self.host == other.host
    }

    /// Returns what both patterns allow: the narrower host at the narrower port. Neither pattern
    /// need cover the other: `*.example.com:8443` and `a.example.com` meet in `a.example.com:8443`.
    fn meet(&self, other: &Self) -> Option<Self> {
        let port = match (self.port, other.port) {
            (Some(mine), Some(theirs)) if mine != theirs => return None,
            (mine, theirs) => mine.or(theirs),
        };
        let host = if self.covers_host(other) {
            &other.host
        } else if other.covers_host(self) {
            &self.host
        } else {
            return None;
        };
        let host = host.clone();
        Some(Self { host, port })
    }

    /// Returns every pattern that covers this one, itself included.
    fn wider(&self) -> impl Iterator<Item = Self> {
        let name = self.host.strip_prefix("*.").unwrap_or(&self.host);
        let suffixes = name.match_indices('.').filter_map(|(at, _)| name.get(at..));
        let hosts = suffixes.map(|suffix| alloc::format!("*{suffix}"));
        hosts.chain([self.host.clone()]).flat_map(|host| {
            let ports = [Some(None), self.port.map(Some)].into_iter().flatten();
            ports.map(move |port| Self {
                host: host.clone(),
                port,
            })
        })
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || HostPatternError {
            text: jp_text::shorten(text, 80).into_owned(),
        };
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(parse_port(port).ok_or_else(error)?)),
            None => (text, None),
        };
        let name = host.strip_prefix("*.").unwrap_or(host);
        let part = |part: &str| {
            !part.is_empty()
                && part.len() <= 63
                && !part.starts_with('-')
                && !part.ends_with('-')
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        if host.len() > 253 || !name.split('.').all(part) {
            return Err(error());
        }
        // `127.1`, `0177.0.0.1`, `0x7f000001` and `2130706433` are all 127.0.0.1 to a resolver, and
        // `*.0.0.1` would cover it.
        if ends_in_number(name) && host.parse::<Ipv4Addr>().is_err() {
            return Err(error());
        }
        Ok(Self {
            host: host.to_string(),
            port,
        })
    }
}

/// Reads a port as digits only: `+80` and `080` would be second spellings of `80`.
fn parse_port(text: &str) -> Option<u16> {
    let canonical = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| canonical)
}

/// Returns whether resolvers would take a name for an IPv4 address.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hex = last.strip_prefix("0x");
    last.bytes().all(|b| b.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The network a call may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Net {
    /// None at all.
    #[default]
    None,
    /// These hosts; an empty set allows none.
    Hosts(BTreeSet<HostPattern>),
    /// Every host.
    Any,
}

impl Net {
    /// Makes the set of these hosts, without redundant patterns.
    #[must_use]
    pub fn hosts(patterns: impl IntoIterator<Item = HostPattern>) -> Self {
        let all: BTreeSet<HostPattern> = patterns.into_iter().collect();
        let needed = |host: &&HostPattern| {
            let mut wider = host.wider().filter(|wide| wide != *host);
            !wider.any(|wide| all.contains(&wide))
        };
        let hosts: BTreeSet<_> = all.iter().filter(needed).cloned().collect();
        if hosts.is_empty() {
            Self::None
        } else {
            Self::Hosts(hosts)
        }
    }

    /// Returns whether no host at all can be reached.
    #[must_use]
    pub fn is_none(&self) -> bool {
        match self {
            Self::None => true,
            Self::Hosts(hosts) => hosts.is_empty(),
            Self::Any => false,
        }
    }

    /// Returns the same hosts without redundant patterns.
    fn reduced(&self) -> Self {
        match self {
            Self::Hosts(hosts) => Self::hosts(hosts.iter().cloned()),
            Self::None | Self::Any => self.clone(),
        }
    }

    /// Returns what both allow, without redundant patterns.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        // One side within the other is the case of every grant, and needs no pairs at all.
        if self.missing(other).is_none() {
            return other.reduced();
        }
        match (self, other) {
            (Self::Hosts(a), Self::Hosts(b)) if other.missing(self).is_some() => {
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
                Self::hosts(pairs.filter_map(|(x, y)| x.meet(y)))
            }
            _ => self.reduced(),
        }
    }

    /// Returns what either allows, without redundant patterns.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::None, net) | (net, Self::None) => net.reduced(),
            (Self::Hosts(a), Self::Hosts(b)) => Self::hosts(a.union(b).cloned()),
        }
    }

    /// Returns the first thing `other` allows and this does not, as a person would write it.
    #[must_use]
    pub fn missing(&self, other: &Self) -> Option<String> {
        match (self, other) {
            (Self::Any, _) | (_, Self::None) => None,
            (_, Self::Any) => Some("*".to_string()),
            (Self::None, Self::Hosts(hosts)) => hosts.first().map(ToString::to_string),
            (Self::Hosts(mine), Self::Hosts(hosts)) => hosts
                .iter()
                .find(|host| !host.wider().any(|wide| mine.contains(&wide)))
                .map(ToString::to_string),
        }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Any => f.write_str("*"),
            Self::Hosts(hosts) if hosts.is_empty() => f.write_str("none"),
            Self::Hosts(hosts) => {
                for (at, host) in hosts.iter().enumerate() {
                    write!(f, "{}{host}", if at == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[path = "net_tests.rs"]
mod tests;

//! For whom a secret is meant: scheme, host, port, and a path below which it may be sent.

use std::{fmt, str::FromStr};

use super::SecretError;
use crate::http::{Location, locate};

/// What stands before the id of a server. No address starts like that.
const SERVER: &str = "mcp:";

/// A place a secret may be sent to: `https://api.example.com`, `http://127.0.0.1:8080/v1`; or the program of
/// an MCP server of the user's own configuration: `mcp:NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audience {
    origin: String,
    /// Empty, or a path without slash at its end.
    path: String,
}

impl Audience {
    /// Tells whether the program of the MCP server with this id may have the secret.
    #[must_use]
    pub fn is_server(&self, id: &str) -> bool {
        self.origin.strip_prefix(SERVER) == Some(id)
    }

    /// Tells whether a request to this place may carry the secret.
    #[must_use]
    pub fn covers(&self, place: &Location) -> bool {
        if place.origin() != self.origin {
            return false;
        }
        if self.path.is_empty() {
            return true;
        }
        // A server that decodes first and resolves `..` later would leave the path; so would one that
        // takes `..;x` for `..`.
        let path = place.path.to_ascii_lowercase();
        if ["%2f", "%5c", "%2e", "%25", "..;"]
            .iter()
            .any(|odd| path.contains(odd))
        {
            return false;
        }
        let rest = place.path.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl FromStr for Audience {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || SecretError::Audience {
            text: jp_text::shorten(text, 80).into_owned(),
        };
        if text.contains(['?', '#', '*']) {
            return Err(error());
        }
        if let Some(id) = text.strip_prefix(SERVER) {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            return match !id.is_empty() && id.len() <= 128 && id.chars().all(plain) {
                true => Ok(Self {
                    origin: text.to_owned(),
                    path: String::new(),
                }),
                false => Err(error()),
            };
        }
        let place = locate(text).map_err(|_| error())?;
        Ok(Self {
            origin: place.origin(),
            path: place.path.trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(audience: &str, url: &str) -> bool {
        let audience: Audience = audience.parse().unwrap();
        audience.covers(&locate(url).unwrap())
    }

    #[test]
    fn scheme_host_port_and_path_must_agree() {
        let cases = [
            ("https://a.example", "https://a.example/x?y", true),
            ("https://a.example", "https://a.example:443/", true),
            ("https://a.example:443/", "https://A.example/", true),
            ("https://a.example", "http://a.example/", false),
            ("https://a.example", "https://a.example:8443/", false),
            ("https://a.example", "https://b.a.example/", false),
            ("https://a.example", "https://a.example.evil/", false),
            ("https://a.example/v1", "https://a.example/v1", true),
            ("https://a.example/v1/", "https://a.example/v1/x", true),
            ("https://a.example/v1", "https://a.example/v1?x", true),
            ("https://a.example/v1", "https://a.example/v12", false),
            ("https://a.example/v1", "https://a.example/", false),
            ("https://a.example/v1", "https://a.example/v1/../x", false),
            (
                "https://a.example/v1",
                "https://a.example/v1/%2e%2e/x",
                false,
            ),
            ("https://a.example/v1", "https://a.example/v1/..%2fx", false),
            (
                "https://a.example/v1",
                "https://a.example/v1/..%252fx",
                false,
            ),
            ("https://a.example/v1", "https://a.example/V1/x", false),
            ("https://a.example/v1", "https://a.example/v1/..;/x", false),
            ("http://127.0.0.1:1", "http://2130706433:1/", true),
        ];
        for (audience, url, expected) in cases {
            assert_eq!(covers(audience, url), expected, "{audience} {url}");
        }
    }

    #[test]
    fn a_server_is_meant_by_its_id_and_by_no_address() {
        let server: Audience = "mcp:forge".parse().unwrap();
        assert!(server.is_server("forge") && !server.is_server("forge2"));
        assert_eq!(server.to_string(), "mcp:forge");
        assert!(!covers("mcp:forge", "https://forge/") && !covers("mcp:forge", "https://mcp/"));
        assert!(
            !"https://forge"
                .parse::<Audience>()
                .unwrap()
                .is_server("forge")
        );
        for bad in ["mcp:", "mcp:a b", "mcp:a/b", "mcp:a.b"] {
            assert!(bad.parse::<Audience>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_place_is_no_audience() {
        for bad in [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "https://u:p@a.example",
            "https://a.example/?q",
            "https://a.example/#f",
            "https://*.example",
            "*",
        ] {
            assert!(bad.parse::<Audience>().is_err(), "{bad:?}");
        }
        let shown = "https://a.example/v1/".parse::<Audience>().unwrap();
        assert_eq!(shown.to_string(), "https://a.example:443/v1");
    }
}

//! `serve.hosts`, `[serve.limits]`, `[serve.oauth]` and `[serve.principals.<name>]`: who may use a server,
//! as whom, and how much of it. Only the user's own file may hold them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{app::Map, policy::PolicyConfig, scalar::scalar, stage::is_default};

/// The longest name of a principal.
const MAX_NAME: usize = 64;

/// How much of a server its principals may use at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServeLimitsConfig {
    /// Calls of one principal that run at once; 32 unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub concurrency: Option<Count>,
    /// Calls of one principal that wait for their turn; 256 unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue: Option<Count>,
    /// Streams that one principal keeps open; 128 unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub streams: Option<Count>,
    /// Calls of all principals together that run at once; 128 unless set. Beyond it they take turns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub total: Option<Count>,
}

/// Who else is let in with tokens of which authorization servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OAuthConfig {
    /// The address that clients know the server by, such as `https://jp.example.com/mcp`. Tokens must be
    /// made for it, unless an issuer says otherwise. Required.
    pub resource: WebUrl,
    /// The authorization servers whose tokens count, by names of your own. Required.
    #[schemars(with = "std::collections::BTreeMap<String, IssuerConfig>")]
    pub issuers: Map<IssuerConfig>,
}

/// An authorization server whose tokens count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssuerConfig {
    /// The `iss` of its tokens. Required.
    pub issuer: WebUrl,
    /// The `aud` that tokens must have; `serve.oauth.resource` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub audience: Option<String>,
    /// Where its keys are: a URL, or the absolute path of a file. Required.
    pub jwks: KeysPlace,
    /// How tokens may be signed; `RS256` and `ES256` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub algorithms: Option<Vec<TokenAlgorithm>>,
    /// The claim that says who it is; `sub` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub claim: Option<String>,
    /// A scope that tokens must have; none unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: Option<String>,
    /// Which principals the values of the claim are. `"*"` is every other value, and `{}` in its
    /// principal stands for the value. A value without a principal is refused.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub principals: Map<String>,
}

/// What a principal may do that is not the user.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrincipalConfig {
    /// What it may do at most, within `[policy]`; the same unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Option<PolicyConfig>,
}

/// How a token is signed: with the private half of a key pair. Shared secrets are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum TokenAlgorithm {
    /// RSA with SHA-256.
    RS256,
    /// RSA with SHA-384.
    RS384,
    /// RSA with SHA-512.
    RS512,
    /// RSA-PSS with SHA-256.
    PS256,
    /// RSA-PSS with SHA-384.
    PS384,
    /// RSA-PSS with SHA-512.
    PS512,
    /// ECDSA over P-256 with SHA-256.
    ES256,
    /// ECDSA over P-384 with SHA-384.
    ES384,
    /// Ed25519.
    EdDSA,
}

impl TokenAlgorithm {
    /// The algorithms that count unless the configuration says which.
    pub const DEFAULT: [Self; 2] = [Self::RS256, Self::ES256];
}

/// A number of things, from 1 to 100,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Count(u32);

impl Count {
    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

scalar! {
    Count: "a whole number from 1 to 100000",
    schema { "type": "integer", "minimum": 1, "maximum": 100_000 },
    read |value| value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| (1..=100_000).contains(number))
        .map(Self),
    write |this| Value::from(this.0),
}

/// A URL of the web.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct WebUrl(String);

impl WebUrl {
    /// Returns the URL as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        is_web(text).then(|| Self(text.to_owned()))
    }
}

scalar! {
    WebUrl: "a URL that starts with `https://`, or with `http://` on this machine",
    schema { "type": "string", "pattern": "^https?://" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.0),
}

/// Where keys are: a URL, or the absolute path of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct KeysPlace(String);

impl KeysPlace {
    /// Returns the place as it is written; what starts with `/` is a file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Option<Self> {
        let is_file = text.starts_with('/') && !text.chars().any(char::is_control);
        (is_file || is_web(text)).then(|| Self(text.to_owned()))
    }
}

scalar! {
    KeysPlace: "a URL that starts with `https://` (or `http://` on this machine), or the absolute path of a file",
    schema { "type": "string", "pattern": "^(https?://|/)" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.0),
}

/// Tells whether a text is a URL that nobody on the way can change what it leads to.
fn is_web(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&b);
    let rest = text.strip_prefix("https://");
    let local = || {
        let rest = text.strip_prefix("http://")?;
        let host = rest.split(['/', '?']).next()?;
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        let is_port = port.bytes().all(|b| b.is_ascii_digit());
        (is_port && ["localhost", "127.0.0.1", "[::1]"].contains(&name)).then_some(rest)
    };
    let Some(rest) = rest.or_else(local) else {
        return false;
    };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    !host.is_empty() && !host.contains('@') && text.len() <= 2_048 && text.bytes().all(plain)
}

/// Tells whether a text can be the name of a principal: it stands in logs, tables and commands.
#[must_use]
pub fn is_principal_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"._-@+".contains(&b);
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(letter)
}

/// Tells whether a text can stand in `serve.hosts`: a name or address, with a port or without.
pub(super) fn is_host(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b".-:[]".contains(&b);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_over_tls_or_stay_on_this_machine() {
        for text in [
            "https://login.example.com",
            "https://login.example.com/realms/a?x=1",
            "http://127.0.0.1:8080/keys",
            "http://localhost/keys",
            "http://[::1]:80/x",
        ] {
            assert!(is_web(text), "{text}");
        }
        for text in [
            "",
            "https://",
            "http://login.example.com",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "http://127.0.0.1:80@evil.example/",
            "https://user@login.example.com/",
            "https://login.example.com/#a",
            "https://a b",
            "ftp://x",
        ] {
            assert!(!is_web(text), "{text}");
        }
    }

    #[test]
    fn names_of_principals_are_plain_words() {
        for name in ["ci", "ada@example.com", "a.b-c_d+e", "9"] {
            assert!(is_principal_name(name), "{name}");
        }
        for name in ["", "-x", "a b", "a/b", "a\nb", "ä", &"x".repeat(65)] {
            assert!(!is_principal_name(name), "{name:?}");
        }
    }
}

//! The servers a host knows by name, with the headers that are meant for them alone.

use std::{fmt, sync::Arc};

use super::arguments::RequestArguments;
use crate::{
    CallError, Code, Scrubber, SecretError,
    http::{Location, locate},
    secrets::mentions_secret,
};

/// A header with one of these in its name holds a credential. Others, such as the version of an API,
/// must not disappear from answers.
const CREDENTIALS: [&str; 9] = [
    "auth",
    "token",
    "key",
    "secret",
    "cookie",
    "passw",
    "session",
    "credential",
    "signature",
];
/// The shortest value that is looked for: a shorter one would be found everywhere.
const MIN_SECRET: usize = 8;

/// A server that tools can name instead of spelling out its address.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpServer {
    /// The name tools use.
    pub name: String,
    /// The URL that endpoints are joined to.
    pub url: String,
    /// Headers for this server's origin and no other, in place of a guest's own. A value may have
    /// `{{secret:NAME}}` in it; the tool needs no grant for that secret, its audience holds all the
    /// same.
    pub headers: Vec<(String, String)>,
}

/// Shows no value of a header, where secrets are kept.
impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpServer")
            .field("name", &self.name)
            .field("url", &self.url)
            .field("headers", &headers)
            .finish()
    }
}

/// Why a list of servers is refused.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The URL is none.
    #[error("invalid URL of server `{}`: {reason}", jp_text::inline(name))]
    Url {
        /// The server.
        name: String,
        /// What is wrong with the URL.
        reason: String,
    },
    /// Two servers have one name.
    #[error("server `{}` is configured twice", jp_text::inline(name))]
    Twice {
        /// The name.
        name: String,
    },
    /// Their headers cannot be looked for in answers.
    #[error("cannot scrub the headers of the servers from responses")]
    Headers {
        /// Why not.
        #[source]
        source: SecretError,
    },
}

/// The servers a host knows by name.
#[derive(Debug, Clone, Default)]
pub struct HttpServers {
    servers: Arc<[HttpServer]>,
    scrubber: Scrubber,
}

/// What a request goes to.
pub(super) struct Chosen<'a> {
    /// The URL, without the arguments' query.
    pub(super) url: String,
    /// The server, if the URL leads to its origin.
    pub(super) server: Option<&'a HttpServer>,
}

impl Chosen<'_> {
    pub(super) fn name(&self) -> Option<&str> {
        self.server.map(|server| server.name.as_str())
    }
}

impl HttpServers {
    /// Checks a list of servers.
    ///
    /// # Errors
    ///
    /// When a URL is invalid, or a name is given twice.
    pub fn new(servers: Vec<HttpServer>) -> Result<Self, ServerError> {
        for (at, server) in servers.iter().enumerate() {
            let name = || server.name.clone();
            locate(&server.url).map_err(|error| ServerError::Url {
                name: name(),
                reason: error.to_string(),
            })?;
            if server.url.contains(['?', '#']) {
                let reason = "it has a query or fragment".to_owned();
                return Err(ServerError::Url {
                    name: name(),
                    reason,
                });
            }
            if servers
                .iter()
                .take(at)
                .any(|other| other.name == server.name)
            {
                return Err(ServerError::Twice { name: name() });
            }
        }
        let scrubber = Scrubber::new(servers.iter().flat_map(secret_values))
            .map_err(|source| ServerError::Headers { source })?;
        Ok(Self {
            servers: servers.into(),
            scrubber,
        })
    }

    /// Returns what scrubs the values of their headers.
    #[must_use]
    pub const fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }

    /// Finds out where a request goes: to `url`; else to `endpoint`, absolute or below the server.
    pub(super) fn choose(&self, arguments: &RequestArguments) -> Result<Chosen<'_>, CallError> {
        let server = self.named(arguments.server.as_deref())?;
        let endpoint = arguments.endpoint.as_deref();
        let absolute = match (&arguments.url, endpoint) {
            (Some(url), _) => Some(("url", url.as_str())),
            (None, Some(endpoint)) if endpoint.contains("://") => Some(("endpoint", endpoint)),
            (None, _) => None,
        };
        if let Some((field, url)) = absolute {
            let place = place(field, url)?;
            return Ok(Chosen {
                url: url.to_owned(),
                server: server.filter(|server| is_at(server, &place)),
            });
        }
        let Some(server) = server else {
            return Err(self.no_server());
        };
        let url = join(&server.url, endpoint.unwrap_or_default());
        let place = place("endpoint", &url)?;
        // Nothing that is joined to a server's URL may lead elsewhere with its headers.
        if !is_at(server, &place) {
            return Err(CallError::invalid("endpoint", "it leads to another server"));
        }
        Ok(Chosen {
            url,
            server: Some(server),
        })
    }

    /// Returns the server of that name; without a name the only one there is.
    fn named(&self, name: Option<&str>) -> Result<Option<&HttpServer>, CallError> {
        let Some(name) = name else {
            return Ok(match self.servers.as_ref() {
                [only] => Some(only),
                _ => None,
            });
        };
        let found = self.servers.iter().find(|server| server.name == name);
        if found.is_none() {
            let shown = jp_text::start(name, 80);
            let message = format!("unknown server `{shown}`: {}", self.known());
            return Err(CallError::new(Code::NotFound, message));
        }
        Ok(found)
    }

    fn no_server(&self) -> CallError {
        if self.servers.is_empty() {
            let message = "no server is configured for `http.request`; give a `url`, or add one as `[broker.http.NAME]`";
            return CallError::unconfigured(message);
        }
        let message = format!("missing argument `server`: {}", self.known());
        CallError::new(Code::InvalidArgs, message)
    }

    fn known(&self) -> String {
        let names: Vec<&str> = self.servers.iter().map(|s| s.name.as_str()).collect();
        format!("expected one of {}", names.join(", "))
    }
}

fn place(field: &str, url: &str) -> Result<Location, CallError> {
    locate(url).map_err(|error| CallError::invalid(field, &error.to_string()))
}

fn is_at(server: &HttpServer, place: &Location) -> bool {
    locate(&server.url).is_ok_and(|own| own.origin() == place.origin())
}

fn join(base: &str, endpoint: &str) -> String {
    let base = base.trim_end_matches('/');
    let endpoint = endpoint.trim_start_matches('/');
    // The slash also keeps `@evil.example` and `.evil.example` from becoming part of the host.
    match endpoint {
        "" => base.to_owned(),
        _ => format!("{base}/{endpoint}"),
    }
}

/// Returns what of a server's headers must not come back: the values, and what follows a scheme
/// such as `Bearer`.
fn secret_values(server: &HttpServer) -> impl Iterator<Item = (&str, &[u8])> {
    let secret = |(name, value): &&(String, String)| {
        let name = name.to_ascii_lowercase();
        CREDENTIALS.iter().any(|word| name.contains(word)) && !mentions_secret(value)
    };
    let values = server.headers.iter().filter(secret).flat_map(|(_, value)| {
        let after_scheme = value.split_once(' ').map(|(_, rest)| rest.trim());
        [Some(value.as_str()), after_scheme].into_iter().flatten()
    });
    values
        .filter(|value| value.trim().len() >= MIN_SECRET)
        .map(|value| (server.name.as_str(), value.as_bytes()))
}

//! Reaches the URL of an MCP server with the broker's own client: granted hosts, checked addresses, no
//! redirects, and secrets that leave this module in one direction only. What comes back is read by
//! [`arriving`].

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use jp_mcp::{HttpExchange, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, HttpServer};
use url::{Host, Url};

use super::{
    arriving,
    login::{Access, LoginError, Logins},
};
use crate::{
    Scrubber, SecretStore,
    http::{Bounds, Client, HttpError, Limits, Options, Pace, Request, Resolve, SystemResolver},
};

/// Returns the value of a secret by its name, for a URL it is meant for.
pub type SecretSource = Arc<dyn Fn(&str, &str) -> Option<String> + Send + Sync>;

/// The most that any exchange may take; each asks for less.
const LIMITS: Limits = Limits {
    max_body: 64 * 1024 * 1024,
    max_header_bytes: 64 * 1024,
    timeout: Duration::from_secs(60 * 60),
};

/// Reaches MCP servers by URL.
pub struct McpExchange {
    secrets: SecretSource,
    resolver: Arc<dyn Resolve>,
    extra_roots: Vec<Vec<u8>>,
    clients: Mutex<HashMap<String, Arc<Client>>>,
    logins: Option<Arc<Logins>>,
}

impl McpExchange {
    /// Makes an exchange that asks the system's resolver and fills in the given secrets.
    #[must_use]
    pub fn new(secrets: SecretSource) -> Self {
        Self::with(secrets, Arc::new(SystemResolver), Vec::new())
    }

    /// Makes an exchange with another resolver, and certificates (DER) trusted besides the public
    /// roots.
    #[must_use]
    pub fn with(
        secrets: SecretSource,
        resolver: Arc<dyn Resolve>,
        extra_roots: Vec<Vec<u8>>,
    ) -> Self {
        Self {
            secrets,
            resolver,
            extra_roots,
            clients: Mutex::default(),
            logins: None,
        }
    }

    /// Lets people log in to servers; the logins are kept here.
    #[must_use]
    pub fn with_logins(self, store: Arc<SecretStore>) -> Self {
        Self {
            logins: Some(Arc::new(Logins::new(store))),
            ..self
        }
    }

    pub(super) fn logins(&self) -> Option<&Arc<Logins>> {
        self.logins.as_ref()
    }

    /// Returns a secret, if it is meant for this URL.
    pub(super) fn secret(&self, name: &str, url: &str) -> Option<String> {
        (self.secrets)(name, url)
    }

    /// Returns the client that a login to a server goes through, which is the server's own.
    pub(super) fn login_client(&self, server: &HttpServer) -> Result<Arc<Client>, LoginError> {
        let made = self.make_client(server);
        made.map_err(|source| LoginError::Http {
            what: "the server",
            source,
        })
    }

    /// Returns the client of a server; making one reads all trusted certificates.
    fn client(&self, server: &HttpServer) -> Result<Arc<Client>, HttpFailure> {
        self.make_client(server).map_err(|error| failure(&error))
    }

    fn make_client(&self, server: &HttpServer) -> Result<Arc<Client>, HttpError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{:?} {}", server.net, server.url);
        if let Some(client) = clients.get(&key) {
            return Ok(Arc::clone(client));
        }
        let options = Options {
            net: server.net.clone(),
            private: false,
            limits: LIMITS,
            extra_roots: self.extra_roots.clone(),
            proxy: None,
        };
        let client = Client::with_resolver(options, Arc::clone(&self.resolver));
        let client = Arc::new(client?);
        clients.insert(key, Arc::clone(&client));
        Ok(client)
    }
}

#[async_trait]
impl HttpExchange for McpExchange {
    async fn exchange(
        &self,
        server: &HttpServer,
        request: HttpRequest,
    ) -> Result<HttpResponse, HttpFailure> {
        let client = self.client(server)?;
        let is_own = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
        let logins = self.logins.as_ref();
        let logins = logins.filter(|_| !server.headers.iter().any(is_own));
        let Some(logins) = logins else {
            return self.send(&client, server, request, None).await;
        };
        let access = logins.access(&client, server).await;
        let again = access.as_ref().map(|_| request.clone());
        let response = self.send(&client, server, request, access.as_ref()).await?;
        let refused = access.filter(|_| response.status == 401);
        if let (Some(refused), Some(again)) = (refused, again)
            && let Some(other) = logins.renewed(&client, server, &refused).await
        {
            // What was refused was not looked at, so it can be sent again.
            let response = self.send(&client, server, again, Some(&other)).await?;
            logins.note(server, &response);
            return Ok(response);
        }
        logins.note(server, &response);
        Ok(response)
    }
}

impl McpExchange {
    /// Makes one request with these credentials, and those of the configuration.
    async fn send(
        &self,
        client: &Arc<Client>,
        server: &HttpServer,
        request: HttpRequest,
        access: Option<&Access>,
    ) -> Result<HttpResponse, HttpFailure> {
        let mut filled = fill(server, &self.secrets)?;
        if let Some(access) = access {
            let value = format!("Bearer {}", access.token.as_str());
            filled.headers.push(("Authorization".to_owned(), value));
            let name = format!("the login of {}", access.name);
            filled.secrets.push((access.token.to_string(), name));
        }
        let mut headers = request.headers;
        for (name, value) in filled.headers {
            // What the protocol says about a message, the configuration cannot say otherwise.
            if !headers
                .iter()
                .any(|(own, _)| own.eq_ignore_ascii_case(&name))
            {
                headers.push((name, value.into_bytes()));
            }
        }
        let bounds = Bounds {
            max_body: request.max_body.min(LIMITS.max_body) as u64,
            timeout: request.timeout.min(LIMITS.timeout),
            // A server may work in silence for as long as the caller waits.
            pace: Pace {
                bytes: 0,
                within: LIMITS.timeout,
            },
        };
        let request = Request {
            method: request.method.to_owned(),
            url: server.url.clone(),
            headers,
            body: request.body,
            ..Request::default()
        };
        let scrubber = scrubber(&filled.secrets)?;
        arriving::request(Arc::clone(client), request, bounds, scrubber).await
    }
}

/// Makes a failure.
pub(super) fn failed(kind: HttpFailureKind, message: impl Into<String>) -> HttpFailure {
    let message = message.into();
    HttpFailure { kind, message }
}

/// Says what a failure of the client means to the caller.
pub(super) fn failure(error: &HttpError) -> HttpFailure {
    let kind = match error {
        HttpError::Denied { .. } | HttpError::Refused { .. } => HttpFailureKind::Denied,
        HttpError::Timeout { .. } => HttpFailureKind::Timeout,
        HttpError::TooLarge { part: "body", .. } => HttpFailureKind::TooLarge,
        HttpError::TooLarge { .. }
        | HttpError::Resolve { .. }
        | HttpError::Connect { .. }
        | HttpError::Tls { .. }
        | HttpError::Invalid { .. }
        | HttpError::Cancelled
        | HttpError::Other { .. } => HttpFailureKind::Failed,
    };
    let hint = match error {
        HttpError::Denied { setting, .. } => format!("; hint: {setting}"),
        _ => String::new(),
    };
    failed(kind, format!("{error}{hint}"))
}

/// The headers of a server with its secrets filled in.
struct Filled {
    headers: Vec<(String, String)>,
    /// Values and names of the secrets that were used.
    secrets: Vec<(String, String)>,
}

fn fill(server: &HttpServer, source: &SecretSource) -> Result<Filled, HttpFailure> {
    let mut filled = Filled {
        headers: Vec::with_capacity(server.headers.len()),
        secrets: Vec::new(),
    };
    for (name, template) in &server.headers {
        let mut value = String::with_capacity(template.len());
        let mut rest = template.as_str();
        while let Some((before, after)) = rest.split_once("{{secret:") {
            value.push_str(before);
            let Some((secret, after)) = after.split_once("}}") else {
                let message = format!("the header `{name}` has a `{{{{secret:` that is not closed");
                return Err(failed(HttpFailureKind::Unauthorized, message));
            };
            let secret = secret.trim();
            let Some(found) = source(secret, &server.url) else {
                let message = format!(
                    "the secret `{secret}` is not set for this server; `jp secret set {secret} --for {}` sets it",
                    server.url
                );
                return Err(failed(HttpFailureKind::Unauthorized, message));
            };
            value.push_str(&found);
            filled.secrets.push((found, secret.to_owned()));
            rest = after;
        }
        value.push_str(rest);
        filled.headers.push((name.clone(), value));
    }
    if !filled.secrets.is_empty() && !is_private_way(&server.url) {
        let message = "a secret is sent over `https` only, or to this machine";
        return Err(failed(HttpFailureKind::Denied, message));
    }
    Ok(filled)
}

/// Tells whether what is sent cannot be read on the way.
pub(super) fn is_private_way(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else {
        return false;
    };
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        // The client lets that name mean nothing else.
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || is_local
}

/// Makes what finds the secrets that were sent in what comes back.
fn scrubber(secrets: &[(String, String)]) -> Result<Scrubber, HttpFailure> {
    let known = secrets
        .iter()
        .map(|(value, name)| (name.as_str(), value.as_bytes()));
    Scrubber::new(known).map_err(|error| failed(HttpFailureKind::Failed, error.to_string()))
}

//! HTTP under a grant: the host is checked by name, then every address it resolves to, and the
//! connection goes to one of exactly those addresses. What travels over it is hyper's: HTTP/1.1, and
//! HTTP/2 where a secure server offers it.
//!
//! What holds for every request:
//!
//! - **Hosts.** Only `http` and `https`, only hosts and ports that the grant's [`Net`] covers; a host
//!   that is not granted is not even looked up. `http://2130706433/` is `127.0.0.1` before the check.
//! - **Addresses.** A name is resolved once per request. If any of its addresses is private (loopback,
//!   link-local, …) the request is denied, unless that address is granted literally or
//!   [`Options::private`] is set; multicast, unspecified, reserved and documentation addresses are
//!   never reached.
//! - **Connections** are kept for the next request of the same client, and used for it only if they
//!   lead to an address that was just checked. A client belongs to one grant; [`Clients`] makes one
//!   for each principal, tool and grant, so that none of them uses a connection of another.
//! - **Bytes.** Headers cannot smuggle lines or a second `Host`; what comes back is capped in size,
//!   header bytes, header count and time while it is read. Compressed bodies are decoded by
//!   [`unpack`] alone, up to a limit.
//! - **Nothing ambient.** No redirects followed, no cookies, no environment variables, no proxies of
//!   the system. The caller follows redirects itself with [`redirect_target`], and the next host is
//!   checked like the first.
//!
//! It does not know which tool asks, or what the answer means.

mod address;
mod admit;
mod callback;
mod clients;
mod deadline;
mod download;
mod error;
mod exchange;
mod line;
mod message;
mod pool;
mod proxy;
mod reactor;
mod resolve;
mod target;
mod unpack;
mod wire;

use std::{sync::Arc, time::Duration};

use jp_policy::Net;

pub use callback::{Callback, Query};
pub use clients::{Clients, Owner};
pub use download::{Bounds, DownloadError, Pace, Receive, Take};
pub use error::HttpError;
pub use message::{Request, Response};
pub use proxy::Proxy;
pub use resolve::{Resolve, SystemResolver};
pub use target::{Location, locate, redirect_target};
pub use unpack::{ENCODINGS, UnpackError, unpack};

use deadline::Deadline;
use pool::Pool;
use target::Target;

/// What a [`Client`] may reach and how much it may read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The hosts and ports of the grant.
    pub net: Net,
    /// Whether granted names may resolve to private, loopback and link-local addresses. Without it
    /// only such addresses are reached that `net` names literally.
    pub private: bool,
    /// The most that any request may use.
    pub limits: Limits,
    /// Certificates (DER) trusted besides the public roots, as of a company's own authority.
    pub extra_roots: Vec<Vec<u8>>,
    /// What every connection goes through; addresses are checked all the same.
    pub proxy: Option<Proxy>,
}

/// The most that one request may use; a [`Request`] can ask for less, never for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a response's body.
    pub max_body: usize,
    /// Bytes of a response's status line and headers, and of a chunked body's trailers.
    pub max_header_bytes: usize,
    /// Time from the lookup of the name to the last byte.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 10 * 1024 * 1024,
            max_header_bytes: 64 * 1024,
            timeout: Duration::from_secs(60),
        }
    }
}

/// How long a request waits for parts of its response, within the time it has as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Patience {
    /// From the lookup of the name to the head of the response.
    pub head: Option<Duration>,
    /// From one piece of the body to the next.
    pub pause: Option<Duration>,
}

/// Makes requests under one grant. Its clones share their connections.
#[derive(Clone)]
pub struct Client {
    gate: Arc<Gate>,
    limits: Limits,
}

/// What decides which connections there are.
struct Gate {
    net: Net,
    private: bool,
    resolver: Arc<dyn Resolve>,
    tls: Arc<rustls::ClientConfig>,
    max_header_bytes: usize,
    proxy: Option<Proxy>,
    pool: Arc<Pool>,
}

impl Client {
    /// Makes a client that asks the system's resolver for names.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is not a valid certificate.
    pub fn new(options: Options) -> Result<Self, HttpError> {
        Self::with_resolver(options, Arc::new(SystemResolver))
    }

    /// Makes a client that asks `resolver` for names; what it answers is checked all the same.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is not a valid certificate.
    pub fn with_resolver(options: Options, resolver: Arc<dyn Resolve>) -> Result<Self, HttpError> {
        let tls = wire::tls_config(&options.extra_roots)?;
        Ok(Self::behind(options, resolver, tls))
    }

    fn behind(
        options: Options,
        resolver: Arc<dyn Resolve>,
        tls: Arc<rustls::ClientConfig>,
    ) -> Self {
        Self {
            gate: Arc::new(Gate {
                net: options.net,
                private: options.private,
                resolver,
                tls,
                max_header_bytes: options.limits.max_header_bytes,
                proxy: options.proxy,
                pool: Arc::default(),
            }),
            limits: options.limits,
        }
    }

    /// Makes one request and reads its whole response; a redirect is a response like any other.
    ///
    /// # Errors
    /// See [`HttpError`]; a status of 400 and more is not an error.
    pub fn request(&self, request: &Request) -> Result<Response, HttpError> {
        self.request_until(request, &|| false)
    }

    /// Makes one request like [`Client::request`], and gives up with [`HttpError::Cancelled`] within a
    /// few milliseconds of `stop` returning true.
    ///
    /// # Errors
    /// See [`HttpError`]; a status of 400 and more is not an error.
    pub fn request_until(
        &self,
        request: &Request,
        stop: &dyn Fn() -> bool,
    ) -> Result<Response, HttpError> {
        self.request_patiently(request, Patience::default(), stop)
    }

    /// Makes one request like [`Client::request_until`], and waits no longer than `patience` for the
    /// parts of its response.
    ///
    /// # Errors
    /// See [`HttpError`]; a status of 400 and more is not an error.
    pub fn request_patiently(
        &self,
        request: &Request,
        patience: Patience,
        stop: &dyn Fn() -> bool,
    ) -> Result<Response, HttpError> {
        let target = Target::parse(&request.url)?;
        let prepared = message::prepare(request, &target)?;
        let limits = self.limits_of(request);
        let deadline = Deadline::start(limits.timeout, stop);
        let (head, mut body) =
            deadline.wait_within(patience.head, self.open(&prepared, &target))??;
        let limit = limits.max_body;
        let too_large = HttpError::TooLarge {
            part: "body",
            limit,
        };
        // What is announced is compared with the limit before anything is read.
        if body.announced() > limit as u64 {
            return Err(too_large);
        }
        let mut bytes = Vec::new();
        while let Some(piece) = deadline.wait_within(patience.pause, body.next())?? {
            if piece.len() > limit.saturating_sub(bytes.len()) {
                return Err(too_large);
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(Response {
            body: bytes,
            ..head
        })
    }

    /// Narrows the client's limits to what the request asks for.
    fn limits_of(&self, request: &Request) -> Limits {
        let most = self.limits;
        Limits {
            max_body: request.max_body.unwrap_or(most.max_body).min(most.max_body),
            max_header_bytes: most.max_header_bytes,
            timeout: request.timeout.unwrap_or(most.timeout).min(most.timeout),
        }
    }
}

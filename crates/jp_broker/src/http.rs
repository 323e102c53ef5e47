//! One HTTP/1.1 exchange under a grant: the host is checked by name, then every address it resolves
//! to, and the connection goes to one of exactly those addresses.
//!
//! What holds for every request:
//!
//! - **Hosts.** Only `http` and `https`, only hosts and ports that the grant's [`Net`] covers; a host
//!   that is not granted is not even looked up. `http://2130706433/` is `127.0.0.1` before the check.
//! - **Addresses.** A name is resolved once. If any of its addresses is private (loopback,
//!   link-local, …) the request is denied, unless that address is granted literally or
//!   [`Options::private`] is set; multicast, unspecified, reserved and documentation addresses are
//!   never reached.
//! - **Bytes.** Headers cannot smuggle lines or a second `Host`; what comes back is capped in size,
//!   header bytes, header count and time while it is read. Bodies pass as they are: nothing is
//!   decompressed, so nothing can unfold.
//! - **Nothing ambient.** No redirects followed, no cookies, no proxies, no environment variables, no
//!   connection kept. Whoever follows a redirect asks again with [`redirect_target`], and the next
//!   host is checked like the first.
//!
//! It does not know which tool asks, or what the answer means.

mod address;
mod admit;
mod body;
mod deadline;
mod download;
mod error;
mod head;
mod message;
mod resolve;
mod target;
mod wire;

use std::{sync::Arc, time::Duration};

use jp_policy::Net;

pub use download::{Bounds, DownloadError, Pace, Receive, Take};
pub use error::HttpError;
pub use message::{Request, Response};
pub use resolve::{Resolve, SystemResolver};
pub use target::{Location, locate, redirect_target};

use deadline::Deadline;
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

/// Makes requests under one grant.
pub struct Client {
    net: Net,
    private: bool,
    limits: Limits,
    resolver: Arc<dyn Resolve>,
    tls: Arc<rustls::ClientConfig>,
}

impl Client {
    /// Makes a client that asks the system's resolver for names.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is no certificate.
    pub fn new(options: Options) -> Result<Self, HttpError> {
        Self::with_resolver(options, Arc::new(SystemResolver))
    }

    /// Makes a client that asks `resolver` for names; what it answers is checked all the same.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is no certificate.
    pub fn with_resolver(options: Options, resolver: Arc<dyn Resolve>) -> Result<Self, HttpError> {
        Ok(Self {
            tls: wire::tls_config(&options.extra_roots)?,
            net: options.net,
            private: options.private,
            limits: options.limits,
            resolver,
        })
    }

    /// Makes one request and reads its whole response; a redirect is a response like any other.
    ///
    /// # Errors
    /// See [`HttpError`]; a status of 400 and more is no error.
    pub fn request(&self, request: &Request) -> Result<Response, HttpError> {
        self.request_until(request, &|| false)
    }

    /// Makes one request like [`Client::request`], and gives up with [`HttpError::Cancelled`] within a
    /// few milliseconds of `stop` returning true.
    ///
    /// # Errors
    /// See [`HttpError`]; a status of 400 and more is no error.
    pub fn request_until(
        &self,
        request: &Request,
        stop: &dyn Fn() -> bool,
    ) -> Result<Response, HttpError> {
        let target = Target::parse(&request.url)?;
        let head = message::encode_head(request, &target)?;
        let limits = self.limits_of(request);
        let deadline = Deadline::start(limits.timeout, stop);
        let addresses = self.admit(&target, &deadline)?;
        let socket = wire::connect(&target, &addresses, &deadline)?;
        let mut connection = wire::open(&target, socket, &self.tls, &deadline)?;
        head::exchange(&mut connection, request, &head, &limits)
            .map_err(|error| error.into_http(&target, &deadline))
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

//! What reaches a URL for this crate. The host's own client implements it, with all its rules.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use crate::HttpServer;

/// Makes HTTP requests under the rules of the host.
#[async_trait]
pub trait HttpExchange: Send + Sync {
    /// Makes one request to the server's URL with the server's headers, and reads the head of the
    /// response; its body comes as it arrives.
    ///
    /// Hosts and addresses are checked against the server's grant, secrets are filled into its
    /// headers, no redirect is followed, and what comes back holds none of those secrets. Dropping
    /// the future ends the request, and so does dropping the body.
    async fn exchange(
        &self,
        server: &HttpServer,
        request: HttpRequest,
    ) -> Result<HttpResponse, HttpFailure>;
}

/// A request to a server's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// `POST`, `GET` or `DELETE`.
    pub method: &'static str,
    /// Headers of the protocol, besides those of the server.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The message.
    pub body: Vec<u8>,
    /// The time the whole response may take.
    pub timeout: Duration,
    /// The most bytes the response may have.
    pub max_body: usize,
}

/// A response whose head was read.
pub struct HttpResponse {
    /// The status, such as 200.
    pub status: u16,
    /// Headers in any case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// What follows.
    pub body: Box<dyn HttpBody>,
}

/// The body of a response, as it arrives. Dropping it closes the connection.
#[async_trait]
pub trait HttpBody: Send {
    /// Waits for the next bytes; `None` is the end of a whole body. A caller that stops waiting loses none.
    async fn next(&mut self) -> Option<Result<Vec<u8>, HttpFailure>>;
}

impl HttpResponse {
    /// Returns the first value of a header that is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.find_map(|(_, value)| std::str::from_utf8(value).ok())
    }
}

/// Shows no body and no value of a header.
impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpFailure {
    /// What kind of failure it was.
    pub kind: HttpFailureKind,
    /// What happened, for people.
    pub message: String,
}

/// The kinds of failures that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFailureKind {
    /// The grant does not cover the host, or the address may not be reached.
    Denied,
    /// The response was not complete in time.
    Timeout,
    /// The response was larger than it may be.
    TooLarge,
    /// The server wants a credential it was not given.
    Unauthorized,
    /// The server answered with a status that says no, or with none of what it was asked for.
    Answered,
    /// The server answered, and not with a message of the protocol.
    NoMessage,
    /// Anything else.
    Failed,
}

impl HttpFailureKind {
    /// Returns what the failure says of a server.
    pub(crate) const fn verdict(self) -> &'static str {
        match self {
            Self::Unauthorized | Self::Answered | Self::NoMessage => "cannot be used",
            Self::Denied | Self::Timeout | Self::TooLarge | Self::Failed => "could not be reached",
        }
    }
}

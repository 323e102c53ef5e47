//! What of the network is not a tool's own: `curl` in the virtual bash, and documents that the user's
//! configuration names. All of it goes through the one HTTP client of the product.

use std::{sync::Arc, time::Duration};

use jp_bash::Transport;
use jp_broker::http::{Client, HttpError, Limits, Options, Proxy, Request, locate};
use jp_policy::Net;

/// Reaches the hosts of a grant and no others.
struct Granted(Client);

/// Returns what lets a script reach the hosts of a grant; nothing when it grants none.
///
/// # Errors
///
/// When no secure connections can be made at all.
pub(crate) fn transport(net: &Net) -> Result<Option<Arc<dyn Transport>>, HttpError> {
    if net.is_none() {
        return Ok(None);
    }
    let client = Client::new(Options {
        net: net.clone(),
        ..Options::default()
    })?;
    Ok(Some(Arc::new(Granted(client))))
}

impl Transport for Granted {
    fn request(
        &self,
        request: &jp_bash::HttpRequest,
    ) -> Result<jp_bash::HttpResponse, jp_bash::HttpError> {
        let response = self.0.request(&Request {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            timeout: request.timeout,
            max_body: usize::try_from(request.max_body).ok(),
        });
        match response {
            Ok(response) => Ok(jp_bash::HttpResponse {
                status: response.status,
                reason: response.reason,
                headers: response.headers,
                body: response.body,
            }),
            Err(error) => Err(translate(error)),
        }
    }
}

fn translate(error: HttpError) -> jp_bash::HttpError {
    use jp_bash::HttpError as Theirs;
    match error {
        HttpError::Denied { ref setting, .. } => {
            Theirs::Denied(format!("{error}; it needs `{setting}`"))
        }
        HttpError::Resolve { host, .. } => Theirs::Resolve(host),
        HttpError::Refused { .. } | HttpError::Connect { .. } => Theirs::Connect(error.to_string()),
        HttpError::Timeout { .. } => Theirs::Timeout,
        HttpError::TooLarge {
            part: "body",
            limit,
        } => Theirs::TooLarge(limit as u64),
        HttpError::TooLarge { .. }
        | HttpError::Tls { .. }
        | HttpError::Invalid { .. }
        | HttpError::Cancelled
        | HttpError::Other { .. } => Theirs::Other(error.to_string()),
    }
}

/// A document must be there after this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a document cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The server could not be reached, or said too much.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The URL has no host that could be granted.
    #[error("invalid URL: expected one with a host")]
    NoHost,
    /// The server has said no.
    #[error("the server answered with status {status}")]
    Status {
        /// The status.
        status: u16,
    },
}

/// Fetches a document of at most `most` bytes from a URL of the user's own configuration, and from nowhere
/// else: redirects are not followed, and addresses of this machine and the networks behind it are reached
/// only where the URL itself names them.
///
/// # Errors
///
/// When it cannot be had.
pub fn fetch_document(
    url: &str,
    proxy: Option<&str>,
    most: usize,
) -> Result<Vec<u8>, DocumentError> {
    let authority = locate(url)?.authority;
    let host = authority
        .rsplit_once(':')
        .map_or(authority.as_str(), |(host, _)| host);
    let is_local = host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok();
    let granted = authority.parse().map_err(|_| DocumentError::NoHost)?;
    let client = Client::new(Options {
        net: Net::hosts([granted]),
        private: is_local,
        limits: Limits {
            max_body: most,
            timeout: PATIENCE,
            ..Limits::default()
        },
        proxy: proxy.filter(|_| !is_local).map(Proxy::new).transpose()?,
        ..Options::default()
    })?;
    let response = client.request(&Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: vec![("Accept".to_owned(), b"application/json".to_vec())],
        ..Request::default()
    })?;
    match response.status {
        200 => Ok(response.body),
        status => Err(DocumentError::Status { status }),
    }
}

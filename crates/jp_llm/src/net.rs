//! The network of scripts: `curl` in the virtual bash, through the one HTTP client of the product.

use std::sync::Arc;

use jp_bash::Transport;
use jp_broker::http::{Client, HttpError, Options, Request};
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

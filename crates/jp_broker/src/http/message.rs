//! Requests and responses, and the bytes of a request's head. Does not know the network.

use std::{fmt, time::Duration};

use super::{HttpError, error::shown, target::Target};

/// Larger request heads are refused; servers refuse them too.
const MAX_HEAD: usize = 64 * 1024;
/// More request headers are refused.
const MAX_HEADERS: usize = 128;

/// A request to make. Only what stands here is sent, besides `Host`, `Content-Length` and
/// `Connection: close`.
#[derive(Clone, Default)]
pub struct Request {
    /// The method, such as `GET`; `CONNECT` and `TRACE` are refused.
    pub method: String,
    /// An absolute `http` or `https` URL without user name and password.
    pub url: String,
    /// Headers in the order and spelling they are sent in.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; empty means none.
    pub body: Vec<u8>,
    /// Less time than the client's limit.
    pub timeout: Option<Duration>,
    /// Fewer bytes of response body than the client's limit.
    pub max_body: Option<usize>,
}

/// A response, exactly as the server sent it, apart from the chunks of its body.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// The words after the status, which may be missing.
    pub reason: String,
    /// Headers in the order and spelling they came in.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, still compressed if the server compressed it.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the first value of a header, whose name is given in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let mut named = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.as_slice())
    }
}

/// Shows no value of a header and no query, where secrets travel.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = Target::parse(&self.url);
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &target.map(|target| target.authority()).ok())
            .field("headers", &names(&self.headers))
            .field("body", &self.body.len())
            .field("timeout", &self.timeout)
            .field("max_body", &self.max_body)
            .finish()
    }
}

/// Shows no value of a header and no body, where secrets travel.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("reason", &self.reason)
            .field("headers", &names(&self.headers))
            .field("body", &self.body.len())
            .finish()
    }
}

fn names(headers: &[(String, Vec<u8>)]) -> Vec<&str> {
    headers.iter().map(|(name, _)| name.as_str()).collect()
}

/// Writes the request line and the headers.
pub(super) fn encode_head(request: &Request, target: &Target) -> Result<Vec<u8>, HttpError> {
    check_method(&request.method)?;
    if request.headers.len() > MAX_HEADERS {
        let reason = format!("it has more than {MAX_HEADERS} headers");
        return Err(HttpError::invalid(reason));
    }
    let host = target.host_header();
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: {host}\r\n",
        request.method, target.path
    )
    .into_bytes();
    for (name, value) in &request.headers {
        check_header(name, value)?;
        match special(name, value, &host, request.body.len())? {
            Special::Ours => {}
            Special::No => {
                let parts: [&[u8]; 4] = [name.as_bytes(), b": ", value, b"\r\n"];
                head.extend(parts.concat());
            }
        }
        if head.len() > MAX_HEAD {
            let reason = format!("its headers take more than {MAX_HEAD} bytes");
            return Err(HttpError::invalid(reason));
        }
    }
    let expects_body = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    if expects_body || !request.body.is_empty() {
        head.extend(format!("Content-Length: {}\r\n", request.body.len()).into_bytes());
    }
    head.extend(b"Connection: close\r\n\r\n");
    Ok(head)
}

fn check_method(method: &str) -> Result<(), HttpError> {
    let name = shown(method);
    if method.len() > 32 || !is_token(method) {
        return Err(HttpError::invalid(format!("`{name}` is no method")));
    }
    // CONNECT turns a proxy into a relay to anywhere; TRACE echoes headers that others filled in.
    if ["CONNECT", "TRACE"]
        .iter()
        .any(|no| no.eq_ignore_ascii_case(method))
    {
        return Err(HttpError::invalid(format!(
            "the method `{name}` is not supported"
        )));
    }
    Ok(())
}

fn check_header(name: &str, value: &[u8]) -> Result<(), HttpError> {
    if !is_token(name) {
        let reason = format!("`{}` is no header name", shown(name));
        return Err(HttpError::invalid(reason));
    }
    // A line break would start a header, or a request, that nobody checked.
    if value
        .iter()
        .any(|byte| byte.is_ascii_control() && *byte != b'\t')
    {
        let reason = format!(
            "the value of header `{}` has a control character",
            shown(name)
        );
        return Err(HttpError::invalid(reason));
    }
    Ok(())
}

/// Whether a header is one that the client writes itself.
enum Special {
    No,
    Ours,
}

/// Lets a caller repeat what the client says anyway, and nothing else about host and framing.
fn special(name: &str, value: &[u8], host: &str, body: usize) -> Result<Special, HttpError> {
    let is = |text: &str| value.trim_ascii().eq_ignore_ascii_case(text.as_bytes());
    let agrees = match name.to_ascii_lowercase().as_str() {
        "host" => is(host),
        "content-length" => is(&body.to_string()),
        // Copied from a browser; the client closes all the same.
        "connection" => is("close") || is("keep-alive"),
        "transfer-encoding" | "upgrade" => false,
        _ => return Ok(Special::No),
    };
    if agrees {
        return Ok(Special::Ours);
    }
    let reason =
        format!("the header `{name}` follows from the request and cannot be set otherwise");
    Err(HttpError::invalid(reason))
}

fn is_token(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(token)
}

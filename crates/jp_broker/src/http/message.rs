//! Requests and responses, and what of them is sent. Does not know the network.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::Full;

use super::{
    HttpError,
    error::shown,
    pool::Repeatable,
    target::{Scheme, Target},
    wire::Protocol,
};

/// Larger request heads are refused; servers refuse them too.
const MAX_HEAD: usize = 64 * 1024;
/// More request headers are refused.
const MAX_HEADERS: usize = 128;

/// A request to make. Only what stands here is sent, besides `Host` and `Content-Length`.
#[derive(Clone, Default)]
pub struct Request {
    /// The method, such as `GET`; `CONNECT` and `TRACE` are refused.
    pub method: String,
    /// An absolute `http` or `https` URL without user name and password.
    pub url: String,
    /// Headers; how their names are spelled is up to the protocol.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; empty means none.
    pub body: Vec<u8>,
    /// Less time than the client's limit.
    pub timeout: Option<Duration>,
    /// Fewer bytes of response body than the client's limit.
    pub max_body: Option<usize>,
}

/// A response as the server sent it, apart from the framing of its body.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// The words after the status, which may be missing; HTTP/2 has none.
    pub reason: String,
    /// Headers with their names in lower case; those of one name stand together in their order.
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

/// A request that was checked, in the form in which it is sent.
pub(super) struct Prepared {
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

/// Checks what is to be sent.
pub(super) fn prepare(request: &Request, target: &Target) -> Result<Prepared, HttpError> {
    check_method(&request.method)?;
    if request.headers.len() > MAX_HEADERS {
        let reason = format!("it has more than {MAX_HEADERS} headers");
        return Err(HttpError::invalid(reason));
    }
    let (host, mut size) = (target.host_header(), target.path.len());
    let mut headers = HeaderMap::with_capacity(request.headers.len() + 2);
    for (name, value) in &request.headers {
        check_header(name, value)?;
        size += name.len() + value.len() + 4;
        if size > MAX_HEAD {
            let reason = format!("its headers take more than {MAX_HEAD} bytes");
            return Err(HttpError::invalid(reason));
        }
        match special(name, value, &host, request.body.len())? {
            Special::Ours => {}
            Special::No => {
                let (name, value) = sent(name, value)?;
                headers.append(name, value);
            }
        }
    }
    let expects_body = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    if expects_body || !request.body.is_empty() {
        headers.insert(header::CONTENT_LENGTH, request.body.len().into());
    }
    let method = Method::from_bytes(request.method.as_bytes());
    Ok(Prepared {
        method: method.map_err(|_| HttpError::invalid("it has no valid method"))?,
        headers,
        body: Bytes::copy_from_slice(&request.body),
    })
}

fn sent(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), HttpError> {
    let invalid = || HttpError::invalid(format!("the header `{}` cannot be sent", shown(name)));
    let mut value = HeaderValue::from_bytes(value).map_err(|_| invalid())?;
    // Any of them may hold a secret, which no table of a connection needs to remember.
    value.set_sensitive(true);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
    Ok((name, value))
}

impl Prepared {
    /// Tells whether the request may be sent twice: RFC 9110, section 9.2.2.
    pub(super) fn repeatable(&self) -> Repeatable {
        match self.method.is_idempotent() {
            true => Repeatable::Yes,
            false => Repeatable::No,
        }
    }

    /// Makes the request as a protocol wants it.
    pub(super) fn for_protocol(
        &self,
        target: &Target,
        protocol: Protocol,
    ) -> Result<http::Request<Full<Bytes>>, HttpError> {
        let invalid = |_| HttpError::invalid("the URL cannot be sent");
        let host = target.host_header();
        let (uri, headers) = match protocol {
            Protocol::Http1 => {
                let mut headers = HeaderMap::with_capacity(self.headers.len() + 1);
                let host = HeaderValue::from_str(&host);
                let host = host.map_err(|_| HttpError::invalid("the host cannot be sent"))?;
                headers.insert(header::HOST, host);
                headers.extend(self.headers.clone());
                (target.path.clone(), headers)
            }
            Protocol::Http2 => {
                let scheme = match target.scheme {
                    Scheme::Http => "http",
                    Scheme::Https => "https",
                };
                let uri = format!("{scheme}://{host}{}", target.path);
                (uri, self.headers.clone())
            }
        };
        let mut request = http::Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri.parse().map_err(invalid)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn check_method(method: &str) -> Result<(), HttpError> {
    let name = shown(method);
    if method.len() > 32 || !is_token(method) {
        return Err(HttpError::invalid(format!(
            "invalid method `{name}`: expected a word such as `GET`"
        )));
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
        let reason = format!(
            "invalid header name `{}`: expected letters, digits and `-`",
            shown(name)
        );
        return Err(HttpError::invalid(reason));
    }
    // A line break would start a header, or a request, that was not checked.
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
        // Copied from elsewhere; how long a connection lasts is up to the client all the same.
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

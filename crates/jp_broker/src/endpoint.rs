//! Endpoints of services that the host configures: models, speech, search. They speak JSON, take one
//! key, and are reached under the calling tool's own network grant.

use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    CallError, Code, SecretName,
    http::{ENCODINGS, Location, Request, Response, locate},
    web::{Job, USER_AGENT},
};

/// How much of an upstream's own words about a failure is passed on.
const EXCERPT: usize = 300;

/// Where a service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What the paths of requests are added to, such as `https://api.example.com/v1`.
    pub base_url: String,
    /// The secret sent as `Authorization: Bearer …`. Its audience must cover the URL; the tool needs
    /// no grant for it.
    pub key: Option<SecretName>,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Endpoint {
    /// Makes an endpoint without key, that has two minutes to answer.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key: None,
            timeout: Duration::from_secs(120),
        }
    }

    /// Adds a key.
    #[must_use]
    pub fn with_key(mut self, name: SecretName) -> Self {
        self.key = Some(name);
        self
    }
}

/// A request to an [`Endpoint`].
#[derive(Debug, Clone, PartialEq)]
pub struct ApiRequest {
    /// What is added to the endpoint's URL, with its query: `/chat/completions`.
    pub path: String,
    /// What is sent.
    pub body: ApiBody,
}

/// What is sent to an [`Endpoint`].
#[derive(Debug, Clone, PartialEq)]
pub enum ApiBody {
    /// Nothing: a `GET`.
    None,
    /// JSON, as a `POST`.
    Json(Value),
    /// Anything else, as a `POST`.
    Bytes {
        /// What it is.
        content_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// Asks an endpoint and returns its JSON, scrubbed.
pub(crate) fn ask(job: &Job, endpoint: &Endpoint, request: ApiRequest) -> Result<Value, CallError> {
    let url = format!(
        "{}{}",
        endpoint.base_url.trim_end_matches('/'),
        request.path
    );
    let place = locate(&url).map_err(|error| {
        CallError::unconfigured(format!("the configured endpoint cannot be used: {error}"))
    })?;
    let mut headers = vec![
        ("Accept".to_owned(), b"application/json".to_vec()),
        ("Accept-Encoding".to_owned(), ENCODINGS.into()),
        ("User-Agent".to_owned(), USER_AGENT.into()),
    ];
    let (method, body) = match request.body {
        ApiBody::None => ("GET", Vec::new()),
        ApiBody::Json(json) => {
            headers.push(("Content-Type".to_owned(), b"application/json".to_vec()));
            ("POST", json.to_string().into_bytes())
        }
        ApiBody::Bytes {
            content_type,
            bytes,
        } => {
            headers.push(("Content-Type".to_owned(), content_type.into_bytes()));
            ("POST", bytes)
        }
    };
    if let Some(key) = &endpoint.key {
        let value = bearer(job, endpoint, key, &place)?;
        headers.push(("Authorization".to_owned(), value.to_vec()));
    }
    let request = Request {
        method: method.to_owned(),
        url,
        headers,
        body,
        ..Request::default()
    };
    let response = job.send(&job.client(endpoint.timeout)?, request)?;
    read(job, &place, &response)
}

fn bearer(
    job: &Job,
    endpoint: &Endpoint,
    key: &SecretName,
    place: &Location,
) -> Result<Zeroizing<Vec<u8>>, CallError> {
    let unavailable = |problem: &str| {
        CallError::unconfigured(format!("the endpoint needs secret '{key}', {problem}"))
    };
    let store = job.services.secrets.as_ref();
    let store = store.ok_or_else(|| unavailable("and this host has no secret store"))?;
    let audience = &endpoint.base_url;
    let hint = format!("which is not stored; `jp secret set {key} --for {audience}` stores it");
    let secret = store.find(key)?.ok_or_else(|| unavailable(&hint))?;
    if !secret.is_meant_for(place) {
        let problem = format!("which is not meant for {}{}", place.origin(), place.path);
        return Err(unavailable(&problem));
    }
    let mut value = Zeroizing::new(b"Bearer ".to_vec());
    value.extend(secret.value.expose().trim_ascii());
    Ok(value)
}

fn read(job: &Job, place: &Location, response: &Response) -> Result<Value, CallError> {
    let (host, status) = (&place.authority, response.status);
    let body = job.unpack(response)?;
    if !(200..=299).contains(&status) {
        // Scrubbed before it is cut: half a secret would pass.
        let text = job.scrubber.scrub_bytes(&body);
        let text = String::from_utf8_lossy(&text);
        let excerpt = jp_text::start(text.trim(), EXCERPT);
        let message = format!("{host} answered {status}: {excerpt}");
        let mut error = CallError::new(Code::Upstream, message);
        error.retryable = status == 429 || status >= 500;
        return Err(error);
    }
    let json = serde_json::from_slice(&body);
    let mut json: Value = json.map_err(|_| unexpected(host, "no JSON"))?;
    job.scrubber.scrub_json(&mut json);
    Ok(json)
}

/// Makes the error of an answer that is not what the protocol says.
pub(crate) fn unexpected(who: &str, what: &str) -> CallError {
    CallError::new(Code::Upstream, format!("{who} answered with {what}"))
}

/// Makes the error of a service that is not configured.
pub(crate) fn not_configured(name: &str, setting: &str) -> CallError {
    CallError::unconfigured(format!(
        "`{name}` has nothing behind it on this host; configure `{setting}`"
    ))
}

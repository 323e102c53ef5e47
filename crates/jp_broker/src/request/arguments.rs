//! What a guest asks for, checked before anything is done with it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use crate::{CallError, arguments::kinds::Positive, secrets::mentions_secret};

/// How long a request takes at most when it does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of `http.request`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RequestArguments {
    /// GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS.
    pub(super) method: String,
    /// The whole address; counts before endpoint.
    pub(super) url: Option<String>,
    /// A path of the server, or a whole address.
    pub(super) endpoint: Option<String>,
    /// The configured server; not needed if there is only one.
    pub(super) server: Option<String>,
    /// Headers to send, as strings.
    pub(super) headers: Option<Map<String, Value>>,
    /// Parameters for the query string.
    query: Option<Map<String, Value>>,
    /// The body as text.
    body: Option<String>,
    /// The body as JSON.
    json: Option<Value>,
    /// How long to wait at most.
    timeout_seconds: Option<Positive>,
}

/// A body, and what it is if the guest does not say.
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) is_json: bool,
}

impl RequestArguments {
    /// Refuses placeholders where they are not filled in: a URL ends up in logs, and a body or query
    /// in places its reader may show to others.
    pub(super) fn refuse_secrets_outside_headers(&self) -> Result<(), CallError> {
        let json = |value: &Value| mentions_secret(&value.to_string());
        let text = |value: &Option<String>| value.as_deref().is_some_and(mentions_secret);
        let query = |query: &Map<String, Value>| {
            query.keys().any(|key| mentions_secret(key)) || query.values().any(json)
        };
        let fields = [
            ("method", mentions_secret(&self.method)),
            ("server", text(&self.server)),
            ("url", text(&self.url)),
            ("endpoint", text(&self.endpoint)),
            ("query", self.query.as_ref().is_some_and(query)),
            ("body", text(&self.body)),
            ("json", self.json.as_ref().is_some_and(json)),
        ];
        match fields.iter().find(|(_, mentions)| *mentions) {
            None => Ok(()),
            Some((field, _)) => Err(CallError::invalid(
                field,
                "it has a placeholder for a secret, and secrets go into the values of headers only",
            )),
        }
    }

    /// Returns how long the request may take; more than the host allows is an error, not less time.
    pub(super) fn timeout(&self, most: Duration) -> Result<Duration, CallError> {
        let Some(Positive(seconds)) = self.timeout_seconds else {
            return Ok(DEFAULT_TIMEOUT.min(most));
        };
        let asked = Duration::try_from_secs_f64(seconds).ok();
        let asked = asked.filter(|asked| !asked.is_zero() && *asked <= most);
        asked.ok_or_else(|| {
            let problem = format!("expected more than 0 and at most {}", most.as_secs());
            CallError::invalid("timeout_seconds", &problem)
        })
    }

    /// Adds the query to a URL.
    pub(super) fn with_query(&self, url: &str) -> Result<String, CallError> {
        let Some(query) = self.query.as_ref().filter(|query| !query.is_empty()) else {
            return Ok(url.to_owned());
        };
        let mut url =
            Url::parse(url).map_err(|error| CallError::invalid("url", &error.to_string()))?;
        {
            let mut pairs = url.query_pairs_mut();
            for (name, value) in query {
                let values = match value {
                    Value::Array(values) => values.as_slice(),
                    one => std::slice::from_ref(one),
                };
                for value in values {
                    pairs.append_pair(name, &scalar(name, value)?);
                }
            }
        }
        Ok(url.into())
    }

    /// Returns the bytes to send.
    pub(super) fn body(&self) -> Result<Body, CallError> {
        match (&self.body, &self.json) {
            (Some(_), Some(_)) => Err(CallError::invalid(
                "json",
                "it cannot be sent together with `body`",
            )),
            (None, Some(json)) => Ok(Body {
                bytes: json.to_string().into_bytes(),
                is_json: true,
            }),
            (Some(text), None) => Ok(Body {
                is_json: serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(),
                bytes: text.clone().into_bytes(),
            }),
            (None, None) => Ok(Body {
                bytes: Vec::new(),
                is_json: false,
            }),
        }
    }
}

fn scalar(name: &str, value: &Value) -> Result<String, CallError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let field = format!("query.{}", jp_text::inline(name));
            Err(CallError::invalid(
                &field,
                "expected a string, a number, a boolean, or a list of them",
            ))
        }
    }
}

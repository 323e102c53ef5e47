//! What a guest gets of a response.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::{Map, Value};

use super::follow::Followed;
use crate::{CallError, Code, answer::Status, http::Response, web::Job};

/// Response headers whose values are credentials.
const SECRET: [&str; 10] = [
    "set-cookie",
    "set-cookie2",
    "cookie",
    "authorization",
    "proxy-authorization",
    "authentication-info",
    "proxy-authentication-info",
    "x-api-key",
    "x-auth-token",
    "x-amz-security-token",
];
const REDACTED: &str = "[redacted]";

/// What came back.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct HttpAnswer {
    status: Status,
    server: Option<String>,
    http_status: u16,
    #[cfg_attr(test, schemars(with = "Map<String, Value>"))]
    headers: Value,
    text: String,
    json: Value,
    encoding: &'static str,
    // Where the response comes from, if that is another place than the one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Makes the answer of a response, without secrets.
pub(super) fn answer(
    job: &Job,
    server: Option<&str>,
    followed: Followed,
) -> Result<HttpAnswer, CallError> {
    let response = &followed.response;
    let body = job.unpack(response)?;
    let body = job.scrubber.scrub_bytes(&body);
    let (text, encoding) = match std::str::from_utf8(&body) {
        Ok(text) => (text.to_owned(), "utf-8"),
        Err(_) => bytes(job, body)?,
    };
    let mut json = match encoding {
        "utf-8" => serde_json::from_str(&text).unwrap_or(Value::Null),
        _ => Value::Null,
    };
    // Once more: `\u0068` is a letter only now.
    job.scrubber.scrub_json(&mut json);
    let mut headers = Value::Object(headers(response));
    job.scrubber.scrub_json(&mut headers);
    let scrubbed = |url: &String| job.scrubber.scrub(url).into_owned();
    Ok(HttpAnswer {
        status: Status::Ok,
        server: server.map(str::to_owned),
        http_status: response.status,
        headers,
        text,
        json,
        encoding,
        url: followed.redirected_to.as_ref().map(scrubbed),
    })
}

/// Returns what stands in the answer for bytes that are not text: a name for those who can take them by it.
fn bytes(job: &Job, body: Cow<'_, [u8]>) -> Result<(String, &'static str), CallError> {
    let Some(given) = &job.caller.given else {
        return Ok((BASE64.encode(&body), "base64"));
    };
    match given.keep(body.into_owned()) {
        Ok(name) => Ok((name, "blob")),
        Err(full) => Err(CallError::new(Code::OutputLimit, full.to_string())),
    }
}

/// Returns the headers under lower-case names; several of one name are joined by commas.
fn headers(response: &Response) -> Map<String, Value> {
    let mut headers = Map::new();
    for (name, value) in &response.headers {
        let name = name.to_ascii_lowercase();
        let value = match SECRET.contains(&name.as_str()) {
            true => REDACTED.into(),
            false => String::from_utf8_lossy(value),
        };
        match headers.get_mut(&name) {
            Some(Value::String(before)) => {
                before.push_str(", ");
                before.push_str(&value);
            }
            _ => {
                headers.insert(name, value.into());
            }
        }
    }
    headers
}

//! What a guest is told of a response.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use super::follow::Followed;
use crate::{CallError, Code, http::Response, web::Job};

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

/// Says what came back, scrubbed.
pub(super) fn answer(
    job: &Job,
    server: Option<&str>,
    followed: Followed,
) -> Result<Value, CallError> {
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
    let mut answer = json!({
        "status": "ok",
        "server": server,
        "http_status": response.status,
        "headers": headers,
        "text": text,
        "json": json,
        "encoding": encoding,
    });
    if let Some(url) = &followed.redirected_to {
        answer["url"] = job.scrubber.scrub(url).into_owned().into();
    }
    Ok(answer)
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

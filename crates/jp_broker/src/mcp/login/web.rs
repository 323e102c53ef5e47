//! Requests of a login: through the client of its server, under the grant of its server, small and
//! without redirects. What comes back is JSON.

use std::{sync::Arc, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{LoginError, line};
use crate::{
    http::{Client, Request, Response},
    mcp::exchange::is_private_way,
};

/// The largest document that is read.
const MAX_DOCUMENT: usize = 256 * 1024;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes requests of a login.
#[derive(Clone)]
pub(super) struct Web<'a> {
    client: Arc<Client>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Web<'a> {
    pub(super) fn new(client: Arc<Client>, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { client, stop }
    }

    fn send(&self, what: &'static str, request: Request) -> Result<Response, LoginError> {
        if !is_private_way(&request.url) {
            let problem =
                "it is not at an `https` address, so others could read what is sent".to_owned();
            return Err(LoginError::Metadata { what, problem });
        }
        let request = Request {
            timeout: Some(PATIENCE),
            max_body: Some(MAX_DOCUMENT),
            ..request
        };
        let sent = self.client.request_until(&request, self.stop);
        sent.map_err(|source| LoginError::Http { what, source })
    }

    /// Asks for a document; nothing when there is none.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        what: &'static str,
        url: &str,
    ) -> Result<Option<T>, LoginError> {
        let request = Request {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: vec![accept()],
            ..Request::default()
        };
        let response = self.send(what, request)?;
        match response.status {
            200 => Ok(jp_text::check_json(&response.body)
                .is_ok()
                .then(|| serde_json::from_slice(&response.body).ok())
                .flatten()),
            300..=499 => Ok(None),
            status => Err(LoginError::Refused {
                what,
                reason: format!("HTTP {status}"),
            }),
        }
    }

    /// Posts a document, and returns the one that answers.
    pub(super) fn post(
        &self,
        what: &'static str,
        url: &str,
        (kind, body): (&str, Vec<u8>),
        authorization: Option<String>,
    ) -> Result<Map<String, Value>, Refusal> {
        let mut headers = vec![
            accept(),
            ("Content-Type".to_owned(), kind.as_bytes().to_vec()),
        ];
        if let Some(authorization) = authorization {
            headers.push(("Authorization".to_owned(), authorization.into_bytes()));
        }
        let request = Request {
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers,
            body,
            ..Request::default()
        };
        let response = self.send(what, request).map_err(Refusal::from)?;
        let read = match jp_text::check_json(&response.body) {
            Ok(()) => serde_json::from_slice::<Map<String, Value>>(&response.body).ok(),
            Err(_) => None,
        };
        match (response.status, read) {
            (200 | 201, Some(answer)) => Ok(answer),
            (200 | 201, None) => Err(Refusal::from(LoginError::Refused {
                what,
                reason: "it answered with something other than JSON".to_owned(),
            })),
            (status, answer) => {
                let word = |key: &str| answer.as_ref()?.get(key)?.as_str();
                let code = word("error").map(str::to_owned);
                let said = [word("error"), word("error_description")];
                let said: Vec<String> = said.into_iter().flatten().map(line).collect();
                let reason = match said.is_empty() {
                    true => format!("HTTP {status}"),
                    false => said.join(": "),
                };
                let error = LoginError::Refused { what, reason };
                Err(Refusal { code, error })
            }
        }
    }
}

/// A request that was refused, with the code that the server gave for it.
pub(super) struct Refusal {
    pub(super) code: Option<String>,
    pub(super) error: LoginError,
}

impl From<LoginError> for Refusal {
    fn from(error: LoginError) -> Self {
        Self { code: None, error }
    }
}

impl From<Refusal> for LoginError {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

fn accept() -> (String, Vec<u8>) {
    ("Accept".to_owned(), b"application/json".to_vec())
}

//! A response to a message: what it says to the protocol, or in words for people what else it is.
//!
//! Nothing of the server is in those words but a status, a type and a short text on one line.

use rmcp::{
    model::ServerJsonRpcMessage,
    transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse},
};

use crate::{
    Challenge, HttpFailure, HttpFailureKind, HttpResponse, Limits, events, hidden,
    message::{self, Unreadable},
    streamable::{Failure, Resume},
    underway::Open,
};

/// The header that names a session.
pub(crate) const SESSION: &str = "Mcp-Session-Id";

/// The type of a stream of events.
pub(crate) const EVENTS: &str = "text/event-stream";

/// Characters of a refusal that are shown.
const MAX_REFUSAL: usize = 300;

/// A response to a message.
pub(crate) struct Answered<'a> {
    pub(crate) response: HttpResponse,
    /// Whether the message was sent in a session, which may be over.
    pub(crate) in_session: bool,
    pub(crate) limits: Limits,
    /// The server's id.
    pub(crate) id: &'a str,
    /// The headers that the configuration sends.
    pub(crate) headers: &'a [(String, String)],
}

impl Answered<'_> {
    /// Reads what follows a request: messages, or why there are none.
    pub(crate) async fn answer(
        mut self,
        open: Open,
        resume: Option<Resume>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        if let Some(coding) = self.response.header("Content-Encoding")
            && !coding.trim().eq_ignore_ascii_case("identity")
        {
            let coding = line(coding, 100);
            return Err(failure(
                HttpFailureKind::NoMessage,
                format!("the server answered in the encoding `{coding}`, which was not requested"),
            ));
        }
        let session = self.response.header(SESSION).map(str::to_owned);
        let (status, kind) = (self.response.status, self.kind());
        match status {
            // Nothing else would come, and nobody should wait for it.
            202 | 204 => {
                let text = format!(
                    "the server accepted the request with HTTP {status} but sent no response"
                );
                return Err(failure(HttpFailureKind::Answered, text));
            }
            200..=299 if kind == EVENTS => {
                let events = events::listen(self.response.body, open, self.limits, resume);
                return Ok(StreamableHttpPostResponse::Sse(events, session));
            }
            200..=299 if kind != "application/json" => return Err(not_json(&kind)),
            _ => {}
        }
        let body = self.whole().await?;
        let message = message::read(&body);
        match (status, message) {
            (200..=299, Ok(message)) => Ok(StreamableHttpPostResponse::Json(message, session)),
            (200..=299, Err(why)) => Err(not_a_message(why)),
            (404, _) if self.in_session => Err(StreamableHttpError::SessionExpired),
            // A refusal may be an answer of the protocol.
            (_, Ok(error @ ServerJsonRpcMessage::Error(_))) => {
                Ok(StreamableHttpPostResponse::Json(error, session))
            }
            _ => Err(self.refused(&body)),
        }
    }

    /// Reads what follows a message that has no answer.
    pub(crate) async fn acknowledged(mut self) -> Result<StreamableHttpPostResponse, Failure> {
        let is_good = (200..=299).contains(&self.response.status);
        // A stream may never end, and has nothing to say to this.
        if is_good && self.kind() == EVENTS {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = self.whole().await?;
        match self.response.status {
            _ if is_good => Ok(StreamableHttpPostResponse::Accepted),
            404 if self.in_session => Err(StreamableHttpError::SessionExpired),
            _ => Err(self.refused(&body)),
        }
    }

    fn kind(&self) -> String {
        kind_of(&self.response)
    }

    /// Says why a status is not an answer, and what to do about it.
    fn refused(&self, body: &[u8]) -> Failure {
        let status = self.response.status;
        let said = match self.kind().as_str() {
            // A page would fill the screen and say little.
            "text/html" | "application/xhtml+xml" => String::new(),
            _ => line(&String::from_utf8_lossy(body), MAX_REFUSAL),
        };
        let said = match said.is_empty() {
            true => said,
            false => format!(": {said}"),
        };
        let (kind, advice) = match status {
            401 | 403 => (HttpFailureKind::Unauthorized, self.advice(status)),
            _ => (HttpFailureKind::Answered, String::new()),
        };
        failure(
            kind,
            format!("the server answered HTTP {status}{said}{advice}"),
        )
    }

    /// Says what to do about a credential that is missing or rejected.
    fn advice(&self, status: u16) -> String {
        let secret = self.headers.iter().find_map(|(header, value)| {
            let (secret, _) = value.split_once("{{secret:")?.1.split_once("}}")?;
            Some((header, secret.trim()))
        });
        let challenge = Challenge::find(&self.response.headers);
        let scopes = challenge.as_ref().and_then(Challenge::typed_scopes);
        match (secret, challenge) {
            (None, Some(_)) => match (status, scopes) {
                (403, Some(scopes)) => format!(
                    "; the login does not allow this: `jp mcp login {} --scope \"{scopes}\"` asks for it",
                    self.id
                ),
                _ => format!("; `jp mcp login {}` logs in", self.id),
            },
            (Some((header, secret)), _) => format!(
                "; it rejects the secret `{secret}` of the header `{header}`: `jp secret set \
                 {secret} --for URL` replaces it"
            ),
            (None, None) => format!(
                "; it requires a credential: store one with `jp secret set NAME --for URL`, and send it \
                 with `headers = {{ Authorization = \"Bearer {{{{secret:NAME}}}}\" }}` under \
                 `[providers.mcp.{}]`",
                self.id
            ),
        }
    }

    /// Reads a body that is one message.
    async fn whole(&mut self) -> Result<Vec<u8>, Failure> {
        let most = self.limits.message_bytes;
        let mut bytes = Vec::new();
        while let Some(piece) = self.response.body.next().await {
            let piece = piece.map_err(StreamableHttpError::Client)?;
            if piece.len() > most.saturating_sub(bytes.len()) {
                let text = format!("the response exceeds {most} bytes");
                return Err(failure(HttpFailureKind::TooLarge, text));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

/// Returns the type of a body, without its parameters.
pub(crate) fn kind_of(response: &HttpResponse) -> String {
    let kind = response.header("Content-Type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

fn not_json(kind: &str) -> Failure {
    let kind = match line(kind, 100) {
        none if none.is_empty() => "without a content type".to_owned(),
        kind => kind,
    };
    let text = format!("the server answered {kind}, not JSON; is its `url` right?");
    failure(HttpFailureKind::NoMessage, text)
}

/// Says what is wrong with a message.
fn not_a_message(why: Unreadable) -> Failure {
    let text = match why {
        Unreadable::Else => "the server answered JSON that is not a JSON-RPC message".to_owned(),
        Unreadable::Beyond(_) | Unreadable::Invalid { .. } => why.to_string(),
    };
    failure(HttpFailureKind::NoMessage, text)
}

/// Puts a stranger's text on one short line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    hidden::shown(&text.join(" "), most)
}

fn failure(kind: HttpFailureKind, message: String) -> Failure {
    StreamableHttpError::Client(HttpFailure { kind, message })
}

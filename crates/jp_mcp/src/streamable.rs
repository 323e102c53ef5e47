//! The streamable HTTP transport over an [`HttpExchange`]: one request for each message. An answer that
//! is a stream of events is read by [`events`], any other whole.
//!
//! Streams that belong to no request are not asked for, so an HTTP server that has none to answer
//! cannot say that its tools changed; their list is asked for again after a while instead. Nor is a
//! stream resumed that broke off.

use std::{collections::HashMap, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::NeverRetry,
        streamable_http_client::{
            StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
            StreamableHttpPostResponse,
        },
    },
};

use crate::{
    HttpExchange, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, HttpServer, Limits,
    events::{self, Messages},
    hidden,
    underway::{Open, Underway},
};

/// What goes wrong with a request.
pub(crate) type Failure = StreamableHttpError<HttpFailure>;

/// The longest one request may take: calls have their own time, and end it by cancelling.
const MAX_REQUEST: Duration = Duration::from_secs(15 * 60);

/// How long telling a server that its session is over may take.
const MAX_GOODBYE: Duration = Duration::from_secs(5);

const SESSION: &str = "Mcp-Session-Id";

/// The type of a stream of events.
const EVENTS: &str = "text/event-stream";

/// Bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 300;

/// Makes the transport of a server.
pub(crate) fn transport(
    server: &HttpServer,
    exchange: &Arc<dyn HttpExchange>,
    limits: Limits,
    underway: &Underway,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str());
    config.retry_config = Arc::new(NeverRetry::default());
    // A new session may have other tools; whoever asks for the list finds out.
    config.reinit_on_expired_session = false;
    let client = Client {
        exchange: Arc::clone(exchange),
        server: server.clone(),
        limits,
        underway: underway.clone(),
    };
    StreamableHttpClientTransport::with_client(client, config)
}

/// Posts messages.
#[derive(Clone)]
pub(crate) struct Client {
    exchange: Arc<dyn HttpExchange>,
    server: HttpServer,
    limits: Limits,
    underway: Underway,
}

type Headers = HashMap<HeaderName, HeaderValue>;

impl Client {
    async fn send(
        &self,
        method: &'static str,
        body: Vec<u8>,
        session: Option<&str>,
        custom: Headers,
    ) -> Result<HttpResponse, Failure> {
        let mut headers: Vec<(String, Vec<u8>)> = custom
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        if let Some(session) = session {
            headers.push((SESSION.to_owned(), session.as_bytes().to_vec()));
        }
        let mut timeout = MAX_GOODBYE;
        if method == "POST" {
            timeout = MAX_REQUEST;
            let accepted = b"application/json, text/event-stream".to_vec();
            headers.push(("Accept".to_owned(), accepted));
            headers.push(("Content-Type".to_owned(), b"application/json".to_vec()));
        }
        let request = HttpRequest {
            method,
            headers,
            body,
            timeout,
            max_body: self.limits.stream_bytes,
        };
        let sent = self.exchange.exchange(&self.server, request).await;
        sent.map_err(StreamableHttpError::Client)
    }
}

impl StreamableHttpClient for Client {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(&message)?;
        let session = session.as_deref();
        let open = match &message {
            ClientJsonRpcMessage::Request(request) => Some(self.underway.begin(&request.id).await),
            _ => None,
        };
        // The transport drops this when the request is cancelled, which closes the connection: a
        // server that is still busy with it sees that nobody waits.
        let response = self.send("POST", body, session, custom).await?;
        let answered = Answered {
            response,
            in_session: session.is_some(),
            limits: self.limits,
        };
        match open {
            Some(open) => answered.answer(open).await,
            None => answered.acknowledged().await,
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<(), Failure> {
        self.send("DELETE", Vec::new(), Some(&session), custom)
            .await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: Headers,
    ) -> Result<Messages, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

/// A response to a message.
struct Answered {
    response: HttpResponse,
    /// Whether the message was sent in a session, which may be over.
    in_session: bool,
    limits: Limits,
}

impl Answered {
    /// Reads what follows a request: messages, or why there are none.
    async fn answer(mut self, open: Open) -> Result<StreamableHttpPostResponse, Failure> {
        if let Some(coding) = self.response.header("Content-Encoding")
            && !coding.trim().eq_ignore_ascii_case("identity")
        {
            let coding = hidden::shown(coding, 100);
            let text = format!("it answered in the encoding `{coding}`, which nobody asked for");
            return Err(failure(HttpFailureKind::Failed, text));
        }
        let session = self.response.header(SESSION).map(str::to_owned);
        let (status, kind) = (self.response.status, self.kind());
        match status {
            // Nothing else would come, and nobody should wait for it.
            202 | 204 => {
                let text = format!("it took the request with HTTP status {status} and no answer");
                return Err(failure(HttpFailureKind::Failed, text));
            }
            200..=299 if kind == EVENTS => {
                let events = events::listen(self.response.body, open, self.limits);
                return Ok(StreamableHttpPostResponse::Sse(events, session));
            }
            _ => {}
        }
        let body = self.whole().await?;
        let message = || serde_json::from_slice::<ServerJsonRpcMessage>(&body);
        match status {
            200..=299 if kind == "application/json" => {
                Ok(StreamableHttpPostResponse::Json(message()?, session))
            }
            200..=299 => {
                let kind = Some(hidden::shown(&kind, 100));
                Err(StreamableHttpError::UnexpectedContentType(kind))
            }
            404 if self.in_session => Err(StreamableHttpError::SessionExpired),
            // A refusal may be an answer of the protocol.
            _ => match message() {
                Ok(error @ ServerJsonRpcMessage::Error(_)) => {
                    Ok(StreamableHttpPostResponse::Json(error, session))
                }
                _ => Err(self.refused(&body)),
            },
        }
    }

    /// Reads what follows a message that has no answer.
    async fn acknowledged(mut self) -> Result<StreamableHttpPostResponse, Failure> {
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

    /// Returns the type of the body, without its parameters.
    fn kind(&self) -> String {
        let kind = self.response.header("Content-Type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().to_ascii_lowercase()
    }

    /// Says why a status is no answer.
    fn refused(&self, body: &[u8]) -> Failure {
        let status = self.response.status;
        let kind = match status {
            401 | 403 => HttpFailureKind::Unauthorized,
            _ => HttpFailureKind::Failed,
        };
        let text = hidden::shown(&String::from_utf8_lossy(body), MAX_REFUSAL);
        failure(
            kind,
            format!("it answered with HTTP status {status}: {text}"),
        )
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

fn failure(kind: HttpFailureKind, message: String) -> Failure {
    StreamableHttpError::Client(HttpFailure { kind, message })
}

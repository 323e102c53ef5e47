//! The streamable HTTP transport over an [`HttpExchange`]: one request for each message, read whole.
//!
//! Streams that a server would hold open are not asked for, so an HTTP server cannot say that its
//! tools changed; their list is asked for again after a while instead.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream::BoxStream};
use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::NeverRetry,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::{Sse, SseStream};
use tokio_util::bytes::Bytes;

use crate::{
    HttpExchange, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, HttpServer, hidden,
};

/// What goes wrong with a request.
pub(crate) type Failure = StreamableHttpError<HttpFailure>;

/// The longest one request may take: calls have their own time, and end it by cancelling.
const MAX_REQUEST: Duration = Duration::from_secs(15 * 60);

/// How long telling a server that its session is over may take.
const MAX_GOODBYE: Duration = Duration::from_secs(5);

const SESSION: &str = "Mcp-Session-Id";

/// Bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 300;

/// Makes the transport of a server.
pub(crate) fn transport(
    server: &HttpServer,
    exchange: &Arc<dyn HttpExchange>,
    message_bytes: usize,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str());
    config.retry_config = Arc::new(NeverRetry::default());
    // A new session may have other tools; whoever asks for the list finds out.
    config.reinit_on_expired_session = false;
    let client = Client {
        exchange: Arc::clone(exchange),
        server: server.clone(),
        message_bytes,
    };
    StreamableHttpClientTransport::with_client(client, config)
}

/// Posts messages.
#[derive(Clone)]
pub(crate) struct Client {
    exchange: Arc<dyn HttpExchange>,
    server: HttpServer,
    message_bytes: usize,
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
            max_body: self.message_bytes,
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
        let wanted = match message {
            ClientJsonRpcMessage::Request(_) => Wanted::Answer,
            _ => Wanted::Nothing,
        };
        // The transport drops this when the request is cancelled, which closes the connection: a
        // server that is still busy with it sees that nobody waits.
        let response = self.send("POST", body, session, custom).await?;
        read(response, session.is_some(), wanted)
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
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

/// Whether a message has an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Answer,
    Nothing,
}

fn failure(kind: HttpFailureKind, message: String) -> HttpFailure {
    HttpFailure { kind, message }
}

/// Reads a response: messages, or why there are none.
fn read(
    response: HttpResponse,
    in_session: bool,
    wanted: Wanted,
) -> Result<StreamableHttpPostResponse, Failure> {
    let session = response.header(SESSION).map(str::to_owned);
    let kind = response.header("Content-Type").unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let message = || serde_json::from_slice::<ServerJsonRpcMessage>(&response.body);
    match response.status {
        202 | 204 => return Ok(StreamableHttpPostResponse::Accepted),
        200..=299 if wanted == Wanted::Nothing => return Ok(StreamableHttpPostResponse::Accepted),
        200..=299 => {}
        404 if in_session => return Err(StreamableHttpError::SessionExpired),
        status => {
            // A refusal may be an answer of the protocol.
            if let Ok(error @ ServerJsonRpcMessage::Error(_)) = message()
                && wanted == Wanted::Answer
            {
                return Ok(StreamableHttpPostResponse::Json(error, session));
            }
            let kind = match status {
                401 | 403 => HttpFailureKind::Unauthorized,
                _ => HttpFailureKind::Failed,
            };
            let text = hidden::shown(&String::from_utf8_lossy(&response.body), MAX_REFUSAL);
            let text = format!("it answered with HTTP status {status}: {text}");
            return Err(StreamableHttpError::Client(failure(kind, text)));
        }
    }
    match kind.as_str() {
        "application/json" => Ok(StreamableHttpPostResponse::Json(message()?, session)),
        "text/event-stream" => {
            let body = Bytes::from(response.body);
            let whole = futures::stream::iter([Ok::<_, std::convert::Infallible>(body)]);
            let events = SseStream::from_bytes_stream(whole).boxed();
            Ok(StreamableHttpPostResponse::Sse(events, session))
        }
        _ => Err(StreamableHttpError::UnexpectedContentType(Some(
            hidden::shown(&kind, 100),
        ))),
    }
}

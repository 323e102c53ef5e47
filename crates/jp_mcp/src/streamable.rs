//! The streamable HTTP transport over an [`HttpExchange`]: one request for each message. An answer that
//! is a stream of events is read by [`crate::events`], any other whole; invalid ones are reported by
//! [`crate::answered`].
//!
//! In a session a stream is held open that belongs to no request. A server without one cannot say that its
//! tools changed; their list is asked for again after a while instead.

use std::{collections::HashMap, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, ProtocolVersion},
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
    HttpBody, HttpExchange, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, HttpServer,
    Limits,
    answered::{Answered, EVENTS, SESSION, kind_of},
    events::{self, Messages},
    underway::{Unanswered, Underway},
};

/// What goes wrong with a request.
pub(crate) type Failure = StreamableHttpError<HttpFailure>;

/// The longest one request may take: calls have their own time, and end it by cancelling.
const MAX_REQUEST: Duration = Duration::from_secs(15 * 60);

/// How long telling a server that its session is over may take.
const MAX_GOODBYE: Duration = Duration::from_secs(5);

/// Makes the transport of a server.
pub(crate) fn transport(
    id: &str,
    server: &HttpServer,
    exchange: &Arc<dyn HttpExchange>,
    limits: Limits,
    underway: &Underway,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str());
    // Streams are resumed where they are read, under their own limits.
    config.retry_config = Arc::new(NeverRetry::default());
    // A new session may have other tools; the next request for the list finds out.
    config.reinit_on_expired_session = false;
    let client = Client {
        exchange: Arc::clone(exchange),
        id: id.to_owned(),
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
    id: String,
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
        let mut put = |name: &str, value: &str| {
            headers.push((name.to_owned(), value.as_bytes().to_vec()));
        };
        if let Some(session) = session {
            put(SESSION, session);
        }
        let mut timeout = MAX_REQUEST;
        match method {
            "POST" => {
                put("Accept", "application/json, text/event-stream");
                put("Content-Type", "application/json");
            }
            "GET" => put("Accept", EVENTS),
            _ => timeout = MAX_GOODBYE,
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

    /// Posts a message, and reads what follows.
    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        custom: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(message)?;
        let open = match message {
            ClientJsonRpcMessage::Request(request) => Some(self.underway.begin(&request.id).await),
            _ => None,
        };
        let resume = is_resumable(&custom).then(|| Resume {
            client: self.clone(),
            session: session.map(str::to_owned),
            headers: custom.clone(),
        });
        // The transport drops this when the request is cancelled, which closes the connection: a
        // server that is still busy with it sees that nobody waits.
        let response = self.send("POST", body, session, custom).await?;
        let answered = Answered {
            response,
            in_session: session.is_some(),
            limits: self.limits,
            id: &self.id,
            headers: &self.server.headers,
        };
        match open {
            Some(open) => answered.answer(open, resume).await,
            None => answered.acknowledged().await,
        }
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
        let posted = self.post(&message, session.as_deref(), custom).await;
        if let Err(StreamableHttpError::Client(failure)) = &posted {
            // The transport may pass on no more than that it is over.
            let id = match &message {
                ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            };
            let why = Unanswered::NoStream {
                failure: failure.clone(),
                limit: self.limits.message_bytes,
            };
            self.underway.fail(id, why);
        }
        posted
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
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        custom: Headers,
    ) -> Result<Messages, Failure> {
        let resume = Resume {
            client: self.clone(),
            session: session.as_deref().map(str::to_owned),
            headers: custom,
        };
        match resume.after(last.as_deref()).await {
            Ok(Some(body)) => Ok(events::overhear(body, self.limits, resume)),
            // What a connection can do without does not end it.
            Ok(None) | Err(_) => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

/// Asks for a stream that belongs to no request, or for the rest of one that broke off.
pub(crate) struct Resume {
    client: Client,
    session: Option<String>,
    headers: Headers,
}

impl Resume {
    /// Returns the body of the stream after this event; nothing when the server has none.
    pub(crate) async fn after(
        &self,
        last: Option<&str>,
    ) -> Result<Option<Box<dyn HttpBody>>, HttpFailure> {
        let mut headers = self.headers.clone();
        // What tells of one message is no part of a request without any.
        headers.retain(|name, _| name == "mcp-protocol-version");
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), last);
        }
        let session = self.session.as_deref();
        let sent = self.client.send("GET", Vec::new(), session, headers).await;
        let response = sent.map_err(|failure| match failure {
            StreamableHttpError::Client(failure) => failure,
            other => HttpFailure {
                kind: HttpFailureKind::Failed,
                message: other.to_string(),
            },
        })?;
        let is_stream = response.status == 200 && kind_of(&response) == EVENTS;
        if (500..=599).contains(&response.status) {
            let message = format!("the server answered HTTP {}", response.status);
            return Err(HttpFailure {
                kind: HttpFailureKind::Failed,
                message,
            });
        }
        Ok(is_stream.then_some(response.body))
    }
}

/// Tells whether the revision that a message is sent in lets streams be resumed: the one that came without
/// sessions does not.
fn is_resumable(headers: &Headers) -> bool {
    let version = headers.get(&HeaderName::from_static("mcp-protocol-version"));
    let version = version.and_then(|version| version.to_str().ok());
    version.is_some_and(|version| version < ProtocolVersion::V_2026_07_28.as_str())
}

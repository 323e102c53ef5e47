//! The streamable HTTP transport over an [`HttpExchange`]: one request for each message. An answer that
//! is a stream of events is read by [`crate::events`], any other whole; invalid ones are reported by
//! [`crate::answered`].
//!
//! Streams that belong to no request are not asked for, so an HTTP server that has none to answer
//! cannot say that its tools changed; their list is asked for again after a while instead. Nor is a
//! stream resumed that broke off.

use std::{collections::HashMap, sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue};
use rmcp::{
    model::ClientJsonRpcMessage,
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
    HttpExchange, HttpFailure, HttpRequest, HttpResponse, HttpServer, Limits,
    answered::{Answered, SESSION},
    events::Messages,
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
            Some(open) => answered.answer(open).await,
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
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: Headers,
    ) -> Result<Messages, Failure> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

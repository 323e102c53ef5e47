//! What stands before every request to `/mcp`: whose it is, whether it is a page's, whether its principal
//! may have one more, and whether it arrives in time. Behind it a request has its principal, and no token.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use jp_config::ServeLimitsConfig;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time;

use crate::{
    directory::{Directory, Refusal},
    handler::Handler,
    oauth::metadata,
    principal::{Principal, Served},
    queue::{Busy, Kind, Limits, Queue, Turn},
    seats::Seats,
    server::Shared,
    sessions,
};

/// Larger requests are refused with 413.
pub(crate) const LARGEST_REQUEST: usize = 4 * 1024 * 1024;

/// A request has this long to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

const SESSION: &str = "mcp-session-id";

/// What stands before every request to `/mcp`.
pub(crate) struct Door {
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Directory,
    pub(crate) seats: Seats,
    pub(crate) queue: Arc<Queue>,
    pub(crate) config: StreamableHttpServerConfig,
    /// Whether requests come through TLS.
    pub(crate) is_secure: bool,
}

/// A request is a call, or an answer to a question that a call has asked.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    id: Option<IgnoredAny>,
}

/// Lets a request in, or says why not.
pub(crate) async fn enter(State(door): State<Arc<Door>>, request: Request) -> Response {
    match door.let_in(request).await {
        Ok(response) | Err(response) => response,
    }
}

impl Door {
    async fn let_in(&self, request: Request) -> Result<Response, Response> {
        let (mut parts, body) = request.into_parts();
        let token = text(&parts.headers, header::AUTHORIZATION.as_str());
        let who = self.directory.whose(token).await;
        let who = who.map_err(|refusal| self.refuse(&refusal))?;
        // No token goes any further, to whatever upstream server a call may lead.
        parts.headers.remove(header::AUTHORIZATION);
        if !self.is_own_page(&parts.headers) {
            let text = "requests of pages that others serve are refused\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        let limits = self.limits();
        let seat = self.seats.of(who.name());
        if let Some(id) = text(&parts.headers, SESSION)
            && !is_modern(&parts.headers)
            && !seat.sessions.read().await.contains_key(id)
        {
            let text = "unknown session: it has ended, or was never yours\n";
            return Err((StatusCode::NOT_FOUND, text).into_response());
        }
        if parts.method != Method::POST {
            let kind = if parts.method == Method::GET {
                Kind::Stream
            } else {
                Kind::Small
            };
            return self.serve(parts, body, &who, kind, &limits).await;
        }
        // Whoever sends many large messages slowly holds up none but their own.
        let arriving = self.queue.enter(who.name(), Kind::Small, &limits).await;
        let arriving = arriving.map_err(|busy| wait(&busy))?;
        let body = arrive(body).await?;
        drop(arriving);
        let kind = kind(&parts.headers, &body);
        if opens_session(&parts.headers) {
            let is_full = !sessions::has_room(&seat).await || !self.seats.have_room();
            if is_full {
                let text =
                    "too many sessions: end some, or use revision 2026-07-28, which needs none\n";
                return Err((StatusCode::SERVICE_UNAVAILABLE, text).into_response());
            }
        }
        self.serve(parts, Body::from(body), &who, kind, &limits)
            .await
    }

    /// Lets a request in that is none of a client's: the user's own, for a name of this server.
    pub(crate) async fn let_the_user_in(&self, headers: &HeaderMap) -> Result<(), Response> {
        let token = text(headers, header::AUTHORIZATION.as_str());
        let who = self.directory.whose(token).await;
        let who = who.map_err(|refusal| self.refuse(&refusal))?;
        if !who.is_user() {
            let text = "this is for the user whose server it is\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        // A name of an attacker may lead here.
        let host = text(headers, header::HOST.as_str());
        let is_own =
            host.is_some_and(|host| self.config.allowed_hosts.iter().any(|own| is_of(own, host)));
        if !is_own || !self.is_own_page(headers) {
            let text = "requests for a name of another machine, and of pages that others serve, are refused\n";
            return Err((StatusCode::FORBIDDEN, text).into_response());
        }
        Ok(())
    }

    /// Serves a request when its turn has come. The turn ends with the answer.
    async fn serve(
        &self,
        mut parts: Parts,
        body: Body,
        who: &Arc<Principal>,
        kind: Kind,
        limits: &Limits,
    ) -> Result<Response, Response> {
        let turn = self.queue.enter(who.name(), kind, limits).await;
        let turn = Arc::new(turn.map_err(|busy| wait(&busy))?);
        parts.extensions.insert(Arc::clone(who));
        parts.extensions.insert(Arc::clone(&turn));
        let served = Served::new(Arc::clone(&self.shared), Arc::clone(who));
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(served.clone())),
            self.seats.of(who.name()),
            self.config.clone(),
        );
        let response = service.handle(Request::from_parts(parts, body)).await;
        Ok(response.map(|body| held(Body::new(body), turn)))
    }

    /// Returns the limits as they are now; the defaults while the workspace cannot be opened, which its
    /// calls will say.
    fn limits(&self) -> Limits {
        match self.shared.live().now() {
            Ok(workspace) => Limits::of(&workspace.loaded().config.serve.limits),
            Err(_) => Limits::of(&ServeLimitsConfig::default()),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response {
        let oauth = self.directory.oauth();
        let how = |error, scope| {
            let challenge = metadata::challenge(oauth.as_ref(), error, scope);
            [(header::WWW_AUTHENTICATE, challenge)]
        };
        match refusal {
            Refusal::NoToken => {
                let text = "a token is needed: `Authorization: Bearer …`; `jp serve` printed it when it started\n";
                (StatusCode::UNAUTHORIZED, how(None, None), text).into_response()
            }
            Refusal::Invalid => {
                let text = "the token is not known, has ended, or was not made for this server\n";
                let how = how(oauth.as_ref().map(|_| "invalid_token"), None);
                (StatusCode::UNAUTHORIZED, how, text).into_response()
            }
            Refusal::Scope(scope) => {
                let how = how(Some("insufficient_scope"), Some(scope));
                let text = "the token lacks a scope\n";
                (StatusCode::FORBIDDEN, how, text).into_response()
            }
            Refusal::Nobody => {
                let text = "the token is good, but whose it is may not use this server\n";
                (StatusCode::FORBIDDEN, text).into_response()
            }
            Refusal::NotNow => not_now(),
        }
    }

    /// Tells whether a request comes from no page, or from one of the place that it is sent to. Which
    /// places are ours is checked with the `Host` header.
    fn is_own_page(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return true;
        };
        let scheme = if self.is_secure {
            "https://"
        } else {
            "http://"
        };
        let (origin, host) = (origin.to_str().ok(), text(headers, header::HOST.as_str()));
        origin.and_then(|origin| origin.strip_prefix(scheme)) == host && host.is_some()
    }
}

/// Reads the body of a request that is one message, and comes in time.
async fn arrive(body: Body) -> Result<Bytes, Response> {
    let body = match time::timeout(ARRIVAL, to_bytes(body, LARGEST_REQUEST)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        Err(_) => return Err(StatusCode::REQUEST_TIMEOUT.into_response()),
    };
    if body.trim_ascii_start().starts_with(b"[") {
        let text = "batches are not part of the protocol: send one message at a time";
        return Err(refuse(-32600, text));
    }
    Ok(body)
}

/// Says what a message wants. Newer clients say it in a header, which is compared with the message later.
/// What calls may wait for never waits for a turn itself: answers, looks at tasks, ends of calls.
fn kind(headers: &HeaderMap, body: &[u8]) -> Kind {
    let of_method = |method: &str| match method {
        "subscriptions/listen" => Kind::Stream,
        "ping" => Kind::Small,
        method if method.starts_with("tasks/") => Kind::Small,
        method if method.starts_with("notifications/") => Kind::Small,
        _ => Kind::Call,
    };
    if is_modern(headers) {
        return text(headers, "mcp-method").map_or(Kind::Call, of_method);
    }
    match serde_json::from_slice::<Message>(body) {
        Ok(Message {
            method: Some(method),
            id: Some(_),
        }) => of_method(&method),
        Ok(_) => Kind::Small,
        Err(_) => Kind::Call,
    }
}

/// Keeps a turn until an answer was sent, or its client is gone.
fn held(body: Body, turn: Arc<Turn>) -> Body {
    if http_body::Body::is_end_stream(&body) {
        return body;
    }
    Body::from_stream(body.into_data_stream().map(move |part| {
        let _held = &turn;
        part
    }))
}

fn wait(busy: &Busy) -> Response {
    let later = [(header::RETRY_AFTER, HeaderValue::from_static("1"))];
    (StatusCode::TOO_MANY_REQUESTS, later, format!("{busy}\n")).into_response()
}

fn not_now() -> Response {
    let later = [(header::RETRY_AFTER, HeaderValue::from_static("5"))];
    let text = "the server cannot tell who may use it now; its own output says why\n";
    (StatusCode::SERVICE_UNAVAILABLE, later, text).into_response()
}

fn is_modern(headers: &HeaderMap) -> bool {
    text(headers, "mcp-protocol-version").is_some_and(|version| version >= "2026-07-28")
}

/// Tells whether a request may open a session: it has none yet, and does not say that it needs none.
fn opens_session(headers: &HeaderMap) -> bool {
    !is_modern(headers) && !headers.contains_key(SESSION)
}

/// Tells whether a `Host` header names one of ours, whatever the port.
fn is_of(own: &str, host: &str) -> bool {
    let bare = own.trim_start_matches('[').trim_end_matches(']');
    [own.to_owned(), format!("[{bare}]")].iter().any(|name| {
        let port = host.strip_prefix(name.as_str());
        port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

fn refuse(code: i32, message: &str) -> Response {
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, kind, error.to_string()).into_response()
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

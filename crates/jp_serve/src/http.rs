//! A server on HTTP: `/mcp` for clients, `/metrics`, `/healthz` and `/readyz` for whoever watches it.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::json;
use tokio::{
    net::{TcpListener, UnixListener},
    time,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Server, Token, connections,
    handler::Handler,
    metrics::{self, Present},
    server::Shared,
    sessions,
};

/// Larger requests are refused with 413.
const LARGEST_REQUEST: usize = 4 * 1024 * 1024;

/// Where pages of this machine come from. That a page comes from this very server is checked before.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// A request has this long to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// What stands before every request to `/mcp`.
#[derive(Clone)]
struct Door {
    token: Option<Token>,
    sessions: Arc<LocalSessionManager>,
}

impl Server {
    /// Serves HTTP on a listener of this machine until it is stopped. Whoever has the token gets in.
    pub async fn on_tcp(&self, listener: TcpListener, token: Token, stop: CancellationToken) {
        let router = router(self.shared(), Some(token), &stop);
        connections::serve(listener, router, self.shared(), stop).await;
    }

    /// Serves HTTP on a Unix socket until it is stopped. Whoever may open the socket gets in.
    pub async fn on_unix(&self, listener: UnixListener, stop: CancellationToken) {
        let router = router(self.shared(), None, &stop);
        connections::serve(listener, router, self.shared(), stop).await;
    }
}

fn router(shared: &Arc<Shared>, token: Option<Token>, stop: &CancellationToken) -> Router {
    let sessions = sessions::keeper();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(OWN_ORIGINS)
        .with_max_request_body_bytes(LARGEST_REQUEST)
        .with_cancellation_token(stop.child_token());
    let ours = Arc::clone(shared);
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(&ours)),
        Arc::clone(&sessions),
        config,
    );
    let (ready, counted) = (Arc::clone(shared), Arc::clone(shared));
    let (open, watched) = (Arc::clone(&sessions), Arc::clone(shared));
    let numbers = get(move || numbers(Arc::clone(&watched), Arc::clone(&open)));
    let door = Door { token, sessions };
    Router::new()
        .route_service("/mcp", service)
        .route("/metrics", numbers.layer(middleware::from_fn(only_here)))
        .route_layer(middleware::from_fn_with_state(door, enter))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(move || is_ready(Arc::clone(&ready))))
        .layer(middleware::from_fn_with_state(counted, count))
}

/// Returns the numbers of the server for Prometheus.
async fn numbers(shared: Arc<Shared>, sessions: Arc<LocalSessionManager>) -> Response {
    let present = Present {
        sessions: sessions::count(&sessions).await,
        ..shared.present()
    };
    let kind = [(header::CONTENT_TYPE, metrics::CONTENT_TYPE)];
    (kind, shared.metrics.text(present)).into_response()
}

/// Refuses requests for a name that is not one of this machine: one of an attacker may lead here. What
/// serves `/mcp` refuses them itself.
async fn only_here(request: Request, next: Next) -> Response {
    let host = text(request.headers(), header::HOST.as_str());
    let own = OWN_ORIGINS.into_iter().any(|origin| {
        let name = origin.trim_start_matches("http://").trim_end_matches(":*");
        let port = host.and_then(|host| host.strip_prefix(name));
        port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
    });
    if own {
        return next.run(request).await;
    }
    let text = "requests for a name of another machine are refused\n";
    (StatusCode::FORBIDDEN, text).into_response()
}

/// Counts what is answered.
async fn count(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    shared.metrics.answered(&path, status);
    response
}

/// Tells whether calls could be made now.
async fn is_ready(shared: Arc<Shared>) -> Response {
    match shared.catalogue() {
        Ok(_) => "ok\n".into_response(),
        Err(_) => {
            let text = "the workspace cannot be opened; the server's own output says why\n";
            (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
        }
    }
}

/// Lets a request in that has the token, is one message, and arrives in time.
async fn enter(State(door): State<Door>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    if let Some(token) = &door.token
        && !token.is_in(text(&parts.headers, header::AUTHORIZATION.as_str()))
    {
        let how = [(header::WWW_AUTHENTICATE, "Bearer")];
        let text =
            "a token is needed: `Authorization: Bearer …`; `jp serve` printed it when it started\n";
        return (StatusCode::UNAUTHORIZED, how, text).into_response();
    }
    if !is_own_page(&parts.headers) {
        let text = "requests of pages that others serve are refused\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    if parts.method != Method::POST {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let body = match time::timeout(ARRIVAL, to_bytes(body, LARGEST_REQUEST)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    if body.trim_ascii_start().starts_with(b"[") {
        return refuse(
            -32600,
            "batches are not part of the protocol: send one message at a time",
        );
    }
    if opens_session(&parts.headers) && !sessions::has_room(&door.sessions).await {
        let text = "too many sessions: end some, or use revision 2026-07-28, which needs none\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// Tells whether a request comes from no page, or from one of the place that it is sent to. Which places
/// are ours is checked with the `Host` header.
fn is_own_page(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return true;
    };
    let (origin, host) = (origin.to_str().ok(), text(headers, header::HOST.as_str()));
    origin.and_then(|origin| origin.strip_prefix("http://")) == host && host.is_some()
}

/// Tells whether a request may open a session: it has none yet, and does not say that it needs none.
fn opens_session(headers: &HeaderMap) -> bool {
    let modern =
        text(headers, "mcp-protocol-version").is_some_and(|version| version >= "2026-07-28");
    !modern && !headers.contains_key("mcp-session-id")
}

fn refuse(code: i32, message: &str) -> Response {
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, kind, error.to_string()).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

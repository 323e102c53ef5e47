//! A server on HTTP: `/mcp` for clients, `/metrics`, `/healthz` and `/readyz` for programs that watch it, and
//! where clients of OAuth learn where to get tokens.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

use crate::{
    Server, Tls, Token, connections,
    directory::Directory,
    door::{Door, LARGEST_REQUEST, enter},
    metrics::{self, Present},
    oauth::metadata::{self, WELL_KNOWN},
    principal::Served,
    queue::Queue,
    seats::Seats,
    server::Shared,
};

/// Where pages of this machine come from. That a page comes from this very server is checked before.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// The names of this machine.
const OWN_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

impl Server {
    /// Serves HTTP on a listener of this machine until it is stopped. Whoever has the token gets in as the
    /// user, and others with tokens of their own.
    pub async fn on_tcp(&self, listener: TcpListener, token: Token, stop: CancellationToken) {
        let router = router(&self.user(), Some(token), &stop, false);
        connections::serve(listener, router, (None, self.shared()), stop).await;
    }

    /// Serves HTTPS on a listener until it is stopped, as [`Server::on_tcp`] serves HTTP.
    pub async fn on_tls(
        &self,
        listener: TcpListener,
        tls: Tls,
        token: Token,
        stop: CancellationToken,
    ) {
        let router = router(&self.user(), Some(token), &stop, true);
        connections::serve(listener, router, (Some(tls), self.shared()), stop).await;
    }

    /// Serves HTTP on a Unix socket until it is stopped. Whoever may open the socket is the user.
    pub async fn on_unix(&self, listener: UnixListener, stop: CancellationToken) {
        let router = router(&self.user(), None, &stop, false);
        connections::serve(listener, router, (None, self.shared()), stop).await;
    }
}

fn router(
    user: &Served,
    token: Option<Token>,
    stop: &CancellationToken,
    is_secure: bool,
) -> Router {
    let door = Arc::new(Door {
        shared: Arc::clone(user.shared()),
        directory: Directory::new(user.shared(), token),
        seats: Seats::default(),
        queue: Arc::<Queue>::default(),
        config: config(user, is_secure).with_cancellation_token(stop.child_token()),
        is_secure,
    });
    let (ready, counted) = (user.clone(), Arc::clone(user.shared()));
    let below = format!("{WELL_KNOWN}/mcp");
    Router::new()
        .route("/mcp", any(enter))
        .route("/metrics", get(numbers))
        .route(WELL_KNOWN, get(protected))
        .route(&below, get(protected))
        .with_state(door)
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(move || is_ready(ready.clone())))
        .layer(middleware::from_fn_with_state(counted, count))
}

/// Says which hosts and origins are ours: those of this machine, and what `serve.hosts` names.
fn config(user: &Served, is_secure: bool) -> StreamableHttpServerConfig {
    let hosts = user.options().hosts.iter();
    let origins = hosts.clone().map(|host| {
        let scheme = if is_secure { "https" } else { "http" };
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
        let port = if has_port { "" } else { ":*" };
        format!("{scheme}://{host}{port}")
    });
    let origins = OWN_ORIGINS
        .map(|origin| match is_secure {
            true => origin.replacen("http", "https", 1),
            false => origin.to_owned(),
        })
        .into_iter()
        .chain(origins);
    let hosts = OWN_HOSTS
        .map(ToOwned::to_owned)
        .into_iter()
        .chain(hosts.cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(LARGEST_REQUEST)
        // An answer that nothing comes before is one body: a stream of one event costs more on both sides.
        .with_json_response(true)
}

/// Says where tokens come from, if any but those of this server count.
async fn protected(State(door): State<Arc<Door>>) -> Response {
    match door.directory.oauth() {
        Some(servers) => {
            let kind = [(header::CONTENT_TYPE, "application/json")];
            (kind, metadata::document(&servers).to_string()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns the numbers of the server for Prometheus: to the user, for they say what somebody works on.
async fn numbers(State(door): State<Arc<Door>>, request: Request) -> Response {
    if let Err(refused) = door.let_the_user_in(request.headers()).await {
        return refused;
    }
    let present = Present {
        sessions: door.seats.count(),
        ..door.shared.present()
    };
    let kind = [(header::CONTENT_TYPE, metrics::CONTENT_TYPE)];
    (kind, door.shared.metrics.text(present)).into_response()
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
async fn is_ready(user: Served) -> Response {
    match user.catalogue() {
        Ok(_) => "ok\n".into_response(),
        Err(_) => {
            let text = "the workspace cannot be opened; the server's own output says why\n";
            (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
        }
    }
}

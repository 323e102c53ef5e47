//! Connections of HTTP: accepted as long as there is room, each within its time, and ended in order.

use std::{io, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener},
    sync::Semaphore,
    task::JoinSet,
    time,
};
use tokio_util::sync::CancellationToken;

use crate::{Tls, server::Shared};

/// As many connections are served at once; more wait to be accepted.
const MOST_CONNECTIONS: usize = 4_096;

/// A connection that asks for nothing is closed after this long, and so is one whose head is not
/// complete by then.
const IDLE: Duration = Duration::from_secs(60);

/// Answers under way have this long when the server is stopped.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// How long the loop waits after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(5);

/// Requests with a longer head are refused with 431.
const MAX_HEAD: usize = 16 * 1024;

/// Requests with more headers are refused with 431.
const MAX_HEADERS: usize = 64;

/// Something that connections come from.
pub(crate) trait Listener {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listener for TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn accept(&self) -> io::Result<Self::Stream> {
        let (stream, _) = Self::accept(self).await?;
        // Answers are small and wanted at once.
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Listener for UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<Self::Stream> {
        let (stream, _) = Self::accept(self).await?;
        Ok(stream)
    }
}

/// Serves until `stop` is cancelled.
pub(crate) async fn serve(
    listener: impl Listener,
    router: Router,
    (tls, shared): (Option<Tls>, &Arc<Shared>),
    stop: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            () = stop.cancelled() => break,
            next = next => next,
        };
        match stream {
            Ok(stream) => {
                let (tls, router, stop) = (tls.clone(), router.clone(), stop.clone());
                let shared = Arc::clone(shared);
                open.spawn(async move {
                    let counted = shared.metrics.connected();
                    match tls {
                        None => converse(stream, router, stop).await,
                        // Beside the loop, which does not wait for a client that says nothing.
                        Some(tls) => {
                            if let Some(stream) = tls.accept(stream).await {
                                converse(stream, router, stop).await;
                            }
                        }
                    }
                    drop(counted);
                    drop(place);
                });
            }
            // Too many open files, or a client that is gone already: the next may fare better.
            Err(_) => time::sleep(PAUSE).await,
        }
        while open.try_join_next().is_some() {}
    }
    drop(listener);
    let ended = async { while open.join_next().await.is_some() {} };
    // Whatever is left after that is dropped, and its calls are cancelled.
    let _ = time::timeout(SHUTDOWN, ended).await;
}

async fn converse<S>(stream: S, router: Router, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
        let request: Request = request.map(Body::new);
        hyper::service::Service::call(&service, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // A client that went away is nobody's error.
    tokio::select! {
        _ = &mut connection => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

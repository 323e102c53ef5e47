//! One connection: one request, within its size and its time.

use std::{future::poll_fn, io, pin::pin};

use axum::{Router, extract::Request};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time};
use tokio_util::sync::CancellationToken;

use super::{Limits, paced::Paced, places::Place};

/// Larger heads are refused with 431. hyper takes no smaller number.
const MAX_HEAD: usize = 8 * 1024;

/// More headers are refused with 431.
const MAX_HEADERS: usize = 64;

const TIMED_OUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Serves a connection until it ends, its time is over, its place is wanted by another, or the server
/// is stopped and nothing was asked for.
pub(super) async fn serve(
    stream: TcpStream,
    place: Place,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    let all = limits.request.saturating_add(limits.response);
    let work = time::timeout(all, converse(stream, &place, router, limits));
    let mut work = pin!(work);
    let evicted = place.evicted();
    // A client that went away is nobody's error.
    tokio::select! {
        _ = &mut work => return,
        () = evicted.cancelled() => return,
        () = stop.cancelled() => {}
    }
    if place.is_answered() {
        let _ = work.await;
    }
}

async fn converse(
    stream: TcpStream,
    place: &Place,
    router: Router,
    limits: Limits,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let asked = place.asked();
    let service = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
        // The whole head is here; a body is never looked at.
        asked.tell();
        let request: Request = request.map(axum::body::Body::new);
        Box::pin(hyper::service::Service::call(&service, request))
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.request)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .keep_alive(false)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(Paced::new(stream, limits.write)), service);
    let ended = poll_fn(|cx| connection.poll_without_shutdown(cx)).await;
    let mut stream = connection.into_parts().io.into_inner();
    if ended.is_err_and(|error| error.is_timeout()) && !place.is_answered() {
        stream.write_all(TIMED_OUT).await?;
    }
    stream.shutdown().await
}

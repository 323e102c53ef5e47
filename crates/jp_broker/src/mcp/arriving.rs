//! A response of an MCP server as it arrives: read on a thread, scrubbed, and handed on in pieces.
//!
//! The client underneath blocks, so each response has a thread until its body ends or its reader
//! is gone.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use jp_mcp::{HttpBody, HttpFailure, HttpFailureKind, HttpResponse};
use tokio::sync::{mpsc, oneshot};

use super::exchange::{failed, failure};
use crate::{
    Scrubber,
    http::{Bounds, Client, DownloadError, Receive, Request, Response, Take},
    secrets::Passing,
};

/// Pieces that wait to be taken; the server waits with what comes after.
const MAX_WAITING: usize = 4;

/// Makes a request and waits for the head of its response.
pub(super) async fn request(
    client: Arc<Client>,
    request: Request,
    bounds: Bounds,
    scrubber: Scrubber,
) -> Result<HttpResponse, HttpFailure> {
    let stop = Stop::default();
    let is_stopped = Arc::clone(&stop.0);
    let (head, heard) = oneshot::channel();
    let (pieces, arriving) = mpsc::channel(MAX_WAITING);
    tokio::task::spawn_blocking(move || {
        let mut receiver = Receiver {
            head: Some(head),
            pieces,
            passing: Passing::new(&scrubber),
            scrubber,
        };
        let done = client.download(&request, &bounds, &mut receiver, &|| {
            is_stopped.load(Ordering::Acquire)
        });
        receiver.finish(done);
    });
    let Ok(head) = heard.await else {
        return Err(broke_off());
    };
    let (status, headers) = head?;
    let body = Box::new(Arriving {
        pieces: arriving,
        is_over: false,
        _ends_with_it: stop,
    });
    Ok(HttpResponse {
        status,
        headers,
        body,
    })
}

fn broke_off() -> HttpFailure {
    failed(HttpFailureKind::Failed, "reading the response broke off")
}

/// Ends a request when it is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What goes from the thread to the reader.
enum Piece {
    Bytes(Vec<u8>),
    /// The body is whole.
    End,
}

type Head = (u16, Vec<(String, Vec<u8>)>);

/// Takes a response on the thread. Some servers repeat what they are sent, so the secrets that were
/// sent are taken out of all of it.
struct Receiver {
    head: Option<oneshot::Sender<Result<Head, HttpFailure>>>,
    pieces: mpsc::Sender<Result<Piece, HttpFailure>>,
    passing: Passing,
    scrubber: Scrubber,
}

impl Receiver {
    /// Says how it ended.
    fn finish(mut self, done: Result<Response, DownloadError>) {
        match (done.map_err(|error| why(&error)), self.head.take()) {
            // The caller may be gone.
            (Err(failure), Some(head)) => drop(head.send(Err(failure))),
            (Err(failure), None) => drop(self.pieces.blocking_send(Err(failure))),
            (Ok(_), _) => {
                let rest = self.passing.finish();
                let rest = (!rest.is_empty()).then_some(Piece::Bytes(rest));
                for piece in rest.into_iter().chain([Piece::End]) {
                    let _ = self.pieces.blocking_send(Ok(piece));
                }
            }
        }
    }
}

impl Receive for Receiver {
    fn head(&mut self, head: &Response) -> io::Result<Take> {
        let clean = |value: &[u8]| self.scrubber.scrub_bytes(value).into_owned();
        let headers = head.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), clean(value)));
        let heard = (head.status, headers.collect());
        if let Some(head) = self.head.take() {
            let sent = head.send(Ok(heard));
            sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(Take::Body)
    }

    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        let bytes = self.passing.push(bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        let sent = self.pieces.blocking_send(Ok(Piece::Bytes(bytes)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn why(error: &DownloadError) -> HttpFailure {
    match error {
        DownloadError::Http(error) => failure(error),
        DownloadError::TooLarge { .. } => failed(HttpFailureKind::TooLarge, error.to_string()),
        DownloadError::Stalled { .. } => failed(HttpFailureKind::Timeout, error.to_string()),
        DownloadError::Receiver(_) | DownloadError::Redirected { .. } => {
            failed(HttpFailureKind::Failed, error.to_string())
        }
    }
}

/// The body of a response. Dropping it closes the connection.
struct Arriving {
    pieces: mpsc::Receiver<Result<Piece, HttpFailure>>,
    is_over: bool,
    _ends_with_it: Stop,
}

#[async_trait]
impl HttpBody for Arriving {
    async fn next(&mut self) -> Option<Result<Vec<u8>, HttpFailure>> {
        if self.is_over {
            return None;
        }
        match self.pieces.recv().await {
            Some(Ok(Piece::Bytes(bytes))) => return Some(Ok(bytes)),
            Some(Ok(Piece::End)) => self.is_over = true,
            Some(Err(failure)) => {
                self.is_over = true;
                return Some(Err(failure));
            }
            // A body without an end is not a whole one.
            None => {
                self.is_over = true;
                return Some(Err(broke_off()));
            }
        }
        None
    }
}

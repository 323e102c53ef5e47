//! One connection that speaks HTTP, and one request over it. Does not know who asks.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{TrySendError, http1, http2},
    ext::{ReasonPhrase, on_informational},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{sync::Notify, time::timeout};

use super::{
    Gate, HttpError, Response,
    admit::Admitted,
    error::shown,
    message::Prepared,
    reactor,
    target::Target,
    wire::{self, Protocol, Stream},
};

/// More response headers are an error.
const MAX_HEADERS: usize = 128;
/// More `1xx` responses before the real one are an error.
const MAX_INTERIM: usize = 16;
/// The least that hyper reads ahead.
const MIN_BUFFER: usize = 8192;
/// How often a server that several requests wait for must show that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a kept connection may take to be ready again.
const MAX_UNREADY: Duration = Duration::from_millis(20);

/// A connection to one of the checked addresses of a host.
pub(super) struct Line {
    sender: Sender,
    address: SocketAddr,
    max_header_bytes: usize,
    received: Arc<AtomicU64>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// Why a request has no response, and what became of it.
pub(super) struct Unanswered {
    pub(super) error: HttpError,
    pub(super) fate: Fate,
}

/// What a server can have seen of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing: it was never sent.
    Unsent,
    /// Anything: the connection closed before there was an answer.
    HungUp,
    /// The server answered something, or time was lost otherwise.
    Failed,
}

impl Line {
    /// Connects to the first address that answers, and agrees on a protocol.
    pub(super) async fn open(
        target: Target,
        addresses: Vec<Admitted>,
        gate: Arc<Gate>,
    ) -> Result<Self, HttpError> {
        let max_header_bytes = gate.max_header_bytes;
        reactor::run(async move {
            let (stream, address) = match &gate.proxy {
                None => wire::connect(&target, &addresses).await?,
                Some(proxy) => proxy.connect(&gate.resolver, &target, &addresses).await?,
            };
            let (stream, protocol) = wire::secure(&target, stream, &gate.tls).await?;
            let received = stream.received();
            let greeted = match protocol {
                Protocol::Http1 => greet_http1(stream, max_header_bytes).await,
                Protocol::Http2 => greet_http2(stream, max_header_bytes).await,
            };
            let sender = greeted.map_err(|error| HttpError::Other {
                host: target.authority(),
                reason: shown(&error.to_string()),
            })?;
            Ok(Self {
                sender,
                address,
                max_header_bytes,
                received,
            })
        })
        .await?
    }

    /// Returns where it leads.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells whether nothing can be sent any more.
    pub(super) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    /// Returns a second handle of a connection that takes several requests at once.
    pub(super) fn share(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => Some(Self {
                sender: Sender::Http2(sender.clone()),
                address: self.address,
                max_header_bytes: self.max_header_bytes,
                received: Arc::clone(&self.received),
            }),
        }
    }

    /// Waits for a moment until the last response is out of the way; returns nothing when it is not.
    pub(super) async fn ready(mut self) -> Option<Self> {
        let is_ready = match &self.sender {
            Sender::Http1(sender) => sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        };
        if is_ready {
            return Some(self);
        }
        let waiting = reactor::run(async move {
            let ready = match &mut self.sender {
                Sender::Http1(sender) => timeout(MAX_UNREADY, sender.ready()).await,
                Sender::Http2(sender) => timeout(MAX_UNREADY, sender.ready()).await,
            };
            matches!(ready, Ok(Ok(()))).then_some(self)
        });
        waiting.await.ok()?
    }

    /// Sends a request and waits for the head of its response.
    pub(super) async fn send(
        &mut self,
        request: &Prepared,
        target: &Target,
    ) -> Result<(Response, Incoming), Unanswered> {
        let before = self.received.load(Ordering::Relaxed);
        let protocol = match &self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        };
        let made = request.for_protocol(target, protocol);
        let mut made = made.map_err(|error| Unanswered {
            error,
            fate: Fate::Failed,
        })?;
        let too_many = Arc::new(Notify::new());
        count_interim(&mut made, &too_many);
        let sending = async {
            match &mut self.sender {
                Sender::Http1(sender) => sender.try_send_request(made).await,
                Sender::Http2(sender) => sender.try_send_request(made).await,
            }
        };
        let answered = tokio::select! {
            answered = sending => answered,
            () = too_many.notified() => {
                return Err(failed(target, "the server sent too many interim responses"));
            }
        };
        match answered {
            Ok(response) => {
                let (head, body) = response.into_parts();
                let head = self.read(head, target, protocol);
                head.map(|head| (head, body))
            }
            Err(error) => Err(self.unanswered(error, target, before)),
        }
    }

    fn read(
        &self,
        head: http::response::Parts,
        target: &Target,
        protocol: Protocol,
    ) -> Result<Response, Unanswered> {
        if head.status.as_u16() < 200 {
            return Err(failed(target, "the server switched to another protocol"));
        }
        let count = head.headers.len();
        let bytes = head.headers.iter();
        let bytes: usize = bytes
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if count > MAX_HEADERS {
            return Err(too_large("header count", MAX_HEADERS));
        }
        if bytes > self.max_header_bytes {
            return Err(too_large("header bytes", self.max_header_bytes));
        }
        let said = head.extensions.get::<ReasonPhrase>();
        let reason = match (said, protocol) {
            (Some(said), _) => String::from_utf8_lossy(said.as_bytes()).into_owned(),
            (None, Protocol::Http1) => head
                .status
                .canonical_reason()
                .unwrap_or_default()
                .to_owned(),
            (None, Protocol::Http2) => String::new(),
        };
        let own = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.as_str().to_owned(), value.as_bytes().to_vec())
        };
        Ok(Response {
            status: head.status.as_u16(),
            reason,
            headers: head.headers.iter().map(own).collect(),
            body: Vec::new(),
        })
    }

    fn unanswered<T>(
        &self,
        mut error: TrySendError<T>,
        target: &Target,
        before: u64,
    ) -> Unanswered {
        let unsent = error.take_message().is_some();
        let error = error.into_error();
        if error.is_parse_too_large() {
            // One error for two limits: what arrived tells which it was.
            let received = self.received.load(Ordering::Relaxed).saturating_sub(before);
            let limit = self.max_header_bytes;
            return match usize::try_from(received).is_ok_and(|received| received <= limit) {
                true => too_large("header count", MAX_HEADERS),
                false => too_large("header bytes", limit),
            };
        }
        let fate = match unsent {
            true => Fate::Unsent,
            false if error.is_parse() => Fate::Failed,
            false => Fate::HungUp,
        };
        let error = http_error(&error, target);
        Unanswered { error, fate }
    }
}

/// Makes the error of what hyper found wrong.
pub(super) fn http_error(error: &hyper::Error, target: &Target) -> HttpError {
    let source = std::error::Error::source(error);
    let ended = source.and_then(|source| source.downcast_ref::<io::Error>());
    let is_cut = ended.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
    let reason = if error.is_incomplete_message() || is_cut {
        "the connection closed in the middle of a response".to_owned()
    } else if error.is_parse() {
        "invalid HTTP response".to_owned()
    } else {
        let source = source.map(|source| format!(": {source}"));
        shown(&format!("{error}{}", source.unwrap_or_default()))
    };
    HttpError::Other {
        host: target.authority(),
        reason,
    }
}

fn failed(target: &Target, reason: &str) -> Unanswered {
    let error = HttpError::Other {
        host: target.authority(),
        reason: reason.to_owned(),
    };
    Unanswered {
        error,
        fate: Fate::Failed,
    }
}

fn too_large(part: &'static str, limit: usize) -> Unanswered {
    Unanswered {
        error: HttpError::TooLarge { part, limit },
        fate: Fate::Failed,
    }
}

/// A server could send interim responses for as long as there is time.
fn count_interim(request: &mut http::Request<Full<Bytes>>, too_many: &Arc<Notify>) {
    let (count, too_many) = (AtomicUsize::new(0), Arc::clone(too_many));
    on_informational(request, move |_| {
        if count.fetch_add(1, Ordering::Relaxed) >= MAX_INTERIM {
            too_many.notify_one();
        }
    });
}

async fn greet_http1(stream: Stream, max_header_bytes: usize) -> hyper::Result<Sender> {
    let (sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .max_headers(MAX_HEADERS)
        .max_header_size(max_header_bytes)
        .max_buf_size(max_header_bytes.max(MIN_BUFFER))
        .handshake(TokioIo::new(stream))
        .await?;
    // Its errors reach the request that is under way.
    tokio::spawn(connection);
    Ok(Sender::Http1(sender))
}

async fn greet_http2(stream: Stream, max_header_bytes: usize) -> hyper::Result<Sender> {
    // Past its own limit h2 only says that the protocol was broken. Up to here we say which limit it
    // was, and headers cannot unfold any further.
    let most = u32::try_from(max_header_bytes.saturating_mul(8)).unwrap_or(u32::MAX);
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        // A network that is gone reports nothing: requests must not wait for it.
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_header_list_size(most)
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(connection);
    Ok(Sender::Http2(sender))
}

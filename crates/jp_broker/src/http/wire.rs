//! Sockets and TLS. Connects to admitted addresses only; does not know HTTP.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::stream::{FuturesUnordered, StreamExt};
use rustls::{
    ClientConfig, RootCertStore,
    client::Resumption,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::{
    HttpError,
    admit::Admitted,
    error::shown,
    target::{Host, Scheme, Target},
};

/// How long an address may be silent before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first address that answers.
pub(super) async fn connect(
    target: &Target,
    addresses: &[Admitted],
) -> Result<(TcpStream, SocketAddr), HttpError> {
    let addresses = addresses.iter().map(|address| address.address());
    race(addresses).await.map_err(|reason| HttpError::Connect {
        host: target.authority(),
        reason,
    })
}

/// Connects to the first address that answers; otherwise returns the error of the last one.
pub(super) async fn race(
    addresses: impl Iterator<Item = SocketAddr>,
) -> Result<(TcpStream, SocketAddr), String> {
    let mut waiting = addresses;
    let mut trying = FuturesUnordered::new();
    let mut reason = "it has no address".to_owned();
    loop {
        match waiting.next() {
            Some(address) => trying.push(async move {
                let stream = TcpStream::connect(address).await;
                stream.map(|stream| (stream, address))
            }),
            None if trying.is_empty() => return Err(reason),
            None => {}
        }
        match timeout(HEAD_START, trying.next()).await {
            Ok(Some(Ok(connected))) => return Ok(connected),
            Ok(Some(Err(error))) => reason = error.to_string(),
            Ok(None) | Err(_) => {}
        }
    }
}

/// Makes the settings of all TLS connections: public roots and the given ones, no session kept.
pub(super) fn tls_config(extra_roots: &[Vec<u8>]) -> Result<Arc<ClientConfig>, HttpError> {
    let failure = |reason: String| HttpError::Tls {
        host: "any host".to_owned(),
        reason,
    };
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    for root in extra_roots {
        let added = roots.add(CertificateDer::from(root.as_slice()));
        added.map_err(|error| failure(format!("invalid certificate of an extra root: {error}")))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failure(error.to_string()))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    // A session that is taken up again would tie callers together that know nothing of each other.
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// What both sides agreed to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Makes the connection ready for HTTP: for `https` the server has proved its name.
pub(super) async fn secure(
    target: &Target,
    stream: TcpStream,
    tls: &Arc<ClientConfig>,
) -> Result<(Stream, Protocol), HttpError> {
    // Only a matter of speed.
    let _ = stream.set_nodelay(true);
    if target.scheme == Scheme::Http {
        return Ok((Stream::new(Socket::Plain(stream)), Protocol::Http1));
    }
    let failure = |reason: String| HttpError::Tls {
        host: target.authority(),
        reason: shown(&reason),
    };
    let name = match &target.host {
        Host::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| failure("no certificate can hold this name".to_owned()))?,
        Host::Address(address) => ServerName::from(*address),
    };
    let stream = TlsConnector::from(Arc::clone(tls))
        .connect(name, stream)
        .await
        .map_err(|error| failure(error.to_string()))?;
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => Protocol::Http2,
        _ => Protocol::Http1,
    };
    Ok((Stream::new(Socket::Tls(Box::new(stream))), protocol))
}

/// A connection to the host, secured if the URL says so, that counts what it receives.
pub(super) struct Stream {
    socket: Socket,
    received: Arc<AtomicU64>,
}

enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn new(socket: Socket) -> Self {
        let received = Arc::default();
        Self { socket, received }
    }

    /// Returns the count of received bytes, which goes on.
    pub(super) fn received(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.received)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        ready!(read)?;
        let count = buffer.filled().len().saturating_sub(before);
        self.received.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(context),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

//! Sockets and TLS under a deadline. Connects to admitted addresses only; does not know HTTP.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    client::Resumption,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};

use super::{
    HttpError,
    admit::Admitted,
    deadline::{self, Deadline},
    error::shown,
    target::{Host, Scheme, Target},
};

/// Connects to the first address that answers; each gets its share of the time.
pub(super) fn connect(
    target: &Target,
    addresses: &[Admitted],
    deadline: &Deadline<'_>,
) -> Result<TcpStream, HttpError> {
    let mut reason = "it has no address".to_owned();
    for (tried, address) in addresses.iter().enumerate() {
        let waiting = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = (deadline.left()? / waiting).max(Duration::from_millis(1));
        let address = address.address();
        let connect = move || TcpStream::connect_timeout(&address, share);
        match deadline::in_time(deadline, connect)? {
            Ok(stream) => return Ok(stream),
            Err(error) => reason = error.to_string(),
        }
    }
    // A share of the time may end a moment before the whole.
    deadline.left()?;
    Err(HttpError::Connect {
        host: target.authority(),
        reason,
    })
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
        added.map_err(|error| failure(format!("an extra root is no certificate: {error}")))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failure(error.to_string()))?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A connection to the host, secured if the URL says so.
pub(super) enum Connection<'a> {
    Plain(Socket<'a>),
    Tls(Box<StreamOwned<ClientConnection, Socket<'a>>>),
}

/// Makes the connection ready for HTTP: for `https` the server has proved its name.
pub(super) fn open<'a>(
    target: &Target,
    stream: TcpStream,
    tls: &Arc<ClientConfig>,
    deadline: &'a Deadline<'a>,
) -> Result<Connection<'a>, HttpError> {
    // Only a matter of speed: the head and the body go out in two writes.
    let _ = stream.set_nodelay(true);
    let mut socket = Socket { stream, deadline };
    if target.scheme == Scheme::Http {
        return Ok(Connection::Plain(socket));
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
    let client = ClientConnection::new(Arc::clone(tls), name);
    let mut client = client.map_err(|error| failure(error.to_string()))?;
    while client.is_handshaking() {
        if let Err(error) = client.complete_io(&mut socket) {
            deadline.left()?;
            return Err(failure(error.to_string()));
        }
    }
    Ok(Connection::Tls(Box::new(StreamOwned::new(client, socket))))
}

impl Read for Connection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// A socket whose every read and write ends with the deadline.
pub(super) struct Socket<'a> {
    stream: TcpStream,
    deadline: &'a Deadline<'a>,
}

impl Socket<'_> {
    /// Repeats a read or write in slices. A server that sends a byte now and then gains no time.
    fn in_slices<T>(
        &mut self,
        mut step: impl FnMut(&mut TcpStream, Duration) -> io::Result<T>,
    ) -> io::Result<T> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        loop {
            let slice = self.deadline.slice().map_err(io::Error::other)?;
            match step(&mut self.stream, slice) {
                Err(error) if matches!(error.kind(), Interrupted | TimedOut | WouldBlock) => {}
                done => return done,
            }
        }
    }
}

impl Read for Socket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.in_slices(|stream, slice| {
            stream.set_read_timeout(Some(slice))?;
            stream.read(buffer)
        })
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_slices(|stream, slice| {
            stream.set_write_timeout(Some(slice))?;
            stream.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

//! A proxy between us and every host, where the user's own configuration names one.
//!
//! It is asked for a tunnel to an address that was checked, never for a name: what a name means is
//! not the proxy's to decide. The tunnel carries what a connection of our own would.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use bytes::Bytes;
use http::{HeaderValue, Method, header};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{
    HttpError, Resolve,
    admit::Admitted,
    error::shown,
    reactor,
    target::{Host, Scheme, Target},
    wire,
};

/// Where a proxy is. The code that makes one vouches for it: its address is not checked against any grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy(Target);

impl Proxy {
    /// Reads the URL of a proxy: `http://proxy.example:3128`.
    ///
    /// # Errors
    /// [`HttpError::Invalid`] if it is not of that form.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        let target = Target::parse(url)?;
        if target.scheme != Scheme::Http || target.path != "/" {
            let reason = "invalid URL of a proxy: expected `http://host:port`";
            return Err(HttpError::invalid(reason));
        }
        Ok(Self(target))
    }

    /// Opens a tunnel to the first of the addresses that the proxy reaches.
    pub(super) async fn connect(
        &self,
        resolver: &Arc<dyn Resolve>,
        target: &Target,
        addresses: &[Admitted],
    ) -> Result<(TcpStream, SocketAddr), HttpError> {
        let own = self.addresses(resolver).await?;
        let mut reason = "it has no address".to_owned();
        for address in addresses.iter().map(|address| address.address()) {
            let (stream, _) = wire::race(own.iter().copied())
                .await
                .map_err(|reason| self.failed(&reason))?;
            match tunnel(stream, address).await {
                Ok(stream) => return Ok((stream, address)),
                Err(error) => reason = format!("proxy {}: {error}", self.0.authority()),
            }
        }
        Err(HttpError::Connect {
            host: target.authority(),
            reason: shown(&reason),
        })
    }

    async fn addresses(&self, resolver: &Arc<dyn Resolve>) -> Result<Vec<SocketAddr>, HttpError> {
        let found: Vec<IpAddr> = match &self.0.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let (resolver, name) = (Arc::clone(resolver), name.clone());
                let found = reactor::run_blocking(move || resolver.resolve(&name)).await?;
                found.map_err(|error| self.failed(&error.to_string()))?
            }
        };
        let port = self.0.port;
        let found = found.into_iter().map(|ip| SocketAddr::new(ip, port));
        Ok(found.collect())
    }

    fn failed(&self, reason: &str) -> HttpError {
        HttpError::Connect {
            host: format!("the proxy {}", self.0.authority()),
            reason: shown(reason),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum TunnelError {
    #[error(transparent)]
    Http(#[from] hyper::Error),
    #[error("it answered {0}")]
    Refused(u16),
    #[error("it sent more than its answer")]
    Chatty,
    #[error("the address cannot be sent")]
    Address,
}

/// Asks for a tunnel; afterwards the stream is the other side's.
async fn tunnel(stream: TcpStream, to: SocketAddr) -> Result<TcpStream, TunnelError> {
    let authority = to.to_string();
    let mut request = http::Request::new(Empty::<Bytes>::new());
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = authority.parse().map_err(|_| TunnelError::Address)?;
    let host = HeaderValue::from_str(&authority).map_err(|_| TunnelError::Address)?;
    request.headers_mut().insert(header::HOST, host);
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(connection.with_upgrades());
    let response = sender.send_request(request).await?;
    if !response.status().is_success() {
        return Err(TunnelError::Refused(response.status().as_u16()));
    }
    let upgraded = hyper::upgrade::on(response).await?;
    match upgraded.downcast::<TokioIo<TcpStream>>() {
        // Bytes before the first of ours are the proxy's, and would be read as the server's.
        Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io.into_inner()),
        _ => Err(TunnelError::Chatty),
    }
}

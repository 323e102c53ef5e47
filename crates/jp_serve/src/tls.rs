//! TLS: a certificate and its key, as `--tls-cert` and `--tls-key` name them.

use std::{sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::ServeError;

/// A client has this long to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A certificate and its key.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// Takes a chain of certificates and the key of the first, both as PEM.
    ///
    /// # Errors
    ///
    /// When one of them cannot be used, or they do not belong together.
    pub fn new(chain: &[u8], key: &[u8]) -> Result<Self, ServeError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|_| ServeError::Certificate)?;
        if chain.is_empty() {
            return Err(ServeError::Certificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| ServeError::PrivateKey)?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Shakes hands with a client; nothing when it does not, or takes too long.
    pub(crate) async fn accept<S>(&self, stream: S) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let shaken = time::timeout(HANDSHAKE, self.0.accept(stream)).await;
        shaken.ok()?.ok()
    }
}

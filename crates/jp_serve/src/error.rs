//! Why a server cannot go on.

use std::io;

/// Why a server cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The key that seals what clients keep for the server cannot be made.
    #[error("cannot make a key: the system gives no random bytes")]
    NoRandomness,
    /// The client did not speak the protocol.
    #[error("the client did not start the protocol: {0}")]
    Handshake(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The connection cannot be served.
    #[error("cannot serve: {0}")]
    Io(#[from] io::Error),
    /// What the server keeps for its clients cannot be used.
    #[error(transparent)]
    Store(#[from] jp_store::StoreError),
    /// Work of the server was broken off by a bug.
    #[error("the server failed: {0}")]
    Failed(#[from] tokio::task::JoinError),
    /// A token that anybody could guess.
    #[error(
        "invalid token: expected at least {} letters, digits or punctuation, found {found}",
        crate::gate::MIN_TOKEN
    )]
    ShortToken {
        /// How long it is.
        found: usize,
    },
    /// The certificates are not PEM, or none are there.
    #[error("invalid certificate: expected a chain of certificates as PEM")]
    Certificate,
    /// The key is not PEM.
    #[error("invalid key: expected a private key as PEM")]
    PrivateKey,
    /// Certificate and key cannot be used together.
    #[error("cannot use certificate and key: {0}")]
    Tls(#[from] rustls::Error),
}

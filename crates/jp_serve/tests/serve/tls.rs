//! HTTPS: what is served over TLS, and what is not.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use jp_serve::{Options, Server, Tls, Token};

use crate::{
    kit::User,
    site::{Answer, OWN},
};

const CHAIN: &[u8] = include_bytes!("keys/tls.pem");
const KEY: &[u8] = include_bytes!("keys/tls.key");

/// Sends the head of a request through TLS, and returns what came back.
async fn get(addr: std::net::SocketAddr, host: &str, bearer: &str) -> Answer {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(CHAIN).unwrap())
        .unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from("jp.example.com").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await.unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nHost: {host}\r\nOrigin: https://{host}\r\n\
         Authorization: Bearer {bearer}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    Answer::read(&mut stream).await
}

#[tokio::test]
async fn a_server_with_a_certificate_speaks_tls_and_knows_the_hosts_it_was_told() {
    let user = User::new();
    let mut options = Options::new("ada");
    options.hosts = vec!["jp.example.com".to_owned()];
    let server = Server::new(user.live(), options).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let (token, stopped) = (Token::from_text(OWN).unwrap(), stop.clone());
    let tls = Tls::new(CHAIN, KEY).unwrap();
    tokio::spawn(async move { server.on_tls(listener, tls, token, stopped).await });
    // A client that says nothing holds nobody up.
    let _silent = TcpStream::connect(addr).await.unwrap();
    assert_eq!(get(addr, "jp.example.com", OWN).await.status, 200);
    assert_eq!(
        get(addr, &format!("jp.example.com:{}", addr.port()), OWN)
            .await
            .status,
        200
    );
    assert_eq!(get(addr, "evil.example", OWN).await.status, 403);
    assert_eq!(get(addr, "jp.example.com", "x").await.status, 401);
    // Who does not speak TLS gets nothing.
    let mut plain = TcpStream::connect(addr).await.unwrap();
    plain
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut plain, &mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    stop.cancel();
}

#[test]
fn a_certificate_needs_its_own_key() {
    for (chain, key) in [(KEY, KEY), (CHAIN, CHAIN), (b"", KEY), (CHAIN, b"")] {
        assert!(Tls::new(chain, key).is_err());
    }
}

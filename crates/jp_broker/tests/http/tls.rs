//! Secure connections to a real TLS server. Its certificate (for `tls.example` and `127.0.0.1`, valid
//! for a hundred years) and the root that signed it were made with `openssl req` and `openssl x509`;
//! nobody has the root's key.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use crate::server::{Names, Server, get, options, read_request};
use jp_broker::http::{Client, HttpError, Options, Request, Response};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};

const ROOT: &[u8] = include_bytes!("certificates/root.der");
const CERTIFICATE: &[u8] = include_bytes!("certificates/server.der");
const KEY: &[u8] = include_bytes!("certificates/server-key.der");
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// How a server ends a connection.
#[derive(Clone, Copy)]
enum End {
    Said,
    Unsaid,
}

fn accept(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let key = PrivateKeyDer::try_from(KEY).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
}

fn secure_server(answer: &'static str, end: End) -> Server {
    Server::raw(move |stream| {
        let mut stream = accept(stream);
        let mut first = [0];
        // A client that does not trust the certificate hangs up here.
        if stream.read(&mut first).is_err() {
            return;
        }
        read_request(&mut stream);
        let _ = stream.write_all(answer.as_bytes());
        if matches!(end, End::Said) {
            stream.conn.send_close_notify();
        }
        let _ = stream.flush();
    })
}

/// Asks `https://<host>:<port>/`, where every name is this machine.
fn ask(server: &Server, host: &str, roots: &[&[u8]]) -> Result<Response, HttpError> {
    let options = Options {
        extra_roots: roots.iter().map(|root| root.to_vec()).collect(),
        ..options(&[host, &server.grant()])
    };
    let client = Client::with_resolver(options, Names::answering(&["127.0.0.1"])).unwrap();
    client.request(&Request {
        timeout: Some(Duration::from_secs(5)),
        ..get(&format!("https://{host}:{}/", server.port))
    })
}

#[test]
fn a_trusted_server_that_proves_its_name_answers() {
    let server = secure_server(OK, End::Said);
    for host in ["tls.example", "127.0.0.1"] {
        assert_eq!(ask(&server, host, &[ROOT]).unwrap().body, b"hi", "{host}");
    }
}

#[test]
fn a_server_that_nobody_trusts_is_refused() {
    let server = secure_server(OK, End::Said);
    let found = ask(&server, "tls.example", &[]);
    assert!(matches!(found, Err(HttpError::Tls { .. })), "{found:?}");
}

#[test]
fn a_server_with_another_name_is_refused() {
    let server = secure_server(OK, End::Said);
    let found = ask(&server, "other.example", &[ROOT]);
    assert!(matches!(found, Err(HttpError::Tls { .. })), "{found:?}");
}

#[test]
fn a_server_that_speaks_no_tls_is_refused() {
    let server = Server::raw(|mut stream| {
        let _ = stream.write_all(OK.as_bytes());
        let _ = stream.read(&mut [0; 1000]);
    });
    let found = ask(&server, "tls.example", &[ROOT]);
    assert!(matches!(found, Err(HttpError::Tls { .. })), "{found:?}");
}

#[test]
fn a_handshake_that_hangs_times_out() {
    let server = Server::raw(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let options = options(&["127.0.0.1"]);
    let found = Client::new(options).unwrap().request(&Request {
        timeout: Some(Duration::from_millis(150)),
        ..get(&format!("https://127.0.0.1:{}/", server.port))
    });
    let limit = Duration::from_millis(150);
    assert_eq!(found, Err(HttpError::Timeout { limit }));
}

#[test]
fn a_body_without_length_counts_only_if_the_server_says_it_is_over() {
    let answer = "HTTP/1.1 200 OK\r\n\r\nall of it";
    let said = secure_server(answer, End::Said);
    assert_eq!(
        ask(&said, "tls.example", &[ROOT]).unwrap().body,
        b"all of it"
    );
    // Someone on the way could have cut it off.
    let unsaid = secure_server(answer, End::Unsaid);
    let found = ask(&unsaid, "tls.example", &[ROOT]);
    assert!(matches!(found, Err(HttpError::Other { .. })), "{found:?}");
}

#[test]
fn a_root_that_is_no_certificate_is_an_error() {
    let extra_roots = vec![b"not a certificate".to_vec()];
    let made = Client::new(Options {
        extra_roots,
        ..options(&[])
    });
    assert!(matches!(made, Err(HttpError::Tls { .. })));
}

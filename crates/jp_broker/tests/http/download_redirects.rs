//! Downloads that are sent elsewhere: where to, and with what.

use std::{
    io::Write,
    sync::{Arc, mpsc},
    time::Duration,
};

use jp_broker::{
    Wanted,
    http::{DownloadError, HttpError},
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};

use crate::{
    download::{get_until, shown, wanted, with_body},
    server::{Server, read_request},
};

/// A secure server for 127.0.0.1 that reports each request.
fn secure(answer: &'static str) -> (Server, mpsc::Receiver<String>) {
    let (sender, requests) = mpsc::channel();
    let key = include_bytes!("certificates/server-key.der").as_slice();
    let certificate = include_bytes!("certificates/server.der").as_slice();
    let server = Server::raw(move |stream| {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(certificate)],
                PrivateKeyDer::try_from(key).unwrap(),
            )
            .unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let _ = sender.send(read_request(&mut stream));
        let _ = stream.write_all(answer.as_bytes());
        stream.conn.send_close_notify();
        let _ = stream.flush();
    });
    (server, requests)
}

fn redirecting(to: &str) -> Server {
    Server::answering(format!(
        "HTTP/1.1 307 On\r\nLocation: {to}\r\nContent-Length: 4\r\n\r\npage"
    ))
}

#[test]
fn a_redirect_within_the_origin_takes_the_headers_along() {
    let server = Server::raw(|mut stream| {
        let request = read_request(&mut stream);
        let answer = match request.starts_with("GET /b ") && request.contains("Bearer secret") {
            true => with_body("200 OK", "here"),
            false => "HTTP/1.1 302 On\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        let _ = stream.write_all(answer.as_bytes());
    });
    let url = server.url();
    let found = shown(
        &server,
        &Wanted {
            same_origin: true,
            ..wanted(&url)
        },
    );
    assert_eq!(found, "200 here");
}

#[test]
fn another_origin_is_followed_over_https_only_and_gets_no_credentials() {
    let (goal, requests) = secure("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere");
    let to = format!("https://{}/x", goal.grant());
    let start = redirecting(&to);
    let url = start.url();
    let hosts = [start.grant(), goal.grant()];
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut bytes = Vec::new();
    let got = get_until(&hosts, &wanted(&url), &mut bytes, &|| false);
    assert_eq!(got.unwrap().head.status, 200);
    assert_eq!(bytes, b"here");
    assert!(start.request().contains("Bearer secret"));
    let sent = requests.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(!sent.contains("secret"), "{sent}");

    let strict = Wanted {
        same_origin: true,
        ..wanted(&url)
    };
    let got = get_until(&hosts, &strict, &mut Vec::new(), &|| false);
    assert!(matches!(got, Err(DownloadError::Redirected { .. })));

    let open = Server::answering(with_body("200 OK", "here"));
    let start = redirecting(&open.url());
    let hosts = [start.grant(), open.grant()];
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let got = get_until(&hosts, &wanted(&start.url()), &mut Vec::new(), &|| false);
    let error = got.unwrap_err().to_string();
    assert!(error.contains("not secure"), "{error}");
    assert!(open.had_no_request());
}

#[test]
fn every_hop_passes_the_gate() {
    let (goal, requests) = secure("HTTP/1.1 200 OK\r\n\r\nhere");
    let start = redirecting(&format!("https://{}/x", goal.grant()));
    let url = start.url();
    let got = get_until(&[&start.grant()], &wanted(&url), &mut Vec::new(), &|| false);
    assert!(matches!(
        got,
        Err(DownloadError::Http(HttpError::Denied { .. }))
    ));
    assert!(requests.try_recv().is_err());
}

#[test]
fn redirects_end() {
    let server = redirecting("/again");
    let found = shown(&server, &wanted(&server.url()));
    assert!(found.contains("more than 5 of them"), "{found}");
}

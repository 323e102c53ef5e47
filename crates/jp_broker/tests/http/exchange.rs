//! What goes over the wire, in both directions.

use std::io::{Read, Write};

use crate::server::{Server, ask, client, get};
use jp_broker::http::{HttpError, Request, Response};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn headers(pairs: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    let own = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
    pairs.iter().map(own).collect()
}

fn send(server: &Server, request: Request) -> Result<Response, HttpError> {
    let url = request.url.clone() + &server.url();
    client(&[&server.grant()]).request(&Request { url, ..request })
}

fn post(pairs: &[(&str, &[u8])], body: &str) -> Request {
    Request {
        method: "POST".to_owned(),
        headers: headers(pairs),
        body: body.into(),
        ..Request::default()
    }
}

#[test]
fn only_what_the_caller_says_is_sent() {
    let server = Server::answering(OK);
    let path = format!("{}a%20b?c=d&e#f", server.url());
    client(&[&server.grant()]).request(&get(&path)).unwrap();
    let host = server.grant();
    let expected = format!("GET /a%20b?c=d&e HTTP/1.1\r\nHost: {host}\r\n\r\n");
    assert_eq!(server.request(), expected);

    let request = post(
        &[("x-One", b"1"), ("Accept", b"*/*"), ("x-One", b"2")],
        "body",
    );
    send(&server, request).unwrap();
    let expected = format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nX-One: 1\r\nX-One: 2\r\nAccept: */*\r\n\
         Content-Length: 4\r\n\r\nbody"
    );
    assert_eq!(server.request(), expected);

    send(&server, post(&[], "")).unwrap();
    assert!(server.request().contains("\r\nContent-Length: 0\r\n"));
}

#[test]
fn a_response_comes_back_as_it_was_sent() {
    let server = Server::answering(
        b"HTTP/1.0 418 I'm a Teapot\r\nX-One: 1\r\nx-one:\t\xe4 \r\nContent-Encoding: gzip\r\n\
          Content-Length: 4\r\n\r\n\x1f\x8b\x00\xff"
            .as_slice(),
    );
    let response = ask(&server).unwrap();
    assert_eq!(
        (response.status, response.reason.as_str()),
        (418, "I'm a Teapot")
    );
    let expected = headers(&[
        ("x-one", b"1"),
        ("x-one", b"\xe4"),
        ("content-encoding", b"gzip"),
        ("content-length", b"4"),
    ]);
    assert_eq!(response.headers, expected);
    assert_eq!(
        response.body, b"\x1f\x8b\x00\xff",
        "compressed bodies stay compressed"
    );
    assert_eq!(response.header("X-ONE"), Some(b"1".as_slice()));
}

#[test]
fn chunks_are_put_together() {
    let server = Server::answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x\r\ncde\r\n0\r\nT: u\r\n\r\n",
    );
    assert_eq!(ask(&server).unwrap().body, b"abcde");
}

#[test]
fn a_head_request_has_no_body() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    let request = Request {
        method: "HEAD".to_owned(),
        ..Request::default()
    };
    assert_eq!(send(&server, request).unwrap().body, b"");
}

#[test]
fn an_answer_before_the_body_was_read_is_still_an_answer() {
    let server = Server::raw(|mut stream| {
        let _ = stream.read(&mut [0; 10]);
        let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let body = "x".repeat(4 * 1024 * 1024);
    assert_eq!(send(&server, post(&[], &body)).unwrap().status, 413);
}

#[test]
fn a_header_cannot_carry_another_line() {
    let server = Server::answering(OK);
    for (name, value) in [
        ("X", b"a\r\nHost: evil.example".as_slice()),
        ("X", b"a\nY: b"),
        ("X", b"a\rY: b"),
        ("X", b"a\r\n\r\nGET /admin HTTP/1.1"),
        ("X", b"a\0b"),
        ("X", b"\x7f"),
        ("X\r\nY", b"a"),
        ("X: a\r\nY", b"b"),
        ("X Y", b"a"),
        ("X:", b"a"),
        ("", b"a"),
        ("X\u{e4}", b"a"),
    ] {
        let found = send(&server, post(&[(name, value)], ""));
        assert!(
            matches!(found, Err(HttpError::Invalid { .. })),
            "{name:?}: {found:?}"
        );
    }
    for method in [
        "GET /admin HTTP/1.1\r\nX:",
        "GE T",
        "",
        "GET\n",
        "CONNECT",
        "connect",
        "TRACE",
    ] {
        let request = Request {
            method: method.to_owned(),
            ..Request::default()
        };
        let found = send(&server, request);
        assert!(
            matches!(found, Err(HttpError::Invalid { .. })),
            "{method:?}: {found:?}"
        );
    }
    assert!(server.had_no_request());
}

#[test]
fn a_caller_cannot_change_host_or_framing() {
    let server = Server::answering(OK);
    for (name, value) in [
        ("Host", "evil.example"),
        ("host", "127.0.0.1"),
        ("Content-Length", "3"),
        ("Content-Length", "4, 4"),
        ("Transfer-Encoding", "chunked"),
        ("transfer-encoding", "identity"),
        ("Connection", "Upgrade"),
        ("Connection", "X-Secret"),
        ("Upgrade", "h2c"),
    ] {
        let found = send(&server, post(&[(name, value.as_bytes())], "body"));
        assert!(
            matches!(found, Err(HttpError::Invalid { .. })),
            "{name}: {found:?}"
        );
    }
    assert!(server.had_no_request());

    // What is true anyway may be said, and is sent once.
    let host = server.grant();
    let same: [(&str, &[u8]); 3] = [
        ("host", host.as_bytes()),
        ("content-length", b"4"),
        ("connection", b"keep-alive"),
    ];
    send(&server, post(&same, "body")).unwrap();
    let sent = server.request().to_lowercase();
    for (name, times) in [("host:", 1), ("content-length:", 1), ("connection:", 0)] {
        assert_eq!(sent.matches(name).count(), times, "{sent}");
    }
}

#[test]
fn a_request_head_is_limited_in_number_and_bytes() {
    let server = Server::answering(OK);
    let many: Vec<(&str, &[u8])> = vec![("A", b"b"); 129];
    let large = vec![b'x'; 64 * 1024];
    for pairs in [many.as_slice(), &[("A", large.as_slice())]] {
        let found = send(&server, post(pairs, ""));
        assert!(matches!(found, Err(HttpError::Invalid { .. })), "{found:?}");
    }
    let most: Vec<(&str, &[u8])> = vec![("A", b"b"); 128];
    assert!(send(&server, post(&most, "")).is_ok());
}

#[test]
fn secrets_in_headers_and_queries_stay_out_of_debug_output() {
    let request = Request {
        url: "http://a.example/?key=hunter2".to_owned(),
        ..post(&[("Authorization", b"hunter2")], "hunter2")
    };
    let text = format!("{request:?}");
    assert!(
        text.contains("Authorization") && !text.contains("hunter2"),
        "{text}"
    );
}

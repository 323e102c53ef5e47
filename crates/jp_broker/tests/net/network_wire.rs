//! The network part of the security checklist, as a tool meets it: what goes over the wire.

use std::{io::Write, sync::Arc, time::Duration};

use flate2::{Compression, write::GzEncoder};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::{
    desk::{Desk, OK, Site, desk, get},
    server::{Server, read_request},
};

/// 1,000,001 zeros, by `zlib.brotliCompressSync` of node.
const BROTLI_BOMB: &[u8] = b"\x5b\x40\x42\x8f\x7f\x02\x20\x1e\x0b\x04\xf4\x73\x1e\x00";

/// A site whose certificate holds for 127.0.0.1, and the root that signed it.
fn secure(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (Site, Vec<u8>) {
    let key = include_bytes!("../http/certificates/server-key.der").as_slice();
    let certificate = include_bytes!("../http/certificates/server.der").as_slice();
    let site = Site::over(
        move |stream| {
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(
                    vec![CertificateDer::from(certificate)],
                    PrivateKeyDer::try_from(key).unwrap(),
                )
                .unwrap();
            StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
        },
        answer,
    );
    (
        site,
        include_bytes!("../http/certificates/root.der").to_vec(),
    )
}

#[test]
fn a17_ten_thousand_headers_are_an_error_in_either_direction() {
    let many = "A: b\r\n".repeat(10_000);
    let site = Site::saying(format!("HTTP/1.1 200 OK\r\n{many}\r\n"));
    let desk = desk(&[&site.grant()]);
    let (code, message) = desk.refusal(get(site.url("/")));
    assert_eq!(code, "output_limit", "{message}");

    let headers: serde_json::Map<String, Value> = (0..10_000)
        .map(|n| (format!("x-{n}"), json!("y")))
        .collect();
    let (code, message) =
        desk.refusal(json!({"method": "GET", "url": site.url("/"), "headers": headers}));
    assert_eq!(code, "invalid_args", "{message}");
    assert!(message.contains("at most 120"), "{message}");
    assert_eq!(site.seen().len(), 1);
}

#[test]
fn c34_a_secure_connection_is_not_left_for_an_open_one() {
    let goal = Site::saying(OK);
    let to = goal.url("/");
    let (start, root) = secure(move |request| match request.contains(" /stay ") {
        true => OK.into(),
        false => format!("HTTP/1.1 302 On\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into(),
    });
    let mut desk = desk(&[&goal.grant(), &start.grant()]);
    desk.services.web.extra_roots = vec![root];
    let url = |path: &str| format!("https://{}{path}", start.grant());
    assert_eq!(desk.request(get(url("/stay"))).unwrap()["text"], "hi");
    let (code, message) = desk.refusal(get(url("/")));
    assert_eq!(code, "upstream");
    assert!(message.contains("secure connection"), "{message}");
    assert!(goal.seen().is_empty());
}

#[test]
fn c35_host_and_framing_cannot_be_forged_and_headers_cannot_carry_lines() {
    let site = Site::saying(OK);
    let desk = desk(&[&site.grant()]);
    for (name, value) in [
        ("Host", "evil.example"),
        ("host", "169.254.169.254"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("X", "a\r\nHost: evil.example"),
        ("X", "a\n\nGET /admin HTTP/1.1"),
        ("X\r\nHost", "evil.example"),
        ("X: y\r\nZ", "a"),
        ("", "a"),
    ] {
        let (code, _) = desk.refusal(json!({
            "method": "POST", "url": site.url("/"), "body": "abc", "headers": {name: value},
        }));
        assert_eq!(code, "invalid_args", "{name:?}: {value:?}");
    }
    for method in ["GET / HTTP/1.1\r\nX:", "", "G T"] {
        let (code, _) = desk.refusal(json!({"method": method, "url": site.url("/")}));
        assert_eq!(code, "invalid_args", "{method:?}");
    }
    assert!(site.seen().is_empty());
}

#[test]
fn c36_proxies_of_the_environment_are_ignored() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ] {
        again.env(name, "http://127.0.0.1:1");
    }
    let output = again
        .args(["--exact", "request::a_response_is_told_in_full"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[test]
fn c37_only_http_leaves_by_this_way() {
    let site = Site::saying(OK);
    let desk = desk(&[&site.grant()]);
    for scheme in ["tcp", "udp", "ws", "ftp", "file", "gopher", "unix", "data"] {
        let (code, _) = desk.refusal(get(format!("{scheme}://{}/", site.grant())));
        assert_eq!(code, "invalid_args", "{scheme}");
    }
    let upgrade = json!({
        "method": "GET", "url": site.url("/"), "headers": {"Upgrade": "websocket"},
    });
    assert_eq!(desk.refusal(upgrade).0, "invalid_args");
    assert!(site.seen().is_empty());
    let raw = Site::saying("HTTP/1.1 101 Switching Protocols\r\nUpgrade: tcp\r\n\r\nraw bytes");
    let (code, _) = Desk::new(&["http.request"], &[&raw.grant()]).refusal(get(raw.url("/")));
    assert_eq!(code, "upstream");
}

#[test]
fn c38_a_response_that_unfolds_never_ends_or_drips_is_cut_off_with_an_error() {
    let limited = |site: &Site| {
        let mut desk = desk(&[&site.grant()]);
        desk.services.web.limits.max_body = 1_000_000;
        desk
    };
    let bomb = |size: usize| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&vec![0; size]).unwrap();
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 10_000);
        packed
    };
    let zstd = |size| compress_to_vec(vec![0; size].as_slice(), CompressionLevel::Fastest);
    // One that unfolds at once, and one that does so member by member.
    for (encoding, bytes) in [
        ("gzip", bomb(1_000_001)),
        ("gzip", bomb(100_000).repeat(50)),
        ("br", BROTLI_BOMB.to_vec()),
        ("zstd", zstd(1_000_001)),
        ("zstd", zstd(100_000).repeat(50)),
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        );
        let site = Site::saying([head.into_bytes(), bytes].concat());
        let (code, message) = limited(&site).refusal(get(site.url("/")));
        assert_eq!(code, "output_limit", "{message}");
        assert!(message.contains("1000000"), "{message}");
    }

    let endless = Server::raw(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = format!("2000\r\n{}\r\n", "x".repeat(0x2000));
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    });
    let mut desk = desk(&[&endless.grant()]);
    desk.services.web.limits.max_body = 1_000_000;
    assert_eq!(desk.refusal(get(endless.url())).0, "output_limit");

    let dripping = Server::raw(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ");
        let _ = stream.set_read_timeout(Some(Duration::from_millis(10)));
        while stream.write_all(b"x").is_ok() {
            let _ = std::io::Read::read(&mut stream, &mut [0]);
        }
    });
    let slow = Desk::new(&["http.request"], &[&dripping.grant()]).refusal(json!({
        "method": "GET", "url": dripping.url(), "timeout_seconds": 0.3,
    }));
    assert_eq!(slow.0, "timeout");
}

#[test]
fn c40_nobody_becomes_a_relay() {
    let site = Site::saying(OK);
    let desk = desk(&[&site.grant()]);
    for method in ["CONNECT", "connect", "TRACE", "Trace"] {
        let (code, _) = desk.refusal(json!({"method": method, "url": site.url("/")}));
        assert_eq!(code, "invalid_args", "{method}");
    }
    assert!(site.seen().is_empty());
    // Another URL in the path stays a path: no request line in a proxy's form.
    let found = desk.request(get(site.url("/http://evil.example/")));
    assert!(found.is_ok());
    assert!(site.seen()[0].starts_with("GET /http://evil.example/ HTTP/1.1\r\n"));
}

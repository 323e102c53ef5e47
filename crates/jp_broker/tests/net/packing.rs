//! Compressed answers.

use std::io::Write;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use serde_json::json;

use crate::desk::{Site, desk};

fn packed(encoding: &str, bytes: Vec<u8>) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    [head.into_bytes(), bytes].concat()
}

#[test]
fn packed_bodies_are_unpacked() {
    let text = b"{\"packed\": true}".to_vec();
    let half = |text: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    let (left, right) = text.split_at(5);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&text).unwrap();
    zlib.write_all(&text).unwrap();
    raw.write_all(&text).unwrap();
    for (encoding, bytes) in [
        ("gzip", gzip.finish().unwrap()),
        ("x-gzip", [half(left), half(right)].concat()),
        ("Deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("identity", text.clone()),
    ] {
        let site = Site::saying(packed(encoding, bytes));
        let found = desk(&[&site.grant()]).request(json!({
            "method": "GET", "url": site.url("/"), "headers": {"accept-encoding": "br"},
        }));
        assert_eq!(found.unwrap()["json"]["packed"], true, "{encoding}");
        let sent = site.seen().pop().unwrap();
        assert!(sent.contains("Accept-Encoding: gzip, deflate\r\n") && !sent.contains("br\r\n"));
    }
}

#[test]
fn what_cannot_be_unpacked_is_an_error_and_never_half_a_body() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"all of it").unwrap();
    let whole = gzip.finish().unwrap();
    for (encoding, bytes) in [
        ("gzip", b"no gzip at all".to_vec()),
        ("gzip", whole[..whole.len() - 4].to_vec()),
        ("br", b"xxxx".to_vec()),
        ("gzip, gzip", whole),
    ] {
        let site = Site::saying(packed(encoding, bytes));
        let (code, message) =
            desk(&[&site.grant()]).refusal(json!({"method": "GET", "url": site.url("/")}));
        assert_eq!(code, "upstream", "{encoding}: {message}");
    }
}

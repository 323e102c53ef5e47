//! Compressed answers.

use std::io::Write;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;

use crate::desk::{Site, desk};

fn packed(encoding: &str, bytes: Vec<u8>) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    [head.into_bytes(), bytes].concat()
}

/// `{"packed": true}`, by `zlib.brotliCompressSync` of node.
const BROTLI: &[u8] = b"\x8b\x07\x80{\"packed\": true}\x03";

/// The start of a frame with a window of 16 MiB, twice what HTTP allows.
const WIDE: &[u8] = b"\x28\xb5\x2f\xfd\x00\x70\x09\x00\x00a";

/// Two frames, and one between them that is to be skipped.
fn frames(text: &[u8]) -> Vec<u8> {
    let (left, right) = text.split_at(7);
    let frame = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
    let skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc";
    [frame(left), skipped.to_vec(), frame(right)].concat()
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
        ("br", BROTLI.to_vec()),
        (
            "zstd",
            compress_to_vec(text.as_slice(), CompressionLevel::Fastest),
        ),
        ("zstd", frames(&text)),
        ("identity", text.clone()),
    ] {
        let site = Site::saying(packed(encoding, bytes));
        let found = desk(&[&site.grant()]).request(json!({
            "method": "GET", "url": site.url("/"), "headers": {"accept-encoding": "lzw"},
        }));
        assert_eq!(found.unwrap()["json"]["packed"], true, "{encoding}");
        let sent = site.seen().pop().unwrap();
        let asked = "Accept-Encoding: gzip, br, zstd, deflate\r\n";
        assert!(sent.contains(asked) && !sent.contains("lzw"), "{sent}");
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
        ("br", BROTLI[..BROTLI.len() - 2].to_vec()),
        ("zstd", b"no zstd at all".to_vec()),
        ("zstd", frames(b"all of it, and more")[..30].to_vec()),
        ("zstd", WIDE.to_vec()),
        ("compress", b"xxxx".to_vec()),
        ("gzip, gzip", whole),
    ] {
        let site = Site::saying(packed(encoding, bytes));
        let (code, message) =
            desk(&[&site.grant()]).refusal(json!({"method": "GET", "url": site.url("/")}));
        assert_eq!(code, "upstream", "{encoding}: {message}");
    }
}

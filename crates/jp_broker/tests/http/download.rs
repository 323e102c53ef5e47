//! Downloads: the body handed on as it arrives, resumed, and bounded in other ways than a response.

use std::{
    io::{self, Read, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jp_broker::{
    Downloaded, Downloader, Wanted,
    http::{Bounds, DownloadError, HttpError, Pace},
};

use crate::server::{Server, options, read_request};

const QUICK: Bounds = Bounds {
    max_body: 1 << 30,
    timeout: Duration::from_secs(60),
    pace: Pace {
        bytes: 1000,
        within: Duration::from_millis(300),
    },
};

pub(crate) fn wanted(url: &str) -> Wanted<'_> {
    Wanted {
        url,
        from: 0,
        max: 1 << 30,
        headers: &[("Authorization", "Bearer secret")],
        same_origin: false,
    }
}

pub(crate) fn get_until(
    hosts: &[&str],
    wanted: &Wanted<'_>,
    sink: &mut dyn Write,
    stop: &dyn Fn() -> bool,
) -> Result<Downloaded, DownloadError> {
    let mut options = options(hosts);
    let root = include_bytes!("certificates/root.der").to_vec();
    options.extra_roots = vec![root];
    Downloader::new(options, QUICK)
        .unwrap()
        .get(wanted, sink, stop)
}

fn get(server: &Server, wanted: &Wanted<'_>) -> (Result<Downloaded, DownloadError>, Vec<u8>) {
    let mut bytes = Vec::new();
    let got = get_until(&[&server.grant()], wanted, &mut bytes, &|| false);
    (got, bytes)
}

/// Says what came of it: the status and the bytes, or the error.
pub(crate) fn shown(server: &Server, wanted: &Wanted<'_>) -> String {
    let (got, bytes) = get(server, wanted);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match got {
        Ok(got) => {
            assert_eq!(got.written, bytes.len() as u64);
            assert!(got.head.body.is_empty());
            format!("{} {text}", got.head.status)
        }
        Err(error) => format!("{error} [{text}]"),
    }
}

pub(crate) fn with_body(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_body_is_handed_on_as_it_arrives_in_every_framing() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    ] {
        let server = Server::answering(answer);
        assert_eq!(shown(&server, &wanted(&server.url())), "200 hello");
        let request = server.request();
        assert!(request.contains("Accept-Encoding: identity\r\n"));
        assert!(!request.contains("Range:"));
    }
}

#[test]
fn a_download_may_be_larger_than_a_response_and_longer_than_the_limit_of_one() {
    // `options` allows responses of 1,000 bytes only.
    let body = "x".repeat(3_000_000);
    let server = Server::answering(with_body("200 OK", &body));
    let (got, bytes) = get(&server, &wanted(&server.url()));
    assert_eq!(got.unwrap().written, 3_000_000);
    assert_eq!(bytes, body.as_bytes());
}

#[test]
fn more_than_the_most_is_an_error_that_names_it_in_every_framing() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    ] {
        let chunked = head.contains("chunked");
        let server = Server::raw(move |mut stream| {
            read_request(&mut stream);
            let _ = stream.write_all(head.as_bytes());
            let piece = "x".repeat(4096);
            let piece = match chunked {
                true => format!("1000\r\n{piece}\r\n"),
                false => piece,
            };
            while stream.write_all(piece.as_bytes()).is_ok() {}
        });
        let url = server.url();
        let (got, bytes) = get(
            &server,
            &Wanted {
                max: 100_000,
                ..wanted(&url)
            },
        );
        let error = got.unwrap_err();
        assert!(matches!(error, DownloadError::TooLarge { limit: 100_000 }));
        assert!(bytes.len() <= 100_000);
    }
}

#[test]
fn only_what_was_asked_for_is_written() {
    let part = "206 Partial\r\nContent-Range: bytes 5-9/10";
    for (from, answer, expected) in [
        (5, with_body(part, "later"), "206 later"),
        (0, with_body("404 Not Found", "a page"), "404 "),
        (0, with_body("401 Who", "a page"), "401 "),
        // It ignores the range.
        (5, with_body("200 OK", "all of it"), "200 "),
        (5, with_body("416 No", ""), "416 "),
    ] {
        let server = Server::answering(answer);
        let url = server.url();
        let found = shown(
            &server,
            &Wanted {
                from,
                ..wanted(&url)
            },
        );
        assert_eq!(found, expected);
        let asked = server.request().contains(&format!("Range: bytes={from}-"));
        assert_eq!(asked, from > 0);
    }
}

#[test]
fn another_part_than_the_one_asked_for_is_refused() {
    for (from, range) in [
        (5, "\r\nContent-Range: bytes 4-9/10"),
        (5, "\r\nContent-Range: bytes */10"),
        (5, "\r\nContent-Range: lines 5-9/10"),
        (5, "\r\nContent-Range: bytes +5-9/10"),
        (5, ""),
        (0, "\r\nContent-Range: bytes 0-4/10"),
    ] {
        let server = Server::answering(with_body(&format!("206 Part{range}"), "later"));
        let url = server.url();
        let wanted = Wanted {
            from,
            ..wanted(&url)
        };
        let found = shown(&server, &wanted);
        assert!(
            found.contains("another part") && found.ends_with("[]"),
            "{found}"
        );
    }
}

#[test]
fn a_cut_off_body_is_an_error_and_what_came_is_kept() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    let (got, bytes) = get(&server, &wanted(&server.url()));
    assert!(matches!(
        got,
        Err(DownloadError::Http(HttpError::Other { .. }))
    ));
    assert_eq!(bytes, b"hello");
}

#[test]
fn a_server_that_drips_is_left() {
    for start in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX: "] {
        let server = Server::raw(move |mut stream| {
            read_request(&mut stream);
            let _ = stream.write_all(start.as_bytes());
            let _ = stream.set_read_timeout(Some(Duration::from_millis(10)));
            while stream.write_all(b"x").is_ok() {
                let _ = stream.read(&mut [0]);
            }
        });
        let (got, _) = get(&server, &wanted(&server.url()));
        assert!(matches!(got, Err(DownloadError::Stalled { pace }) if pace == QUICK.pace));
    }
}

#[test]
fn a_slow_but_steady_server_is_not_left() {
    // 20 pieces of 500 bytes, 40 ms apart: above the pace, and longer than its stretch of time.
    let server = Server::raw(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n");
        let _ = stream.set_read_timeout(Some(Duration::from_millis(40)));
        for _ in 0..20 {
            let _ = stream.write_all(&[b'x'; 500]);
            let _ = stream.read(&mut [0]);
        }
    });
    let (got, bytes) = get(&server, &wanted(&server.url()));
    assert_eq!(got.unwrap().written, 10_000);
    assert_eq!(bytes.len(), 10_000);
}

/// Takes some bytes, then no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_that_fails_ends_the_download_with_its_own_error() {
    let server = Server::answering(with_body("200 OK", &"x".repeat(1_000_000)));
    let url = server.url();
    let got = get_until(
        &[&server.grant()],
        &wanted(&url),
        &mut Full(100_000),
        &|| false,
    );
    let Err(DownloadError::Receiver(error)) = got else {
        panic!("{got:?}");
    };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_download_stops_when_it_is_cancelled() {
    let server = Server::raw(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nabc");
        let _ = stream.read(&mut [0]);
    });
    let stop = AtomicBool::new(false);
    let mut sink = CancelOnWrite(&stop);
    let got = get_until(
        &[&server.grant()],
        &wanted(&server.url()),
        &mut sink,
        &|| stop.load(Ordering::SeqCst),
    );
    assert!(matches!(
        got,
        Err(DownloadError::Http(HttpError::Cancelled))
    ));
}

struct CancelOnWrite<'a>(&'a AtomicBool);

impl Write for CancelOnWrite<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.store(true, Ordering::SeqCst);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

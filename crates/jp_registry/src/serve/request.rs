//! A request's head, read within its time and size. Does not know any file.

use std::{
    io::{self, Read},
    net::TcpStream,
    time::{Duration, Instant},
};

/// Larger heads are refused.
const MAX_HEAD: usize = 8 * 1024;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A file of this path, without its first slash.
    File {
        path: String,
        head_only: bool,
        range: Option<String>,
    },
    /// Something that is answered with this status.
    Refused(u16),
}

/// Reads a request's head; a body is never looked at.
pub(super) fn read(mut stream: &TcpStream, limit: Duration) -> io::Result<Request> {
    let (start, mut bytes) = (Instant::now(), Vec::new());
    let mut block = [0; 1024];
    loop {
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(Request::Refused(408));
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut block) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                return Ok(Request::Refused(408));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        bytes.extend(block.iter().take(count));
        if bytes.len() > MAX_HEAD {
            return Ok(Request::Refused(431));
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            return Ok(parse(bytes.get(..end).unwrap_or_default()));
        }
    }
}

fn parse(head: &[u8]) -> Request {
    let Ok(head) = std::str::from_utf8(head) else {
        return Request::Refused(400);
    };
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let line = (words.next(), words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) = line else {
        return Request::Refused(400);
    };
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Request::Refused(405),
    };
    // A path of the layout needs no escapes, so one with escapes is none.
    let Some(path) = target.strip_prefix('/') else {
        return Request::Refused(400);
    };
    let mut ranges = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("range")
            .then(|| value.trim().to_owned())
    });
    Request::File {
        path: path.to_owned(),
        head_only,
        range: ranges.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reading_is_served() {
        let file = |head_only, range: Option<&str>| Request::File {
            path: "a".to_owned(),
            head_only,
            range: range.map(ToOwned::to_owned),
        };
        for (head, expected) in [
            ("GET /a HTTP/1.1\r\nHost: x", file(false, None)),
            ("HEAD /a HTTP/1.0", file(true, None)),
            (
                "GET /a HTTP/1.1\r\nrange:  bytes=1-",
                file(false, Some("bytes=1-")),
            ),
            ("POST /a HTTP/1.1", Request::Refused(405)),
            ("GET a HTTP/1.1", Request::Refused(400)),
            ("GET /a b HTTP/1.1", Request::Refused(400)),
            ("GET /a HTTP/2", Request::Refused(400)),
            ("GET http://x/a HTTP/1.1", Request::Refused(400)),
            ("", Request::Refused(400)),
        ] {
            assert_eq!(parse(head.as_bytes()), expected, "{head}");
        }
        assert_eq!(parse(b"GET /\xff HTTP/1.1"), Request::Refused(400));
    }
}

//! The answer to a request: a file, a part of one, or a status.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    net::TcpStream,
    ops::Range,
    time::Instant,
};

use super::{Limits, request::Request};
use crate::source::{
    beneath::{Beneath, Opened},
    layout,
};

/// How much is read and sent at once.
const BLOCK: usize = 64 * 1024;

/// Answers one request.
pub(super) fn respond(
    stream: &TcpStream,
    request: &Request,
    files: &Beneath,
    limits: Limits,
) -> io::Result<()> {
    stream.set_write_timeout(Some(limits.write))?;
    let (path, head_only, range) = match request {
        Request::Refused(status) => return send_status(stream, *status, ""),
        Request::File {
            path,
            head_only,
            range,
        } => (path, *head_only, range.as_deref()),
    };
    // What may not be opened (a link, a FIFO) is as good as not there.
    let opened = match layout::is_served(path) {
        true => files.open(path).ok().flatten(),
        false => None,
    };
    let Some(opened) = opened else {
        return send_status(stream, 404, "");
    };
    match part(range, opened.size) {
        Part::Outside => {
            let range = format!("Content-Range: bytes */{}\r\n", opened.size);
            send_status(stream, 416, &range)
        }
        Part::Whole => {
            let all = 0..opened.size;
            send_file(stream, path, opened, head_only, &all, limits)
        }
        Part::Some(range) => send_file(stream, path, opened, head_only, &range, limits),
    }
}

fn send_status(mut stream: &TcpStream, status: u16, header: &str) -> io::Result<()> {
    let reason = match status {
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        416 => "Range Not Satisfiable",
        _ => "Request Header Fields Too Large",
    };
    let allow = if status == 405 {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    write!(
        stream,
        "HTTP/1.1 {status} {reason}\r\n{header}{allow}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn send_file(
    mut stream: &TcpStream,
    path: &str,
    mut opened: Opened,
    head_only: bool,
    range: &Range<u64>,
    limits: Limits,
) -> io::Result<()> {
    let (start, length) = (Instant::now(), range.end - range.start);
    let kind = match path {
        path if path.ends_with(".wasm") => "application/wasm",
        path if path.ends_with(".json") || path.ends_with(".sig") => "application/json",
        _ => "application/octet-stream",
    };
    let (status, extra) = match length == opened.size {
        true => ("200 OK", String::new()),
        false => (
            "206 Partial Content",
            format!(
                "Content-Range: bytes {}-{}/{}\r\n",
                range.start,
                range.end - 1,
                opened.size
            ),
        ),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}Content-Length: {length}\r\n\
         Accept-Ranges: bytes\r\nCache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n"
    )?;
    if head_only {
        return Ok(());
    }
    opened.file.seek(SeekFrom::Start(range.start))?;
    let (mut file, mut block) = (opened.file.take(length), vec![0; BLOCK]);
    loop {
        let count = file.read(&mut block)?;
        // A reader that takes a byte now and then gains no time.
        if count == 0 || start.elapsed() > limits.response {
            return stream.flush();
        }
        stream.write_all(block.get(..count).unwrap_or_default())?;
    }
}

/// What of a file is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Some(Range<u64>),
    Outside,
}

/// Reads a `Range` of one part; anything else is ignored, as RFC 9110 allows.
fn part(range: Option<&str>, size: u64) -> Part {
    let Some((first, last)) = range
        .and_then(|text| text.strip_prefix("bytes="))
        .and_then(|text| text.split_once('-'))
    else {
        return Part::Whole;
    };
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let range = match (first, last) {
        ("", last) => number(last).map(|count| size.saturating_sub(count)..size),
        (first, "") => number(first).map(|first| first..size),
        (first, last) => number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| first..last.saturating_add(1).min(size)),
    };
    match range {
        None => Part::Whole,
        Some(range) if range.start >= range.end => Part::Outside,
        Some(range) => Part::Some(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_part_or_ignored() {
        for (text, expected) in [
            ("bytes=0-", Part::Some(0..10)),
            ("bytes=3-", Part::Some(3..10)),
            ("bytes=3-5", Part::Some(3..6)),
            ("bytes=3-99999999999999999999", Part::Whole),
            ("bytes=3-18446744073709551615", Part::Some(3..10)),
            ("bytes=-4", Part::Some(6..10)),
            ("bytes=-99", Part::Some(0..10)),
            ("bytes=10-", Part::Outside),
            ("bytes=-0", Part::Outside),
            ("bytes=5-3", Part::Whole),
            ("bytes=1-2,4-5", Part::Whole),
            ("bytes=+1-", Part::Whole),
            ("lines=1-", Part::Whole),
            ("", Part::Whole),
        ] {
            assert_eq!(part(Some(text), 10), expected, "{text}");
        }
        assert_eq!(part(None, 10), Part::Whole);
        assert_eq!(part(Some("bytes=0-"), 0), Part::Outside);
    }
}

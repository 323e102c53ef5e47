//! Responses as hostile servers send them, without a server.

use std::io::Cursor;

use super::*;

const LIMITS: Limits = Limits {
    max_body: 20,
    max_header_bytes: 200,
    timeout: std::time::Duration::from_secs(1),
};

/// Gives one byte at a time, as a slow network does.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

/// Reads a response whole.
fn receive(source: &mut impl Read, method: &str, limits: &Limits) -> Result<Response, Failure> {
    let mut bytes = Vec::new();
    let mut on_head = collect(method, limits, &mut bytes);
    let head = super::receive(source, limits, &mut on_head)?;
    drop(on_head);
    Ok(Response {
        body: bytes,
        ..head
    })
}

fn shown_result(result: Result<Response, Failure>) -> String {
    match result {
        Ok(response) => {
            let body = response.body.escape_ascii();
            format!("{} {} {body}", response.status, response.headers.len())
        }
        Err(Failure::Broken(reason)) => reason.to_owned(),
        Err(Failure::TooLarge(part, limit)) => format!("{part} over {limit}"),
        Err(Failure::Io(error) | Failure::Sink(error)) => format!("io: {error}"),
    }
}

/// Reads the bytes in one piece and byte by byte, which must make no difference.
fn check_as(method: &str, bytes: &[u8]) -> String {
    let whole = shown_result(receive(&mut Cursor::new(bytes), method, &LIMITS));
    let drip = shown_result(receive(&mut Drip(bytes), method, &LIMITS));
    assert_eq!(whole, drip);
    whole
}

fn check(head: &str, body: &str) -> String {
    check_as("GET", format!("HTTP/1.1 {head}\r\n\r\n{body}").as_bytes())
}

const CUT: &str = "the connection closed in the middle of a response";
const NO_HTTP: &str = "the server sent no valid HTTP response";
const BAD_LENGTH: &str = "the response has no valid length";
const BAD_CHUNK: &str = "the response has an invalid chunk";

#[test]
fn a_length_ends_the_body_and_is_believed_only_up_to_the_limit() {
    let length = |value: &str, body| check(&format!("200 OK\r\nContent-Length: {value}"), body);
    assert_eq!(length("2", "abc"), "200 1 ab");
    assert_eq!(length("0", "abc"), "200 1 ");
    assert_eq!(length("2, 2", "abc"), "200 1 ab");
    assert_eq!(
        length("20", "01234567890123456789"),
        "200 1 01234567890123456789"
    );
    assert_eq!(length("4", "abc"), CUT);
    for large in ["21", "18446744073709551615", "9999999999999"] {
        assert_eq!(length(large, ""), "body over 20", "{large}");
    }
    for wrong in [
        "",
        "-1",
        "+2",
        "0x2",
        "2 2",
        "2, 3",
        "2,",
        "18446744073709551616",
        "\u{663}",
    ] {
        assert_eq!(length(wrong, "abc"), BAD_LENGTH, "{wrong}");
    }
    let twice = "200 OK\r\nContent-Length: 2\r\ncontent-length: 3";
    assert_eq!(check(twice, "abc"), BAD_LENGTH);
}

#[test]
fn chunks_are_put_together_and_counted() {
    let chunked = |body| check("200 OK\r\nTransfer-Encoding: Chunked", body);
    assert_eq!(chunked("2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n"), "200 1 abc");
    assert_eq!(chunked("002\nab\n0\n\n"), "200 1 ab");
    assert_eq!(chunked("1\r\na\r\n0\r\nTrailer: x\r\n\r\nrest"), "200 1 a");
    assert_eq!(chunked("15\r\n"), "body over 20");
    assert_eq!(chunked("a\r\n0123456789\r\nb\r\n"), "body over 20");
    assert_eq!(chunked("ffffffffffffffff\r\n"), "body over 20");
    for cut in [
        "",
        "2",
        "2\r\nab",
        "2\r\na",
        "2\r\nab\r\n",
        "0\r\n",
        "0\r\nA: b\r\n",
    ] {
        let found = chunked(cut);
        assert!(found == CUT || found == BAD_CHUNK, "{cut:?}: {found}");
    }
    for wrong in [
        "g\r\n",
        "-1\r\n",
        "\r\n",
        "0x1\r\na\r\n",
        "1\r\nabc",
        "11111111111111111\r\n",
    ] {
        assert_eq!(chunked(wrong), BAD_CHUNK, "{wrong:?}");
    }
    let extension = format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(2000));
    assert_eq!(chunked(&extension), BAD_CHUNK);
    let trailers = format!("0\r\n{}", "A: b\r\n".repeat(100));
    assert_eq!(chunked(&trailers), "trailer bytes over 200");
}

#[test]
fn chunks_win_over_a_length_and_other_encodings_are_refused() {
    let both = "200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked";
    assert_eq!(check(both, "1\r\na\r\n0\r\n\r\n"), "200 2 a");
    for wrong in [
        "gzip, chunked",
        "identity",
        "",
        "chunked\r\nTransfer-Encoding: chunked",
    ] {
        let found = check(
            &format!("200 OK\r\nTransfer-Encoding: {wrong}"),
            "0\r\n\r\n",
        );
        assert_eq!(
            found, "the response has an unknown transfer encoding",
            "{wrong}"
        );
    }
}

#[test]
fn without_a_length_the_body_lasts_until_the_end() {
    assert_eq!(check("200 OK", "abc"), "200 0 abc");
    assert_eq!(check("200 OK", ""), "200 0 ");
    assert_eq!(check("200 OK", "012345678901234567890"), "body over 20");
}

#[test]
fn some_responses_have_no_body_whatever_they_say() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
    assert_eq!(check_as("HEAD", head), "200 1 ");
    assert_eq!(
        check("204 No Content\r\nContent-Length: 3", "abc"),
        "204 1 "
    );
    assert_eq!(check("304 Not Modified", "abc"), "304 0 ");
}

#[test]
fn interim_responses_are_passed_over_but_not_for_ever() {
    let early = "100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK";
    assert_eq!(check(early, "a"), "200 0 a");
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".repeat(50);
    let found = check_as("GET", endless.as_bytes());
    assert_eq!(found, "the server sent too many interim responses");
    let switched = check("101 Switching Protocols", "");
    assert_eq!(switched, "the server switched to another protocol");
}

#[test]
fn headers_are_limited_in_bytes_and_in_number() {
    let endless = "HTTP/1.1 200 OK\r\n".to_owned() + &"A: b\r\n".repeat(200);
    assert_eq!(check_as("GET", endless.as_bytes()), "header bytes over 200");
    let long = "HTTP/1.1 200 OK\r\nA: ".to_owned() + &"b".repeat(5000);
    assert_eq!(check_as("GET", long.as_bytes()), "header bytes over 200");

    let wide = Limits {
        max_header_bytes: 5000,
        ..LIMITS
    };
    let many = |count| "HTTP/1.1 200 OK\r\n".to_owned() + &"A: b\r\n".repeat(count) + "\r\n";
    let read = |text: String| shown_result(receive(&mut Cursor::new(text), "GET", &wide));
    assert_eq!(read(many(128)), "200 128 ");
    assert_eq!(read(many(129)), "header count over 128");
}

#[test]
fn what_is_no_http_is_an_error() {
    for bytes in [
        "\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 Odd\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n",
    ] {
        assert_eq!(check_as("GET", bytes.as_bytes()), NO_HTTP, "{bytes:?}");
    }
    let nothing = check_as("GET", b"");
    assert_eq!(
        nothing,
        "the server closed the connection without a response"
    );
    assert_eq!(check_as("GET", b"HTTP/1.1 200 OK\r\nA: b\r\n"), CUT);
}

/// A server that hung up before it read the request, after it sent these bytes.
struct HungUp<'a>(&'a [u8]);

impl Read for HungUp<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for HungUp<'_> {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_answer_sent_before_the_server_hung_up_counts() {
    let ask = |bytes| {
        let found = exchange(&mut HungUp(bytes), &Request::default(), b"head", &LIMITS);
        shown_result(found)
    };
    assert_eq!(ask(b"HTTP/1.1 413 Too Large\r\n\r\nno"), "413 0 no");
    for nothing in [b"".as_slice(), b"HTTP/1.1 4"] {
        assert_eq!(ask(nothing), "io: broken pipe");
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic_or_outgrow_the_limits(
        head in "(HTTP/1.1 200 OK\r\n)?(Transfer-Encoding: chunked\r\n)?(Content-Length: [0-9]{1,3}\r\n)?(\r\n)?",
        rest in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
    ) {
        let bytes = [head.as_bytes(), &rest].concat();
        if let Ok(response) = receive(&mut Cursor::new(bytes), "GET", &LIMITS) {
            proptest::prop_assert!(response.body.len() <= LIMITS.max_body);
        }
    }
}

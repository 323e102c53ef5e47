//! A response's body in its three framings: length, chunks, or all there is until the end.

use super::{
    Response,
    head::{Failure, Incoming},
};

/// The longest line that starts a chunk; extensions are ignored, not kept.
const MAX_CHUNK_LINE: usize = 1024;

const CUT: Failure = Failure::Broken("the connection closed in the middle of a response");

/// How the end of a body is found.
#[derive(Debug, PartialEq, Eq)]
enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}

/// Who takes a body's bytes as they arrive.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>;

/// How much of a body is read, and of its trailers.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub(super) body: u64,
    pub(super) trailers: usize,
}

/// Reads the body that follows a response's head, a piece at a time.
pub(super) fn read(
    incoming: &mut Incoming<'_>,
    response: &Response,
    method: &str,
    most: Most,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let mut body = Body {
        sink,
        length: 0,
        limit: most.body,
    };
    match framing(response, method)? {
        Framing::Empty => {}
        Framing::Length(length) => {
            body.fits(length)?;
            body.take(incoming, length)?;
        }
        Framing::UntilClose => body.take_all(incoming)?,
        Framing::Chunked => {
            body.take_chunks(incoming)?;
            skip_trailers(incoming, most.trailers)?;
        }
    }
    Ok(())
}

/// RFC 9112, section 6.3.
fn framing(response: &Response, method: &str) -> Result<Framing, Failure> {
    if method.eq_ignore_ascii_case("HEAD") || matches!(response.status, 204 | 304) {
        return Ok(Framing::Empty);
    }
    let values = |name: &'static str| {
        let named = move |header: &&(String, Vec<u8>)| header.0.eq_ignore_ascii_case(name);
        response
            .headers
            .iter()
            .filter(named)
            .map(|header| header.1.trim_ascii())
    };
    let codings: Vec<&[u8]> = values("transfer-encoding").collect();
    match codings.as_slice() {
        [] => {}
        [coding] if coding.eq_ignore_ascii_case(b"chunked") => return Ok(Framing::Chunked),
        _ => {
            return Err(Failure::Broken(
                "the response has an unknown transfer encoding",
            ));
        }
    }
    // A length that is said twice, in one header or two, must be the same.
    let broken = || Failure::Broken("the response has no valid length");
    let mut lengths = values("content-length").flat_map(|value| value.split(|byte| *byte == b','));
    let Some(first) = lengths.next() else {
        return Ok(Framing::UntilClose);
    };
    let length = number(first, 10).ok_or_else(broken)?;
    if lengths.all(|other| number(other, 10) == Some(length)) {
        return Ok(Framing::Length(length));
    }
    Err(broken())
}

/// Reads a number of digits only: no sign, no prefix.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let digits = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    digits.then(|| u64::from_str_radix(text, radix).ok())?
}

/// The body so far. What is announced is compared with the limit before anything is read.
struct Body<'a> {
    sink: Sink<'a>,
    length: u64,
    limit: u64,
}

impl Body<'_> {
    /// Checks an announced length against what is left of the limit.
    fn fits(&self, length: u64) -> Result<(), Failure> {
        if length > self.limit.saturating_sub(self.length) {
            return Err(Failure::TooLarge("body", self.limit));
        }
        Ok(())
    }

    fn take(&mut self, incoming: &mut Incoming<'_>, mut length: u64) -> Result<(), Failure> {
        while length > 0 {
            let bytes = incoming.peek()?;
            let most = usize::try_from(length).unwrap_or(usize::MAX);
            let bytes = bytes.get(..most).unwrap_or(bytes);
            let count = bytes.len();
            if count == 0 {
                return Err(CUT);
            }
            (self.sink)(bytes)?;
            incoming.consume(count);
            length -= count as u64;
            self.length += count as u64;
        }
        Ok(())
    }

    fn take_all(&mut self, incoming: &mut Incoming<'_>) -> Result<(), Failure> {
        loop {
            let count = incoming.peek()?.len() as u64;
            if count == 0 {
                return Ok(());
            }
            self.fits(count)?;
            self.take(incoming, count)?;
        }
    }

    fn take_chunks(&mut self, incoming: &mut Incoming<'_>) -> Result<(), Failure> {
        let broken = || Failure::Broken("the response has an invalid chunk");
        loop {
            let mut line = Vec::new();
            let read = incoming.line(&mut line, "chunk", MAX_CHUNK_LINE);
            read.map_err(|failure| match failure {
                Failure::TooLarge(..) => broken(),
                Failure::Broken(_) => CUT,
                failure => failure,
            })?;
            let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
            let size = number(size, 16).ok_or_else(broken)?;
            self.fits(size)?;
            if size == 0 {
                return Ok(());
            }
            self.take(incoming, size)?;
            let mut end = Vec::new();
            incoming
                .line(&mut end, "chunk", 2)
                .map_err(|failure| match failure {
                    failure @ Failure::Io(_) => failure,
                    _ => broken(),
                })?;
            if !matches!(end.as_slice(), b"\r\n" | b"\n") {
                return Err(broken());
            }
        }
    }
}

/// Reads the trailers and drops them: nobody may act on headers that come after the body.
fn skip_trailers(incoming: &mut Incoming<'_>, limit: usize) -> Result<(), Failure> {
    let skipped = incoming.block("trailer bytes", limit);
    skipped.map(drop).map_err(|failure| match failure {
        Failure::Broken(_) => CUT,
        failure => failure,
    })
}

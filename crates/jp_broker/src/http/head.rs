//! One exchange over an open connection: the request out, the response's head and body in.
//!
//! Generic over the connection, so that hostile bytes can be tried without a server.

use std::io::{self, Read, Write};

use super::{
    HttpError, Limits, Request, Response, body, deadline::Deadline, error::shown, target::Target,
};

/// More response headers are an error.
const MAX_HEADERS: usize = 128;
/// More `1xx` responses before the real one are an error.
const MAX_INTERIM: usize = 16;
/// How much is read from the connection at once.
const READ_SIZE: usize = 16 * 1024;

/// Why an exchange failed, before the host is named.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection failed, perhaps because time is up.
    Io(io::Error),
    /// The server sent something that is no HTTP.
    Broken(&'static str),
    /// A limit on the size of a part.
    TooLarge(&'static str, u64),
    /// Whoever takes the body could not.
    Sink(io::Error),
}

impl Failure {
    /// Says what the caller needs to know.
    pub(super) fn into_http(self, target: &Target, deadline: &Deadline<'_>) -> HttpError {
        let host = target.authority();
        let reason = match self {
            Self::TooLarge(part, limit) => {
                let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                return HttpError::TooLarge { part, limit };
            }
            Self::Sink(error) => shown(&error.to_string()),
            Self::Broken(reason) => reason.to_owned(),
            Self::Io(error) => match deadline.left() {
                Err(ended) => return ended,
                Ok(_) => shown(&error.to_string()),
            },
        };
        HttpError::Other { host, reason }
    }
}

/// Sends a request and reads its response whole.
pub(super) fn exchange<C: Read + Write>(
    connection: &mut C,
    request: &Request,
    head: &[u8],
    limits: &Limits,
) -> Result<Response, Failure> {
    let mut bytes = Vec::new();
    let mut on_head = collect(&request.method, limits, &mut bytes);
    let head = stream(connection, request, head, limits, &mut on_head)?;
    drop(on_head);
    Ok(Response {
        body: bytes,
        ..head
    })
}

/// Adds a body to `bytes`, within the limits.
fn collect(
    method: &str,
    limits: &Limits,
    bytes: &mut Vec<u8>,
) -> impl FnMut(&mut Incoming<'_>, &Response) -> Result<(), Failure> {
    let most = body::Most {
        body: limits.max_body as u64,
        trailers: limits.max_header_bytes,
    };
    move |incoming, head| {
        body::read(incoming, head, method, most, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
    }
}

/// Reads a body, or leaves it, when its head is known.
pub(super) type OnHead<'a> = &'a mut dyn FnMut(&mut Incoming<'_>, &Response) -> Result<(), Failure>;

/// Sends a request and reads its response's head; `on_head` deals with the body.
pub(super) fn stream<C: Read + Write>(
    connection: &mut C,
    request: &Request,
    head: &[u8],
    limits: &Limits,
    on_head: OnHead<'_>,
) -> Result<Response, Failure> {
    let sent = send(connection, head, &request.body);
    let unfinished = match sent {
        Ok(()) => None,
        // A server may answer (413, say) and hang up before it has read the body.
        Err(error) if hung_up(&error) => Some(error),
        Err(error) => return Err(Failure::Io(error)),
    };
    let received = receive(connection, limits, on_head);
    match (received, unfinished) {
        (Err(Failure::Io(_) | Failure::Broken(_)), Some(error)) => Err(Failure::Io(error)),
        (received, _) => received,
    }
}

fn send(connection: &mut impl Write, head: &[u8], body: &[u8]) -> io::Result<()> {
    connection.write_all(head)?;
    connection.write_all(body)?;
    connection.flush()
}

fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset
    )
}

fn receive(
    source: &mut impl Read,
    limits: &Limits,
    on_head: OnHead<'_>,
) -> Result<Response, Failure> {
    let mut incoming = Incoming::new(source);
    for _ in 0..MAX_INTERIM {
        let block = incoming.block("header bytes", limits.max_header_bytes)?;
        let response = parse(&block)?;
        match response.status {
            101 => return Err(Failure::Broken("the server switched to another protocol")),
            100..=199 => {}
            _ => {
                on_head(&mut incoming, &response)?;
                return Ok(response);
            }
        }
    }
    Err(Failure::Broken(
        "the server sent too many interim responses",
    ))
}

fn parse(block: &[u8]) -> Result<Response, Failure> {
    let broken = Failure::Broken("the server sent no valid HTTP response");
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut headers);
    match parsed.parse(block) {
        Ok(status) if status.is_complete() => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Failure::TooLarge("header count", MAX_HEADERS as u64));
        }
        Ok(_) | Err(_) => return Err(broken),
    }
    let status = parsed.code.filter(|code| (100..=999).contains(code));
    let own = |header: &httparse::Header<'_>| (header.name.to_owned(), header.value.to_vec());
    Ok(Response {
        status: status.ok_or(broken)?,
        reason: parsed.reason.unwrap_or_default().to_owned(),
        headers: parsed.headers.iter().map(own).collect(),
        body: Vec::new(),
    })
}

/// What the server sends, read ahead by at most [`READ_SIZE`] bytes.
pub(super) struct Incoming<'a> {
    source: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// What of the buffer is still to be used.
    unused: std::ops::Range<usize>,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(source: &'a mut dyn Read) -> Self {
        Self {
            source,
            buffer: vec![0; READ_SIZE],
            unused: 0..0,
        }
    }

    /// Returns the bytes at hand, after a read if there are none; no bytes mean the end.
    pub(super) fn peek(&mut self) -> Result<&[u8], Failure> {
        if self.unused.is_empty() {
            let read = self.source.read(&mut self.buffer).map_err(Failure::Io)?;
            self.unused = 0..read;
        }
        Ok(self.buffer.get(self.unused.clone()).unwrap_or_default())
    }

    /// Marks bytes of the last [`Incoming::peek`] as used.
    pub(super) fn consume(&mut self, count: usize) {
        self.unused.start = self.unused.end.min(self.unused.start.saturating_add(count));
    }

    /// Adds a line with its line feed to `text`, which must stay within `limit` bytes.
    pub(super) fn line(
        &mut self,
        text: &mut Vec<u8>,
        part: &'static str,
        limit: usize,
    ) -> Result<(), Failure> {
        loop {
            let bytes = self.peek()?;
            if bytes.is_empty() && text.is_empty() {
                return Err(Failure::Broken(
                    "the server closed the connection without a response",
                ));
            }
            if bytes.is_empty() {
                return Err(Failure::Broken(
                    "the connection closed in the middle of a response",
                ));
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(bytes.len(), |end| end + 1);
            if count > limit.saturating_sub(text.len()) {
                return Err(Failure::TooLarge(part, limit as u64));
            }
            text.extend(bytes.iter().take(count));
            self.consume(count);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Reads lines up to and including the first empty one.
    pub(super) fn block(&mut self, part: &'static str, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut block = Vec::new();
        loop {
            let start = block.len();
            self.line(&mut block, part, limit)?;
            if matches!(block.get(start..), Some(b"\n" | b"\r\n")) {
                return Ok(block);
            }
        }
    }
}

#[cfg(test)]
#[path = "head_tests.rs"]
mod tests;

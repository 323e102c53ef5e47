//! Takes a stream of server-sent events apart as its bytes arrive, wherever they are split.
//!
//! After the HTML standard, "Interpreting an event stream". It does not know what events say.

use std::time::Duration;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A longer id of an event is not kept: it goes back to the server in a header.
const MAX_ID: usize = 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type; most have none.
    pub(crate) kind: Vec<u8>,
    /// Its lines of data, with line feeds between.
    pub(crate) data: Vec<u8>,
}

/// An event was longer than it may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads events, and keeps what is not whole yet.
pub(crate) struct Parser {
    most: usize,
    line: Vec<u8>,
    /// Whether the line at hand is a comment, of which nothing is kept.
    in_comment: bool,
    event: Event,
    has_data: bool,
    /// The id of the event at hand, if it has one.
    id: Option<Vec<u8>>,
    /// The id of the last whole event that had one.
    last_id: Option<String>,
    retry: Option<Duration>,
    after_cr: bool,
    at_start: bool,
}

impl Parser {
    /// Makes a parser for events of so many bytes at most.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            in_comment: false,
            event: Event::default(),
            has_data: false,
            id: None,
            last_id: None,
            retry: None,
            after_cr: false,
            at_start: true,
        }
    }

    /// Forgets what was not whole when a stream broke off, and keeps where it was.
    pub(crate) fn begin_again(&mut self) {
        *self = Self {
            last_id: self.last_id.take(),
            retry: self.retry,
            ..Self::new(self.most)
        };
    }

    /// Returns after which event the rest of the stream would begin.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns how long the server wants its client to wait before it asks for the rest.
    pub(crate) const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes bytes up to the end of the next event; all of them if no event ends among them.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        while let Some((first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                *bytes = rest;
                continue;
            }
            let end = bytes
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .unwrap_or(bytes.len());
            let (part, rest) = bytes.split_at(end);
            self.keep(part)?;
            *bytes = rest;
            let Some((end, rest)) = rest.split_first() else {
                break;
            };
            *bytes = rest;
            self.after_cr = *end == b'\r';
            if let Some(event) = self.end_line() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), TooLong> {
        self.in_comment |= self.line.is_empty() && part.first() == Some(&b':');
        if self.in_comment {
            return Ok(());
        }
        let kept = [&self.event.kind, &self.event.data, &self.line];
        let size: usize = kept.iter().map(|bytes| bytes.len()).sum();
        if part.len() > self.most.saturating_sub(size) {
            return Err(TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Does what a line says; an empty one ends the event.
    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let at_start = std::mem::take(&mut self.at_start);
        if std::mem::take(&mut self.in_comment) {
            return None;
        }
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if at_start => rest,
            _ => line.as_slice(),
        };
        if line.is_empty() {
            if let Some(id) = self.id.take() {
                self.last_id = sendable(id);
            }
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = value.to_vec(),
            b"id" => self.id = Some(value.get(..=MAX_ID).unwrap_or(value).to_vec()),
            b"retry" => self.retry = milliseconds(value).or(self.retry),
            _ => {}
        }
        None
    }
}

/// Returns an id that can stand in a header; any other, and an empty one, is none.
fn sendable(id: Vec<u8>) -> Option<String> {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte);
    let is_good = !id.is_empty() && id.len() <= MAX_ID && id.iter().all(is_plain);
    is_good.then(|| String::from_utf8(id).ok()).flatten()
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = std::str::from_utf8(value).ok()?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().map_or(Duration::MAX, Duration::from_millis))
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;

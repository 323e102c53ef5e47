//! Takes a stream of server-sent events apart as its bytes arrive, wherever they are split.
//!
//! After the HTML standard, "Interpreting an event stream". Ids and waiting times, which are for
//! resuming a stream, are left out: nothing here resumes one. It does not know what events say.

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
            after_cr: false,
            at_start: true,
        }
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
            _ => {}
        }
        None
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;

//! Reads lines without trusting their length. Does not know what is in them.

use std::io::{self, BufRead, BufReader, Read};

use crate::frame::MAX_LINE;

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// With a newline, which is not in the buffer.
    Whole,
    /// With a newline, but it is longer than any record may be; the buffer holds its start.
    TooLong,
    /// With the end of the file.
    Unfinished,
}

/// The lines of a file, and where each ends.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    /// How many bytes have been read so far, newlines included.
    pub(crate) offset: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(1 << 16, reader),
            offset: 0,
        }
    }

    /// Reads the next line into the buffer; `None` at the end.
    pub(crate) fn next_into(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Line>> {
        buffer.clear();
        let mut limited = self.reader.by_ref().take(MAX_LINE as u64 + 1);
        let read = limited.read_until(b'\n', buffer)?;
        self.offset += read as u64;
        if buffer.last() == Some(&b'\n') {
            buffer.pop();
            return Ok(Some(Line::Whole));
        }
        if read <= MAX_LINE {
            return Ok((read > 0).then_some(Line::Unfinished));
        }
        Ok(Some(if self.skip_line()? {
            Line::TooLong
        } else {
            Line::Unfinished
        }))
    }

    /// Passes over the rest of a line without keeping it, and returns whether it had an end.
    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let used = newline.map_or(chunk.len(), |at| at + 1);
            self.reader.consume(used);
            self.offset += used as u64;
            if newline.is_some() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_lines_are_passed_over_in_bounded_memory() {
        let input = io::repeat(b'x').take(5 << 20).chain(&b"\nshort\nrest"[..]);
        let mut lines = Lines::new(input);
        let mut buffer = Vec::new();
        assert_eq!(lines.next_into(&mut buffer).unwrap(), Some(Line::TooLong));
        assert!(buffer.len() <= MAX_LINE + 1);
        assert_eq!(lines.next_into(&mut buffer).unwrap(), Some(Line::Whole));
        assert_eq!(
            (buffer.as_slice(), lines.offset),
            (&b"short"[..], (5 << 20) + 7)
        );
        assert_eq!(
            lines.next_into(&mut buffer).unwrap(),
            Some(Line::Unfinished)
        );
        assert_eq!(lines.next_into(&mut buffer).unwrap(), None);
    }
}

//! Reads what a program writes, line by line, with a bound on every line. Knows no protocol.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// A line that was longer than it may be: its start.
    TooLong(Vec<u8>),
    /// Nothing more comes.
    End,
}

/// Reads the next line and keeps at most `most` bytes of it; the rest is read and dropped only up to
/// the end of what is buffered, so an endless line is reported at once.
pub(crate) async fn next(from: &mut (impl AsyncBufRead + Unpin), most: usize) -> Line {
    let mut line = Vec::new();
    loop {
        // An error while reading is the end of what can be known.
        let Ok(buffer) = from.fill_buf().await else {
            return Line::End;
        };
        if buffer.is_empty() {
            return if line.is_empty() {
                Line::End
            } else {
                Line::Whole(line)
            };
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer
            .get(..end.unwrap_or(buffer.len()))
            .unwrap_or_default();
        let room = most.saturating_sub(line.len());
        let too_long = part.len() > room;
        line.extend_from_slice(part.get(..room).unwrap_or(part));
        let used = end.map_or(buffer.len(), |end| end.saturating_add(1));
        from.consume(used);
        if too_long {
            return Line::TooLong(line);
        }
        if end.is_some() {
            return Line::Whole(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_whole_or_reported() {
        let mut from = BufReader::with_capacity(4, b"abc\n\nlonger than that\nx".as_slice());
        assert_eq!(next(&mut from, 10).await, Line::Whole(b"abc".to_vec()));
        assert_eq!(next(&mut from, 10).await, Line::Whole(Vec::new()));
        assert_eq!(
            next(&mut from, 10).await,
            Line::TooLong(b"longer tha".to_vec())
        );
        while next(&mut from, 10).await != Line::Whole(b"x".to_vec()) {}
        assert_eq!(next(&mut from, 10).await, Line::End);
    }
}

//! One look over the text before it is parsed: comments become spaces, so that lines and columns
//! stay, and depth and numbers are checked where they stand.

use super::{DocumentError, MAX_DEPTH, number};

/// As much of a wrong number is shown.
const SHOWN: usize = 40;

/// Returns the text without its comments.
pub(super) fn plain(text: &str) -> Result<String, DocumentError> {
    let mut scan = Scan {
        text,
        out: String::with_capacity(text.len()),
        at: 0,
        depth: 0,
    };
    while let Some(byte) = scan.peek(0) {
        match byte {
            b'"' => scan.string(),
            b'/' => scan.comment()?,
            b'-' | b'0'..=b'9' => scan.number()?,
            _ => scan.other(byte)?,
        }
    }
    Ok(scan.out)
}

struct Scan<'a> {
    text: &'a str,
    out: String,
    at: usize,
    depth: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at.saturating_add(ahead);
        self.text.as_bytes().get(at).copied()
    }

    /// Takes everything up to `end`, which lies between two characters.
    fn take(&mut self, end: usize) -> &'a str {
        let taken = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        taken
    }

    /// Returns where the next byte is that is not one of these.
    fn end_of(&self, kept: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().iter().skip(self.at);
        self.at + rest.take_while(|byte| kept(**byte)).count()
    }

    fn copy_to(&mut self, end: usize) {
        let taken = self.take(end);
        self.out.push_str(taken);
    }

    fn other(&mut self, byte: u8) -> Result<(), DocumentError> {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            return Err(DocumentError::TooDeep);
        }
        let special = |b: u8| b"\"/-{}[]".contains(&b) || b.is_ascii_digit();
        let after = self.at + 1;
        let rest = self.text.as_bytes().iter().skip(after);
        self.copy_to(after + rest.take_while(|b| !special(**b)).count());
        Ok(())
    }

    /// Copies a string; one without an end is for the parser to refuse.
    fn string(&mut self) {
        let mut escaped = false;
        let rest = self.text.as_bytes().iter().skip(self.at + 1);
        let inside = rest.take_while(|byte| {
            let ends = **byte == b'"' && !escaped;
            escaped = **byte == b'\\' && !escaped;
            !ends
        });
        let end = self.at + 1 + inside.count() + 1;
        self.copy_to(end.min(self.text.len()));
    }

    fn number(&mut self) -> Result<(), DocumentError> {
        let end = self.end_of(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        let literal = self.take(end);
        if !number::is_kept(literal) {
            let text = jp_text::shorten(literal, SHOWN).into_owned();
            return Err(DocumentError::Number { text });
        }
        self.out.push_str(literal);
        Ok(())
    }

    fn comment(&mut self) -> Result<(), DocumentError> {
        let end = match self.peek(1) {
            // Some readers end a line at a bare carriage return: so that nobody sees more than we.
            Some(b'/') => self.end_of(|b| b != b'\n' && b != b'\r'),
            Some(b'*') => {
                let inside = self.text.get(self.at + 2..).unwrap_or_default();
                let length = inside.find("*/").ok_or_else(|| self.unended())?;
                self.at + 2 + length + 2
            }
            _ => {
                self.copy_to(self.at + 1);
                return Ok(());
            }
        };
        let blank = self.take(end).bytes().map(|byte| match byte {
            b'\n' | b'\r' => char::from(byte),
            _ => ' ',
        });
        self.out.extend(blank);
        Ok(())
    }

    fn unended(&self) -> DocumentError {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        DocumentError::Syntax {
            line: before.matches('\n').count() + 1,
            column: self.at - line_start + 1,
            reason: "this comment has no end".to_owned(),
        }
    }
}

//! What follows a command's letter: file names, labels, text, and parts between delimiters.

use rustc_hash::FxHashMap;

use super::{Reader, Wrong};
use crate::sed::script::{Action, Translate};

impl Reader<'_> {
    pub(in crate::sed) fn number(&mut self) -> u64 {
        let mut n = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            n = n.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        }
        n
    }

    pub(super) fn with_file(&mut self, name: u8) -> Result<Option<Action>, Wrong> {
        if self.options.sandbox {
            return self.wrong("e/r/w commands disabled in sandbox mode");
        }
        self.skip(b"");
        let start = self.at;
        let file = self.file_name();
        if name == b'e' {
            return Ok(Some(Action::Execute(file)));
        }
        if file.is_empty() {
            self.at = start;
            return self.wrong("missing filename in r/R/w/W commands");
        }
        Ok(Some(match name {
            b'r' => Action::Read(file),
            b'R' => Action::ReadLine(place(&mut self.script.inputs, file)),
            b'w' => Action::Write(place(&mut self.script.outputs, file)),
            _ => Action::WriteFirst(place(&mut self.script.outputs, file)),
        }))
    }

    /// Reads to the end of the line.
    pub(in crate::sed) fn file_name(&mut self) -> Vec<u8> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default().to_vec();
        self.at += end;
        name
    }

    /// Keeps the name of a file to write; its place in the list.
    pub(in crate::sed) fn output(&mut self, name: Vec<u8>) -> usize {
        place(&mut self.script.outputs, name)
    }

    pub(super) fn label(&mut self, also: &[u8]) -> Vec<u8> {
        self.skip(b"");
        let mut label = Vec::new();
        while let Some(byte) = self.peek() {
            if byte.is_ascii_whitespace() || byte == b';' || also.contains(&byte) {
                break;
            }
            label.push(byte);
            self.at += 1;
        }
        label
    }

    /// Checks that nothing follows a command but what may.
    pub(in crate::sed) fn end_of_command(&mut self) -> Result<(), Wrong> {
        self.skip(b"\r");
        match self.peek() {
            None => Ok(()),
            Some(b'}' | b'#') => Ok(()),
            Some(b'\n' | b';') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                self.at += 1;
                self.wrong("extra characters after command")
            }
        }
    }

    /// Reads the text of `a`, `i` and `c`: after a backslash and newline, or on the same line.
    pub(super) fn text_argument(&mut self) -> Result<Vec<u8>, Wrong> {
        self.skip(b"");
        match self.peek() {
            None | Some(b'\n') => return self.wrong("expected \\ after `a', `c' or `i'"),
            Some(b'\\') => {
                self.at += 1;
                let blank = self.at;
                self.skip(b"");
                match self.peek() {
                    Some(b'\n') => self.at += 1,
                    // `a\  text` keeps the blanks before the text.
                    Some(_) => self.at = blank,
                    None => return Ok(Vec::new()),
                }
            }
            Some(_) if self.options.posix => {
                self.at += 1;
                return self.wrong("expected \\ after `a', `c' or `i'");
            }
            Some(_) => {}
        }
        let mut text = Vec::new();
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => break,
                b'\\' => match self.next() {
                    Some(b'\n') => text.push(b'\n'),
                    Some(escaped) => crate::sed::escape::in_text(self, escaped, &mut text),
                    None => break,
                },
                _ => text.push(byte),
            }
        }
        text.push(b'\n');
        Ok(text)
    }

    /// Reads up to a delimiter; `None` if there is none. In a pattern, `\n` becomes a newline, and the
    /// delimiter counts for nothing inside brackets.
    pub(in crate::sed) fn delimited(&mut self, delimiter: u8, regex: bool) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        while let Some(byte) = self.next() {
            if byte == delimiter {
                return Some(text);
            }
            match byte {
                b'\n' => {
                    self.at -= 1;
                    return None;
                }
                b'\\' => match self.next()? {
                    b'n' if regex && delimiter != b'n' => text.push(b'\n'),
                    b'\n' if regex => text.push(b'\n'),
                    escaped if escaped == delimiter && (regex || escaped != b'&') => {
                        text.push(escaped);
                    }
                    escaped => text.extend_from_slice(&[b'\\', escaped]),
                },
                b'[' if regex => {
                    text.push(b'[');
                    self.bracket(&mut text)?;
                }
                _ => text.push(byte),
            }
        }
        None
    }

    /// Copies a bracket expression, whose opening is behind us.
    pub(super) fn bracket(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let mut first = true;
        if self.peek() == Some(b'^') {
            text.push(b'^');
            self.at += 1;
        }
        loop {
            let byte = self.next()?;
            match byte {
                b'\n' => {
                    self.at -= 1;
                    return None;
                }
                b']' if !first => {
                    text.push(b']');
                    return Some(());
                }
                b'\\' if self.peek() == Some(b'n') => {
                    self.at += 1;
                    text.push(b'\n');
                }
                b'\\' if self.peek() == Some(b']') => text.push(b'\\'),
                b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => {
                    let kind = self.next()?;
                    text.extend_from_slice(&[b'[', kind]);
                    loop {
                        let inner = self.next()?;
                        if inner == b'\n' {
                            self.at -= 1;
                            return None;
                        }
                        text.push(inner);
                        if inner == kind && self.peek() == Some(b']') {
                            self.at += 1;
                            text.push(b']');
                            break;
                        }
                    }
                }
                _ => text.push(byte),
            }
            first = false;
        }
    }

    pub(super) fn translate(&mut self) -> Result<Action, Wrong> {
        let Some(delimiter) = self.next().filter(|b| *b != b'\n' && *b != b'\\') else {
            return self.wrong("unterminated `y' command");
        };
        let (Some(from), Some(to)) = (
            self.delimited(delimiter, false),
            self.delimited(delimiter, false),
        ) else {
            return self.wrong("unterminated `y' command");
        };
        let utf8 = self.options.utf8;
        let (from, to) = (unescape(&from), unescape(&to));
        let table = match (utf8, std::str::from_utf8(&from), std::str::from_utf8(&to)) {
            (true, Ok(from), Ok(to)) if !(from.is_ascii() && to.is_ascii()) => {
                if from.chars().count() != to.chars().count() {
                    return self.wrong("strings for `y' command are different lengths");
                }
                let mut table = FxHashMap::default();
                for (a, b) in from.chars().zip(to.chars()) {
                    table.entry(a).or_insert(b);
                }
                Translate::Chars(table)
            }
            _ => {
                if from.len() != to.len() {
                    return self.wrong("strings for `y' command are different lengths");
                }
                let mut table = Box::new([0_u8; 256]);
                for (byte, place) in (0..=255_u8).zip(table.iter_mut()) {
                    let found = from.iter().position(|b| *b == byte);
                    *place = found.and_then(|i| to.get(i).copied()).unwrap_or(byte);
                }
                Translate::Bytes(table)
            }
        };
        self.end_of_command()?;
        Ok(Action::Translate(Box::new(table)))
    }
}

pub(super) fn place(list: &mut Vec<Vec<u8>>, name: Vec<u8>) -> usize {
    match list.iter().position(|known| *known == name) {
        Some(at) => at,
        None => {
            list.push(name);
            list.len() - 1
        }
    }
}

/// Resolves the escapes of `y`.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(other) => out.push(other),
                None => out.push(b'\\'),
            },
            _ => out.push(byte),
        }
    }
    out
}

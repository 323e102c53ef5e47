//! The items of `xargs`: words with quotes and backslashes, lines, or pieces between delimiters.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, System, failed};

/// How input is cut into items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Blanks and newlines separate; quotes and backslashes protect.
    Words,
    /// As words, but only newlines separate (`-I`).
    Lines,
    Delimited(u8),
}

/// An argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: Vec<u8>,
    /// It was the last of its line, for `-L`. A line that ends in a blank goes on.
    pub(super) ends_line: bool,
}

pub(super) struct Items {
    input: Input,
    style: Style,
    eof: Option<Vec<u8>>,
    ended: bool,
    warned: bool,
}

impl Items {
    pub(super) fn new(input: Input, style: Style, eof: Option<Vec<u8>>) -> Self {
        Self {
            input,
            style,
            eof,
            ended: false,
            warned: false,
        }
    }

    fn byte(&mut self, sys: &mut dyn System) -> Result<Option<u8>, Stop> {
        let byte = match failed(self.input.fill(sys))? {
            Ok(piece) => piece.first().copied(),
            Err(_) => None,
        };
        if byte.is_some() {
            self.input.consume(1);
        }
        Ok(byte)
    }

    fn peek(&mut self, sys: &mut dyn System) -> Result<Option<u8>, Stop> {
        Ok(failed(self.input.fill(sys))?
            .ok()
            .and_then(|piece| piece.first().copied()))
    }

    /// Returns the next item; the inner error is a message about the input.
    pub(super) fn next(
        &mut self,
        sys: &mut dyn System,
    ) -> Result<Result<Option<Item>, Vec<u8>>, Stop> {
        if self.ended {
            return Ok(Ok(None));
        }
        if let Style::Delimited(byte) = self.style {
            return self.delimited(sys, byte).map(Ok);
        }
        let item = self.word(sys)?;
        if let (Ok(Some(item)), Some(eof)) = (&item, &self.eof)
            && item.text == *eof
        {
            self.ended = true;
            return Ok(Ok(None));
        }
        Ok(item)
    }

    fn delimited(&mut self, sys: &mut dyn System, delimiter: u8) -> Result<Option<Item>, Stop> {
        let record = failed(self.input.record(sys, delimiter))?.unwrap_or_default();
        Ok(record.map(|record| {
            let text = record.strip_suffix(&[delimiter]).unwrap_or(record);
            Item {
                text: text.to_vec(),
                ends_line: true,
            }
        }))
    }

    fn word(&mut self, sys: &mut dyn System) -> Result<Result<Option<Item>, Vec<u8>>, Stop> {
        let mut text = Vec::new();
        let mut started = false;
        // Behind a NUL nothing can be passed on.
        let mut cut = false;
        let mut quote: Option<u8> = None;
        loop {
            let Some(byte) = self.byte(sys)? else {
                if let Some(quote) = quote {
                    return Ok(Err(unmatched(quote)));
                }
                self.ended = true;
                return Ok(Ok(started.then_some(Item {
                    text,
                    ends_line: true,
                })));
            };
            if text.len() % 4096 == 4095 {
                sys.reserve(4096)?;
            }
            match (byte, quote) {
                (b'\n', Some(quote)) => return Ok(Err(unmatched(quote))),
                (_, Some(open)) if byte == open => quote = None,
                (_, Some(_)) => text.push(byte),
                (b'\'' | b'"', None) => {
                    quote = Some(byte);
                    started = true;
                }
                (b'\\', None) => {
                    if let Some(next) = self.byte(sys)? {
                        text.push(next);
                        started = true;
                    }
                }
                (b'\n', None) if started => {
                    return Ok(Ok(Some(Item {
                        text,
                        ends_line: true,
                    })));
                }
                (b'\n', None) => {}
                (b' ' | b'\t', None) if !started => {}
                (b' ' | b'\t', None) if self.style == Style::Words => {
                    let ends_line = self.line_ends_here(sys)?;
                    return Ok(Ok(Some(Item { text, ends_line })));
                }
                (0, None) => {
                    self.warn(sys)?;
                    cut = true;
                    started = true;
                }
                _ if cut => {}
                _ => {
                    text.push(byte);
                    started = true;
                }
            }
        }
    }

    /// Skips blanks behind a word. A newline behind a blank does not end the line.
    fn line_ends_here(&mut self, sys: &mut dyn System) -> Result<bool, Stop> {
        while matches!(self.peek(sys)?, Some(b' ' | b'\t')) {
            self.byte(sys)?;
        }
        Ok(self.peek(sys)?.is_none())
    }

    fn warn(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        if !self.warned {
            self.warned = true;
            let message: &[u8] = b"xargs: WARNING: a NUL character occurred in the input.  \
                It cannot be passed through in the argument list.  Did you mean to use the --null option?\n";
            failed(sys.write(2, message))?.ok();
        }
        Ok(())
    }
}

fn unmatched(quote: u8) -> Vec<u8> {
    let name: &[u8] = if quote == b'"' { b"double" } else { b"single" };
    [
        b"unmatched ",
        name,
        b" quote; by default quotes are special to xargs unless you use the -0 option",
    ]
    .concat()
}

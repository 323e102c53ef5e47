//! `$( … )`, backticks, `<( … )`, and `$(( … ))` where it is arithmetic.

use std::sync::Arc;

use memchr::memchr;

use crate::ast::{CommandSub, List, Part};
use crate::builder::Builder;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::reader::{Parse, Reader};

/// Levels that a command substitution counts for: it goes through the whole grammar again.
const SUB_WEIGHT: u16 = 3;

impl Reader<'_> {
    /// Reads `$(( … ))` or `$( … )`.
    pub(super) fn dollar_paren(&mut self) -> Parse<Part> {
        let start = self.pos;
        if self.ahead(2) == b'(' && !self.is_refuted(start) {
            self.pos += 3;
            if let Some(arith) = self.double_paren(start + 1)? {
                return Ok(Part::Arith(Arc::new(arith)));
            }
            self.refute(start);
            self.rewind(start)?;
        }
        if self.is_refuted(start) {
            return self.late_command_sub(start);
        }
        self.command_sub().map_err(|mut error| {
            error.in_substitution = error.kind != SyntaxErrorKind::Incomplete;
            error
        })
    }

    /// Reads `$((` that is not arithmetic: bash has passed over it already, and says what is wrong when it runs.
    #[inline(never)]
    fn late_command_sub(&mut self, start: usize) -> Parse<Part> {
        let pending = std::mem::take(&mut self.pending);
        let docs = std::mem::take(&mut self.docs);
        let result = self.attempt(|reader| reader.command_sub());
        self.pending = pending;
        self.docs = docs;
        let error = match late(result)? {
            (Some(part), _) => return Ok(part),
            (None, error) => error,
        };
        self.rewind(start + 2)?;
        self.skip_parens(start + 1)?;
        Ok(Part::Command(Arc::new(CommandSub {
            list: List::new(),
            error,
            line: 0,
        })))
    }

    /// Reads `$[ … ]`.
    pub(super) fn dollar_bracket(&mut self) -> Parse<Part> {
        let opened = self.pos + 1;
        self.pos += 2;
        let arith = self.bracket_arith(opened)?;
        Ok(Part::Arith(Arc::new(arith)))
    }

    #[inline(never)]
    fn command_sub(&mut self) -> Parse<Part> {
        self.pos += 2;
        let blank = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        let first = self.pos + blank.count();
        let line = self.line_at(first);
        let list = self.nested_list()?;
        Ok(Part::Command(Arc::new(CommandSub {
            list,
            error: None,
            line,
        })))
    }

    /// Reads `<( … )` or `>( … )`.
    #[inline(never)]
    pub(super) fn process_sub(&mut self, builder: &mut Builder) -> Parse<()> {
        builder.opaque = true;
        let input = self.here() == b'<';
        self.pos += 2;
        let list = Arc::new(self.nested_list()?);
        builder.part(if input {
            Part::ProcessIn(list)
        } else {
            Part::ProcessOut(list)
        });
        Ok(())
    }

    /// Reads a list, which may be empty, and its `)`.
    fn nested_list(&mut self) -> Parse<List> {
        self.enter(SUB_WEIGHT)?;
        let pending = std::mem::take(&mut self.pending);
        let docs = std::mem::take(&mut self.docs);
        let alias_next = std::mem::take(&mut self.alias_next);
        self.subs += 1;
        self.skip_newlines()?;
        let mut list = if self.here() == b')' {
            List::new()
        } else {
            self.list()?
        };
        self.skip_blanks();
        match self.here() {
            b')' => self.pos += 1,
            _ => return Err(self.unexpected()),
        }
        if !self.pending.is_empty() {
            self.read_docs_ahead()?;
        }
        self.finish_docs(&mut list)?;
        self.subs -= 1;
        self.pending = pending;
        self.docs = docs;
        self.alias_next = alias_next;
        self.leave(SUB_WEIGHT);
        Ok(list)
    }

    /// Reads here-documents of a substitution that was closed on their own line: their bodies are on the next.
    fn read_docs_ahead(&mut self) -> Parse<()> {
        let here = self.pos;
        let line = self.line();
        let count = self.pending.len();
        let (s, verb) = if count == 1 { ("", "") } else { ("s", "") };
        self.warnings.push((
            line,
            format!("warning: command substitution: {count} unterminated here-document{s}{verb}")
                .into_bytes(),
        ));
        let rest = self.rest();
        let from = here + memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        self.pos = match self.skip {
            Some((at, to)) if at == from => to,
            _ => from,
        };
        self.read_here_docs()?;
        self.skip = Some((from, self.pos));
        self.pos = here;
        Ok(())
    }

    /// Reads backticks. What is wrong inside is only said when they run, as in bash.
    #[inline(never)]
    pub(super) fn backticks(&mut self, quoted: bool) -> Parse<Part> {
        let opened = self.pos;
        let line = self.line();
        self.pos += 1;
        let mut code = Vec::new();
        loop {
            match self.here() {
                0 => return Err(self.unclosed(opened, b'`')),
                b'`' => break,
                b'\\' => {
                    let next = self.ahead(1);
                    let drop = matches!(next, b'`' | b'$' | b'\\') || (quoted && next == b'"');
                    if !drop {
                        code.push(b'\\');
                    }
                    if next != 0 {
                        code.push(next);
                    }
                    self.pos += 1 + usize::from(next != 0);
                }
                byte => {
                    code.push(byte);
                    self.pos += 1;
                }
            }
        }
        if !code.ends_with(b"\n") {
            code.push(b'\n');
        }
        self.pos += 1;
        self.enter(SUB_WEIGHT)?;
        let result = self.within(code.into(), line, |inner| inner.program());
        self.leave(SUB_WEIGHT);
        let (list, error) = late(result)?;
        Ok(Part::Command(Arc::new(CommandSub {
            list: list.unwrap_or_default(),
            error,
            line,
        })))
    }
}

/// Keeps an error for when the text runs, unless it is about limits.
pub(super) fn late<T>(result: Parse<T>) -> Parse<(Option<T>, Option<Box<SyntaxError>>)> {
    match result {
        Ok(value) => Ok((Some(value), None)),
        Err(error) if matches!(error.kind, SyntaxErrorKind::Limit | SyntaxErrorKind::Memory) => {
            Err(error)
        }
        Err(error) => Ok((None, Some(error))),
    }
}

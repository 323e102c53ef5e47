//! Arithmetic within a script: where its text ends, and what of it is known before it runs.

use crate::ast::ParamOp;
use crate::ast::{Arith, Part, Subscript, SubscriptKind, Word};
use crate::builder::Builder;
use crate::expr::parse_flat;
use crate::reader::{Parse, Reader};

/// Arithmetic as bytes in which each expansion is a NUL, with the expansions in their order.
#[derive(Default)]
pub(super) struct Flat {
    pub(super) text: Vec<u8>,
    pub(super) parts: Vec<Part>,
}

impl Flat {
    fn part(&mut self, part: Part) {
        self.text.push(0);
        self.parts.push(part);
    }

    /// Adds parts that stood in double quotes, which are dropped.
    fn quoted(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Quoted(text) | Part::Literal(text) => self.text.extend_from_slice(&text),
                other => self.part(other),
            }
        }
    }

    /// Returns the text as a word, to expand it when it runs.
    pub(super) fn word(&self) -> Word {
        let mut parts = Vec::with_capacity(self.parts.len() * 2 + 1);
        let mut expansions = self.parts.iter();
        for (index, piece) in self.text.split(|byte| *byte == 0).enumerate() {
            if index > 0 {
                parts.extend(expansions.next().cloned());
            }
            if !piece.is_empty() {
                parts.push(Part::Quoted(piece.into()));
            }
        }
        Word {
            parts,
            ..Word::default()
        }
    }
}

/// Where a piece of arithmetic ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Close,
    Separator,
    /// The `)` was not followed by another one.
    NotArith,
}

impl Reader<'_> {
    /// Reads the inside of `(( … ))` and its end; nothing if it is not arithmetic.
    #[inline(never)]
    pub(super) fn double_paren(&mut self, opened: usize) -> Parse<Option<Arith>> {
        self.enter(1)?;
        let start = self.pos;
        let mut flat = Flat::default();
        let end = self.arith_text(&mut flat, b')', 0, opened)?;
        self.leave(1);
        if end == End::NotArith {
            return Ok(None);
        }
        let arith = self.close_arith(flat, start, self.pos)?;
        self.pos += 2;
        Ok(Some(arith))
    }

    /// Reads the inside of `for (( a; b; c ))` and its end, or nothing if it is not arithmetic.
    #[inline(never)]
    pub(super) fn for_parts(&mut self, opened: usize) -> Parse<Option<Vec<Option<Box<Arith>>>>> {
        let mut parts = Vec::new();
        loop {
            let start = self.pos;
            let mut flat = Flat::default();
            let end = self.arith_text(&mut flat, b')', b';', opened)?;
            let blank = flat.text.iter().all(u8::is_ascii_whitespace);
            let arith = self.close_arith(flat, start, self.pos)?;
            parts.push((!blank).then(|| Box::new(arith)));
            match end {
                End::NotArith => return Ok(None),
                End::Close => {
                    self.pos += 2;
                    return Ok(Some(parts));
                }
                End::Separator => self.pos += 1,
            }
        }
    }

    /// Reads the inside of `$[ … ]` and its end.
    #[inline(never)]
    pub(super) fn bracket_arith(&mut self, opened: usize) -> Parse<Arith> {
        self.enter(1)?;
        let start = self.pos;
        let mut flat = Flat::default();
        self.arith_text(&mut flat, b']', 0, opened)?;
        let arith = self.close_arith(flat, start, self.pos)?;
        self.pos += 1;
        self.leave(1);
        Ok(arith)
    }

    /// Reads `:offset:length` of `${x:…}`.
    #[inline(never)]
    pub(super) fn substring(&mut self) -> Parse<ParamOp> {
        self.pos += 1;
        let start = self.pos;
        let opened = start.saturating_sub(2);
        let mut flat = Flat::default();
        let end = self.arith_text(&mut flat, b'}', b':', opened)?;
        let offset = self.close_arith(flat, start, self.pos)?;
        if end != End::Separator {
            if offset.text.is_empty() {
                return Ok(ParamOp::Bad);
            }
            return Ok(ParamOp::Substring {
                offset,
                length: None,
            });
        }
        self.pos += 1;
        let start = self.pos;
        let mut flat = Flat::default();
        self.arith_text(&mut flat, b'}', 0, opened)?;
        let length = Some(self.close_arith(flat, start, self.pos)?);
        Ok(ParamOp::Substring { offset, length })
    }

    /// Passes text up to a closing parenthesis.
    pub(super) fn skip_parens(&mut self, opened: usize) -> Parse<()> {
        self.arith_text(&mut Flat::default(), b')', 0, opened)?;
        self.pos += 1;
        Ok(())
    }

    fn close_arith(&mut self, flat: Flat, start: usize, end: usize) -> Parse<Arith> {
        let text = self.copy(start, end)?;
        self.spend(flat.text.len())?;
        // The tree of an expression takes several times its text.
        self.nodes = self
            .nodes
            .saturating_add(u32::try_from(flat.text.len() / 8).unwrap_or(u32::MAX));
        self.node()?;
        let expr = parse_flat(&flat, self.names, self.options).ok();
        let word = if expr.is_some() && flat.parts.is_empty() {
            Word::default()
        } else {
            flat.word()
        };
        Ok(Arith { expr, word, text })
    }

    /// Reads text up to `close` or `separator`, where neither is nested in brackets.
    fn arith_text(
        &mut self,
        flat: &mut Flat,
        close: u8,
        separator: u8,
        opened: usize,
    ) -> Parse<End> {
        let mut depth = 0_usize;
        let mut questions = 0_usize;
        loop {
            let byte = self.here();
            match byte {
                0 => return Err(self.unclosed(opened, close)),
                b'\'' | b'"' | b'\\' | b'$' | b'`' => self.arith_part(flat)?,
                _ if byte == close && (depth == 0 || close == b'}') => {
                    let is_end = close != b')' || self.ahead(1) == b')';
                    return Ok(if is_end { End::Close } else { End::NotArith });
                }
                _ if byte == separator && depth == 0 && questions == 0 => {
                    return Ok(End::Separator);
                }
                _ => {
                    match byte {
                        b'(' => depth += 1,
                        b')' => depth = depth.saturating_sub(1),
                        b'[' if close == b']' => depth += 1,
                        b']' if close == b']' => depth = depth.saturating_sub(1),
                        // `${x:a?b:c:d}`: the first `:` belongs to the `?`.
                        b'?' if separator == b':' => questions += 1,
                        b':' if separator == b':' => questions = questions.saturating_sub(1),
                        _ => {}
                    }
                    flat.text.push(byte);
                    self.pos += 1;
                }
            }
        }
    }

    /// Reads a quote or an expansion within arithmetic.
    fn arith_part(&mut self, flat: &mut Flat) -> Parse<()> {
        match self.here() {
            b'\'' => {
                // Kept: they are an error when it runs, or quote a key.
                let start = self.pos;
                self.single(&mut Builder::default())?;
                let text = self.src.get(start..self.pos).unwrap_or_default();
                flat.text.extend_from_slice(text);
            }
            b'$' if self.ahead(1) == b'\'' => {
                let start = self.pos;
                self.dollar(&mut Builder::default(), false)?;
                let text = self.src.get(start..self.pos).unwrap_or_default();
                flat.text.extend_from_slice(text);
            }
            b'"' => {
                let inner = self.double_inside()?;
                flat.quoted(inner.into_parts());
            }
            b'\\' if self.ahead(1) == b'\n' => self.pos += 2,
            b'\\' => {
                flat.text.push(b'\\');
                self.pos += 1;
                if self.here() != 0 {
                    flat.text.push(self.here());
                    self.pos += 1;
                }
            }
            _ => {
                let mut inner = Builder::default();
                self.quoted_part(&mut inner)?;
                flat.quoted(inner.into_parts());
            }
        }
        Ok(())
    }

    /// Reads `[…]` after a name.
    #[inline(never)]
    pub(super) fn subscript(&mut self) -> Parse<Subscript> {
        self.subscript_in(self.pos, b']')
    }

    /// Reads `[…]`; where it is not closed, something around it counts as not closed.
    #[inline(never)]
    pub(super) fn subscript_in(&mut self, opened: usize, close: u8) -> Parse<Subscript> {
        self.pos += 1;
        let start = self.pos;
        if matches!(self.here(), b'@' | b'*') && self.ahead(1) == b']' {
            let kind = if self.here() == b'@' {
                SubscriptKind::At
            } else {
                SubscriptKind::Star
            };
            let text = self.copy(start, start + 1)?;
            self.pos += 2;
            return Ok(Subscript { kind, text });
        }
        self.enter(1)?;
        let mut flat = Flat::default();
        let mut key = Builder::default();
        self.subscript_text(&mut flat, &mut key, (opened, close))?;
        let end = self.pos;
        let arith = self.close_arith(flat, start, end)?;
        let key = self.close_word(key, start)?;
        let text = self.copy(start, end)?;
        self.pos += 1;
        self.leave(1);
        Ok(Subscript {
            kind: SubscriptKind::Index { arith, key },
            text,
        })
    }

    /// Reads a subscript both ways at once: reading it twice would double the work at each level.
    fn subscript_text(
        &mut self,
        flat: &mut Flat,
        key: &mut Builder,
        (opened, close): (usize, u8),
    ) -> Parse<()> {
        let mut depth = 0_usize;
        loop {
            let start = self.pos;
            match self.here() {
                0 => return Err(self.unclosed(opened, close)),
                b']' if depth == 0 => return Ok(()),
                b'\'' => {
                    self.single(key)?;
                    let text = self.src.get(start..self.pos).unwrap_or_default();
                    flat.text.extend_from_slice(text);
                }
                b'"' => {
                    let mut inner = self.double_inside()?;
                    key.opaque = true;
                    if inner.has_parts() {
                        let parts = inner.into_parts();
                        key.part(Part::Double(parts.clone()));
                        flat.quoted(parts);
                    } else {
                        let text = inner.take_quoted();
                        flat.text.extend_from_slice(&text);
                        key.quoted(&text);
                    }
                }
                b'\\' => {
                    self.backslash(key);
                    let text = self.src.get(start..self.pos).unwrap_or_default();
                    if text != b"\\\n" {
                        flat.text.extend_from_slice(text);
                    }
                }
                b'$' | b'`' => {
                    let mut inner = Builder::default();
                    self.common_part(&mut inner)?;
                    key.opaque |= inner.opaque;
                    for part in inner.into_parts() {
                        key_part(key, &part);
                        flat.quoted(vec![part]);
                    }
                }
                byte => {
                    depth += usize::from(byte == b'[');
                    depth = depth.saturating_sub(usize::from(byte == b']'));
                    flat.text.push(byte);
                    key.literal_byte(byte);
                    self.pos += 1;
                }
            }
        }
    }
}

fn key_part(key: &mut Builder, part: &Part) {
    match part {
        Part::Literal(text) => key.literal(text),
        Part::Quoted(text) => key.quoted(text),
        other => key.part(other.clone()),
    }
}

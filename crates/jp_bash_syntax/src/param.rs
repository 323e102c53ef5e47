//! `$x` and `${…}`.

use std::sync::Arc;

use crate::ast::{
    CaseOp, Param, ParamOp, ParamTarget, Part, Replace, Subscript, SubscriptKind, Word,
};
use crate::builder::Builder;
use crate::reader::{Parse, Reader, in_name, starts_name};

/// What was read of `${…}` so far.
struct Inside {
    target: ParamTarget,
    subscript: Option<Subscript>,
    indirect: bool,
    op: ParamOp,
}

impl Reader<'_> {
    /// Reads `$x`, `$1`, `$?` at the `$`; nothing if no parameter follows.
    #[inline(never)]
    pub(super) fn simple_param(&mut self) -> Option<Part> {
        let start = self.pos + 1;
        let first = self.ahead(1);
        let (target, end) = if starts_name(first) {
            let end = self.name_end(start);
            let text = self.src.get(start..end).unwrap_or_default();
            (ParamTarget::Name(self.names.intern(text)), end)
        } else if first.is_ascii_digit() {
            (ParamTarget::Position(u32::from(first - b'0')), start + 1)
        } else if is_special(first) {
            (ParamTarget::Special(first), start + 1)
        } else {
            return None;
        };
        self.pos = end;
        Some(Part::Param(Arc::new(Param {
            target,
            subscript: None,
            indirect: false,
            op: ParamOp::None,
            text: Box::default(),
        })))
    }

    fn name_end(&self, start: usize) -> usize {
        let rest = self.src.get(start..).unwrap_or_default();
        start
            + rest
                .iter()
                .position(|byte| !in_name(*byte))
                .unwrap_or(rest.len())
    }

    /// Reads `${…}`.
    #[inline(never)]
    pub(super) fn brace_param(&mut self, quoted: bool) -> Parse<Part> {
        self.enter(1)?;
        self.node()?;
        let opened = self.pos;
        self.pos += 2;
        let start = self.pos;
        let mut inside = self.param_inside(quoted)?;
        if self.here() != b'}' {
            // No valid expansion, which is an error only when it runs. What was read stays read, so
            // that nesting cannot make this exponential.
            self.skip_to_brace(opened, quoted)?;
            inside.op = ParamOp::Bad;
        }
        let text = self.copy(start, self.pos)?;
        self.pos += 1;
        self.leave(1);
        Ok(Part::Param(Arc::new(Param {
            target: inside.target,
            subscript: inside.subscript,
            indirect: inside.indirect,
            op: inside.op,
            text,
        })))
    }

    fn skip_to_brace(&mut self, opened: usize, quoted: bool) -> Parse<()> {
        self.operand(quoted, b'}')?;
        if self.here() != b'}' {
            return Err(self.unclosed(opened, b'}'));
        }
        Ok(())
    }

    /// Reads up to the `}`; stops elsewhere if it is no valid expansion.
    fn param_inside(&mut self, quoted: bool) -> Parse<Inside> {
        let mut inside = Inside {
            target: ParamTarget::Special(0),
            subscript: None,
            indirect: false,
            op: ParamOp::Bad,
        };
        if self.here() == b'#' && self.ahead(1) != b'}' && self.length(&mut inside)? {
            return Ok(inside);
        }
        if self.here() == b'!' {
            let next = self.ahead(1);
            inside.indirect = in_name(next) || matches!(next, b'#' | b'?' | b'@' | b'*');
            // `${!?x}` and `${!#x}` are about `$!`, as nothing but `}` may follow.
            if matches!(next, b'#' | b'?') && self.ahead(2) != b'}' {
                inside.indirect = false;
            }
            self.pos += usize::from(inside.indirect);
        }
        let Some(target) = self.target() else {
            return Ok(inside);
        };
        inside.target = target;
        if self.here() == b'[' && matches!(inside.target, ParamTarget::Name(_)) {
            let subscript = self.subscript_in(self.pos, b'}')?;
            if subscript.text.is_empty() {
                return Ok(inside);
            }
            inside.subscript = Some(subscript);
        }
        if inside.indirect && self.names_of(&mut inside) {
            return Ok(inside);
        }
        inside.op = self.param_op(quoted)?;
        Ok(inside)
    }

    /// Reads `#x` as a length; false if `#` is the parameter itself.
    fn length(&mut self, inside: &mut Inside) -> Parse<bool> {
        let start = self.pos;
        self.pos += 1;
        let Some(target) = self.target() else {
            self.pos = start;
            return Ok(false);
        };
        let is_name = matches!(target, ParamTarget::Name(_));
        if is_name && self.here() == b'[' {
            inside.subscript = Some(self.subscript_in(self.pos, b'}')?);
        }
        if self.here() == b'}' {
            inside.target = target;
            inside.op = ParamOp::Length;
            return Ok(true);
        }
        if matches!(target, ParamTarget::Special(_)) {
            self.pos = start;
            return Ok(false);
        }
        Ok(true)
    }

    fn target(&mut self) -> Option<ParamTarget> {
        let start = self.pos;
        let first = self.here();
        if starts_name(first) {
            self.pos = self.name_end(start);
            let text = self.src.get(start..self.pos).unwrap_or_default();
            return Some(ParamTarget::Name(self.names.intern(text)));
        }
        if first.is_ascii_digit() {
            while self.here().is_ascii_digit() {
                self.pos += 1;
            }
            let digits = std::str::from_utf8(self.slice(start, self.pos)).ok()?;
            // No script has that many: a number too large is as unset as any.
            return Some(ParamTarget::Position(digits.parse().unwrap_or(u32::MAX)));
        }
        if is_special(first) {
            self.pos += 1;
            return Some(ParamTarget::Special(first));
        }
        None
    }

    /// Reads the end of `${!prefix*}` and `${!array[@]}`.
    fn names_of(&mut self, inside: &mut Inside) -> bool {
        let byte = self.here();
        let is_all = inside.subscript.as_ref().is_some_and(|subscript| {
            matches!(subscript.kind, SubscriptKind::At | SubscriptKind::Star)
        });
        if is_all && byte == b'}' {
            inside.indirect = false;
            inside.op = ParamOp::Keys;
            return true;
        }
        let is_name = matches!(inside.target, ParamTarget::Name(_)) && inside.subscript.is_none();
        if is_name && matches!(byte, b'*' | b'@') && self.ahead(1) == b'}' {
            self.pos += 1;
            inside.indirect = false;
            inside.op = ParamOp::Prefix { at: byte == b'@' };
            return true;
        }
        false
    }

    fn param_op(&mut self, quoted: bool) -> Parse<ParamOp> {
        let first = self.here();
        let doubled = self.ahead(1) == first;
        match first {
            b'}' => Ok(ParamOp::None),
            b':' if matches!(self.ahead(1), b'-' | b'=' | b'?' | b'+') => {
                self.pos += 1;
                self.default_op(true, quoted)
            }
            b'-' | b'=' | b'?' | b'+' => self.default_op(false, quoted),
            b':' => self.substring(),
            b'#' | b'%' => {
                self.pos += 1 + usize::from(doubled);
                let pattern = self.operand(false, b'}')?;
                Ok(if first == b'#' {
                    ParamOp::RemovePrefix {
                        longest: doubled,
                        pattern,
                    }
                } else {
                    ParamOp::RemoveSuffix {
                        longest: doubled,
                        pattern,
                    }
                })
            }
            b'/' => self.replace(),
            b'^' | b',' | b'~' => {
                self.pos += 1 + usize::from(doubled);
                let pattern = if self.here() == b'}' {
                    None
                } else {
                    Some(self.operand(false, b'}')?)
                };
                let how = match first {
                    b'^' => CaseOp::Upper,
                    b',' => CaseOp::Lower,
                    _ => CaseOp::Toggle,
                };
                Ok(ParamOp::Case {
                    how,
                    all: doubled,
                    pattern,
                })
            }
            b'@' if self.ahead(2) == b'}' && b"QEPAaKkUuL".contains(&self.ahead(1)) => {
                let letter = self.ahead(1);
                self.pos += 2;
                Ok(ParamOp::Transform(letter))
            }
            _ => Ok(ParamOp::Bad),
        }
    }

    fn default_op(&mut self, colon: bool, quoted: bool) -> Parse<ParamOp> {
        let op = self.here();
        self.pos += 1;
        if op == b'?' && self.here() == b'}' {
            return Ok(ParamOp::Error { colon, word: None });
        }
        let word = self.operand(quoted, b'}')?;
        Ok(match op {
            b'-' => ParamOp::Default { colon, word },
            b'=' => ParamOp::AssignDefault { colon, word },
            b'?' => ParamOp::Error {
                colon,
                word: Some(word),
            },
            _ => ParamOp::Alternative { colon, word },
        })
    }

    fn replace(&mut self) -> Parse<ParamOp> {
        self.pos += 1;
        let how = match self.here() {
            b'/' => Replace::All,
            b'#' => Replace::Start,
            b'%' => Replace::End,
            _ => Replace::First,
        };
        self.pos += usize::from(how != Replace::First);
        // The slash of `${x////…}` is the pattern, not its end.
        let lead = usize::from(how == Replace::All && self.here() == b'/');
        let pattern = self.operand_from(false, b'/', lead)?;
        let with = if self.here() == b'/' {
            self.pos += 1;
            self.operand(false, b'}')?
        } else {
            Word::default()
        };
        Ok(ParamOp::Replace { how, pattern, with })
    }

    /// Reads a word within `${…}` up to its `}`, or `stop` if that comes first.
    fn operand(&mut self, quoted: bool, stop: u8) -> Parse<Word> {
        self.operand_from(quoted, stop, 0)
    }

    /// The same, where the first `lead` bytes are text whatever they are.
    fn operand_from(&mut self, quoted: bool, stop: u8, lead: usize) -> Parse<Word> {
        let start = self.pos;
        let mut builder = Builder::default();
        if lead > 0 {
            builder.literal(self.rest().get(..lead).unwrap_or_default());
            self.pos += lead;
        }
        if quoted {
            self.quoted_operand(&mut builder)?;
            return self.close_word(builder, start);
        }
        let extglob = self.options.extglob;
        if self.here() == b'~' {
            self.tilde(&mut builder, false, b'}');
        }
        loop {
            match self.here() {
                0 => {
                    let opened = start.saturating_sub(1);
                    return Err(self.unclosed(opened, b'}'));
                }
                b'}' => break,
                byte if byte == stop => break,
                b'<' | b'>' if self.ahead(1) == b'(' => self.process_sub(&mut builder)?,
                b'?' | b'*' | b'+' | b'@' | b'!' if extglob && self.ahead(1) == b'(' => {
                    self.ext_glob(&mut builder)?;
                }
                _ => self.common_part(&mut builder)?,
            }
        }
        self.close_word(builder, start)
    }

    /// Reads a word of `${x:-…}` within double quotes: single quotes are text, but pair up.
    fn quoted_operand(&mut self, builder: &mut Builder) -> Parse<()> {
        let start = self.pos;
        let mut guard = 0;
        loop {
            let guarded = self.pos < guard;
            match self.here() {
                0 => {
                    let opened = start.saturating_sub(1);
                    return Err(self.unclosed(opened, b'}'));
                }
                b'}' if !guarded => return Ok(()),
                b'"' if !guarded => {
                    let inner = self.double_inside()?;
                    builder.opaque = true;
                    for part in inner.into_parts() {
                        builder.part(part);
                    }
                }
                b'\'' if !guarded && !self.options.posix => {
                    let rest = self.src.get(self.pos + 1..).unwrap_or_default();
                    let Some(length) = memchr::memchr(b'\'', rest) else {
                        return Err(self.unclosed(self.pos, b'\''));
                    };
                    guard = self.pos + length + 2;
                    builder.opaque = true;
                    self.quoted_part(builder)?;
                }
                b'\\' if self.ahead(1) == b'}' => {
                    builder.opaque = true;
                    builder.quoted(b"}");
                    self.pos += 2;
                }
                _ => self.quoted_part(builder)?,
            }
        }
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

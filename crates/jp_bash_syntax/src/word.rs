//! Words: text, quotes, and where expansions start.

use memchr::memchr;

use crate::ast::{Part, Word};
use crate::builder::Builder;
use crate::escapes::decode_ansi_c;
use crate::reader::{KINDS, Parse, Reader, in_name, is_meta, starts_name};

/// What may stand in a word, by its place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct How {
    pub(super) braces: bool,
    pub(super) extglob: bool,
    /// Where a tilde counts.
    pub(super) tilde: Tilde,
    /// The operand of `=~`.
    pub(super) regex: bool,
    /// Up to this place blanks and operators are text.
    pub(super) open_until: usize,
}

/// Where a tilde counts in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Tilde {
    #[default]
    Nowhere,
    /// At the start, and after `=` and `:` if the word looks like an assignment.
    Start,
    /// At the start and after each `:`.
    Value,
}

impl Reader<'_> {
    /// Returns whether no word starts here.
    pub(super) fn at_word_end(&self) -> bool {
        match self.here() {
            b'<' | b'>' => self.ahead(1) != b'(',
            byte => is_meta(byte),
        }
    }

    /// Reads a word of a command.
    pub(super) fn word(&mut self) -> Parse<Word> {
        self.word_in(How {
            braces: self.options.braces,
            extglob: self.options.extglob,
            tilde: Tilde::Start,
            ..How::default()
        })
    }

    /// Reads the first word of a command that looks like an element up to a place: `name[ a b ]`.
    pub(super) fn word_with_bracket(&mut self, end: usize) -> Parse<Word> {
        self.word_in(How {
            braces: self.options.braces,
            extglob: self.options.extglob,
            tilde: Tilde::Start,
            open_until: end,
            ..How::default()
        })
    }

    /// Reads a word.
    pub(super) fn word_in(&mut self, how: How) -> Parse<Word> {
        self.node()?;
        let start = self.pos;
        let src = self.rest();
        let plain = src
            .iter()
            .position(|byte| KINDS.get(usize::from(*byte)) != Some(&0))
            .unwrap_or(src.len());
        let simple = !how.regex && how.open_until <= start;
        if plain > 0 && simple && src.get(plain).is_none_or(|byte| is_plain_end(*byte)) {
            let text = src.get(..plain).unwrap_or_default().into();
            self.pos += plain;
            return Ok(Word {
                parts: vec![Part::Literal(text)],
                ..Word::default()
            });
        }
        let mut builder = Builder::default();
        self.word_parts(&mut builder, how)?;
        self.close_word(builder, start)
    }

    /// Reads the whole text as one word, where blanks and operators are text.
    pub(super) fn whole_word(&mut self) -> Parse<Word> {
        let mut builder = Builder::default();
        while self.here() != 0 {
            self.common_part(&mut builder)?;
        }
        self.close_word(builder, 0)
    }

    /// Makes the word of what was read since `start`.
    pub(super) fn close_word(&mut self, builder: Builder, start: usize) -> Parse<Word> {
        let opaque = builder.opaque;
        let mut word = builder.into_word();
        if opaque || word.braces {
            word.raw = Some(self.copy(start, self.pos)?);
        }
        Ok(word)
    }

    fn word_parts(&mut self, builder: &mut Builder, how: How) -> Parse<()> {
        let mut assign = how.tilde == Tilde::Value;
        if how.regex {
            self.regex_from = self.pos;
        }
        if how.tilde != Tilde::Nowhere && self.here() == b'~' {
            self.tilde(builder, assign, 0);
        }
        loop {
            self.plain_run(builder);
            match self.here() {
                b'<' | b'>' if self.ahead(1) == b'(' => self.process_sub(builder)?,
                b'(' | b'|' if how.regex => self.regex_byte(builder)?,
                byte if is_meta(byte) && (self.pos >= how.open_until || byte == 0) => return Ok(()),
                b'\\' if how.regex && self.ahead(1) != b'\n' && self.ahead(1) != 0 => {
                    self.regex_escape(builder)?;
                }
                b'{' if how.braces => {
                    self.pos += 1;
                    builder.open_brace();
                }
                b',' if how.braces => {
                    self.pos += 1;
                    builder.comma();
                }
                b'}' if how.braces => {
                    self.pos += 1;
                    self.node()?;
                    if builder.close_brace().is_err() {
                        return Err(self.limit("braces are nested too deeply"));
                    }
                }
                b'=' if how.tilde == Tilde::Start && !assign => {
                    assign = builder.only_literal().is_some_and(is_name);
                    self.literal_then_tilde(builder, assign);
                }
                b':' if assign => self.literal_then_tilde(builder, true),
                b'?' | b'*' | b'+' | b'@' | b'!' if how.extglob && self.ahead(1) == b'(' => {
                    self.ext_glob(builder)?;
                }
                _ => self.common_part(builder)?,
            }
        }
    }

    /// Adds the run of bytes that mean nothing special.
    #[inline]
    fn plain_run(&mut self, builder: &mut Builder) {
        let rest = self.rest();
        let plain = rest
            .iter()
            .position(|byte| KINDS.get(usize::from(*byte)) != Some(&0))
            .unwrap_or(rest.len());
        if plain > 0 {
            builder.literal(rest.get(..plain).unwrap_or_default());
            self.pos += plain;
        }
    }

    fn literal_then_tilde(&mut self, builder: &mut Builder, tilde: bool) {
        builder.literal_byte(self.here());
        self.pos += 1;
        if tilde && self.here() == b'~' {
            self.tilde(builder, true, 0);
        }
    }

    /// Reads what is alike in all unquoted places: quotes, expansions, one byte of text.
    pub(super) fn common_part(&mut self, builder: &mut Builder) -> Parse<()> {
        match self.here() {
            b'\\' => {
                self.backslash(builder);
                Ok(())
            }
            b'\'' => self.single(builder),
            b'"' => self.double(builder),
            b'`' => {
                builder.opaque = true;
                let part = self.backticks(false)?;
                builder.part(part);
                Ok(())
            }
            b'$' => self.dollar(builder, false),
            byte => {
                builder.literal_byte(byte);
                self.pos += 1;
                Ok(())
            }
        }
    }

    /// Reads a backslash outside quotes.
    pub(super) fn backslash(&mut self, builder: &mut Builder) {
        builder.opaque = true;
        match self.ahead(1) {
            b'\n' => self.pos += 2,
            0 => {
                builder.literal_byte(b'\\');
                self.pos += 1;
            }
            byte => {
                builder.quoted(&[byte]);
                self.pos += 2;
            }
        }
    }

    /// Reads `'…'`.
    pub(super) fn single(&mut self, builder: &mut Builder) -> Parse<()> {
        builder.opaque = true;
        let start = self.pos + 1;
        let Some(length) = memchr(b'\'', self.src.get(start..).unwrap_or_default()) else {
            return Err(self.unclosed(self.pos, b'\''));
        };
        builder.quoted(self.slice(start, start + length));
        self.pos = start + length + 1;
        Ok(())
    }

    /// Reads `$'…'`, at the quote.
    fn ansi_c(&mut self, builder: &mut Builder) -> Parse<()> {
        builder.opaque = true;
        let start = self.pos + 1;
        let mut end = start;
        loop {
            match self.src.get(end) {
                None => return Err(self.unclosed(self.pos, b'\'')),
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        let text = decode_ansi_c(self.slice(start, end));
        builder.quoted(&text);
        self.pos = end + 1;
        Ok(())
    }

    /// Reads `"…"`, at the quote.
    pub(super) fn double(&mut self, builder: &mut Builder) -> Parse<()> {
        let mut inner = self.double_inside()?;
        if inner.has_parts() {
            builder.opaque |= inner.opaque;
            builder.part(Part::Double(inner.into_parts()));
        } else {
            builder.opaque = true;
            builder.quoted(&inner.take_quoted());
        }
        Ok(())
    }

    /// Reads `"…"` and returns what is inside.
    pub(super) fn double_inside(&mut self) -> Parse<Builder> {
        let opened = self.pos;
        self.pos += 1;
        let mut inner = Builder::default();
        loop {
            let rest = self.rest();
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`'))
                .unwrap_or(rest.len());
            if plain > 0 {
                inner.quoted(rest.get(..plain).unwrap_or_default());
                self.pos += plain;
            }
            match self.here() {
                b'"' => {
                    self.pos += 1;
                    return Ok(inner);
                }
                0 => return Err(self.unclosed(opened, b'"')),
                _ => self.quoted_part(&mut inner)?,
            }
        }
    }

    /// Reads a backslash, `$` or backtick where double quotes apply.
    pub(super) fn quoted_part(&mut self, inner: &mut Builder) -> Parse<()> {
        match self.here() {
            b'\\' => {
                inner.opaque = true;
                match self.ahead(1) {
                    b'\n' => self.pos += 2,
                    byte @ (b'$' | b'`' | b'"' | b'\\') => {
                        inner.quoted(&[byte]);
                        self.pos += 2;
                    }
                    _ => {
                        inner.quoted(b"\\");
                        self.pos += 1;
                    }
                }
                Ok(())
            }
            b'`' => {
                inner.opaque = true;
                let part = self.backticks(true)?;
                inner.part(part);
                Ok(())
            }
            b'$' => self.dollar(inner, true),
            byte => {
                inner.quoted(&[byte]);
                self.pos += 1;
                Ok(())
            }
        }
    }

    /// Reads what starts with `$`.
    pub(super) fn dollar(&mut self, builder: &mut Builder, quoted: bool) -> Parse<()> {
        match self.ahead(1) {
            b'(' => {
                builder.opaque = true;
                let part = self.dollar_paren()?;
                builder.part(part);
            }
            b'{' => {
                builder.opaque = true;
                let part = self.brace_param(quoted)?;
                builder.part(part);
            }
            b'[' => {
                builder.opaque = true;
                let part = self.dollar_bracket()?;
                builder.part(part);
            }
            b'\'' if !quoted => {
                self.pos += 1;
                self.ansi_c(builder)?;
            }
            b'"' if !quoted => {
                builder.opaque = true;
                self.pos += 1;
                self.double(builder)?;
            }
            _ => {
                if let Some(part) = self.simple_param() {
                    self.node()?;
                    builder.part(part);
                } else {
                    self.pos += 1;
                    if quoted {
                        builder.quoted(b"$");
                    } else {
                        builder.literal_byte(b'$');
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads `~…` if it is a tilde prefix. Text ends at `/`, a delimiter or `close`; in values also at `:`.
    pub(super) fn tilde(&mut self, builder: &mut Builder, value: bool, close: u8) {
        let start = self.pos + 1;
        let mut end = start;
        loop {
            let byte = self.src.get(end).copied().unwrap_or(0);
            match byte {
                b'/' => break,
                b':' if value => break,
                b'\\' | b'\'' | b'"' | b'`' | b'$' | b'{' => return,
                _ if is_meta(byte) || byte == close => break,
                _ => end += 1,
            }
        }
        builder.part(Part::Tilde(self.slice(start, end).into()));
        self.pos = end;
    }

    /// Reads `?( … | … )` and its like.
    pub(super) fn ext_glob(&mut self, builder: &mut Builder) -> Parse<()> {
        let opened = self.pos + 1;
        let kind = self.here();
        builder.opaque = true;
        self.enter(1)?;
        self.pos += 2;
        let mut alternatives = Vec::new();
        let mut current = Builder::default();
        let mut depth = 0_usize;
        loop {
            match self.here() {
                0 => return Err(self.unclosed(opened, b')')),
                b'|' if depth == 0 => {
                    self.pos += 1;
                    alternatives.push(std::mem::take(&mut current).into_word());
                }
                b')' if depth == 0 => {
                    self.pos += 1;
                    alternatives.push(current.into_word());
                    break;
                }
                b'?' | b'*' | b'+' | b'@' | b'!' if self.ahead(1) == b'(' => {
                    self.ext_glob(&mut current)?;
                }
                byte => {
                    depth += usize::from(byte == b'(');
                    depth -= usize::from(byte == b')');
                    self.common_part(&mut current)?;
                }
            }
        }
        self.leave(1);
        builder.part(Part::ExtGlob { kind, alternatives });
        Ok(())
    }

    /// Reads a backslash in a regex operand. It quotes the next byte, so `\w` is `w`; the engine sees the
    /// backslash only where that byte has a meaning, and never within brackets.
    fn regex_escape(&mut self, builder: &mut Builder) -> Parse<()> {
        let byte = self.ahead(1);
        self.spend(self.pos.saturating_sub(self.regex_from))?;
        let before = self.slice(self.regex_from, self.pos);
        let kept = b".[]{}()*+?|^$\\".contains(&byte) && !ends_in_bracket(before);
        builder.opaque = true;
        if kept {
            builder.literal(&[b'\\', byte]);
        } else {
            builder.literal_byte(byte);
        }
        self.pos += 2;
        Ok(())
    }

    /// Reads `|` or a group of a regex operand.
    fn regex_byte(&mut self, builder: &mut Builder) -> Parse<()> {
        let opened = self.pos;
        let mut depth = 0_usize;
        builder.opaque = true;
        loop {
            match self.here() {
                0 => return Err(self.unclosed(opened, b')')),
                b'\\' if self.ahead(1) != b'\n' && self.ahead(1) != 0 => {
                    self.regex_escape(builder)?;
                }
                byte => {
                    depth += usize::from(byte == b'(');
                    depth = depth.saturating_sub(usize::from(byte == b')'));
                    self.common_part(builder)?;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns whether a regex ends within a bracket expression.
fn ends_in_bracket(text: &[u8]) -> bool {
    let mut inside = None;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match (byte, inside) {
            (b'\\', None) => at += 1,
            (b'[', None) => {
                at += usize::from(text.get(at + 1) == Some(&b'^'));
                inside = Some(at + 1);
            }
            (b'[', Some(_)) if matches!(text.get(at + 1), Some(b':' | b'.' | b'=')) => {
                let kind = text.get(at + 1).copied().unwrap_or(0);
                let rest = text.get(at + 2..).unwrap_or_default();
                match rest.windows(2).position(|pair| pair == [kind, b']']) {
                    Some(length) => at += length + 3,
                    None => return true,
                }
            }
            (b']', Some(first)) if at > first => inside = None,
            _ => {}
        }
        at += 1;
    }
    inside.is_some()
}

/// Returns whether a byte ends a word that so far is plain text.
fn is_plain_end(byte: u8) -> bool {
    is_meta(byte) && !matches!(byte, b'<' | b'>')
}

/// Returns whether a text is a name.
pub(super) fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| starts_name(*byte)) && text.iter().all(|byte| in_name(*byte))
}

//! Simple commands: assignments, words, redirections; and functions, which start like them.

use crate::ast::{
    Arg, Assign, AssignValue, Command, CommandKind, Element, Redirect, RedirectFd, RedirectKind,
    Simple, Word,
};
use crate::error::SyntaxErrorKind;
use crate::reader::{Parse, Reader, in_name, is_meta, starts_name};
use crate::word::{How, Tilde};

impl Reader<'_> {
    /// Reads a simple command, or a function definition `name ( ) …`.
    #[inline(never)]
    pub(super) fn simple(&mut self, line: u32) -> Parse<Command> {
        let mut simple = Simple {
            assigns: Vec::new(),
            words: Vec::with_capacity(2),
        };
        let mut redirects = Vec::new();
        let mut declares = Declares::No;
        let mut line = line;
        let mut tokens = 0_u8;
        loop {
            // Bash numbers a command by where its parser is once it has read one token more than the first.
            if tokens == 2 {
                line = self.line();
            }
            self.skip_blanks();
            tokens = tokens.saturating_add(1);
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            let first = simple.words.is_empty();
            if (first || self.alias_next) && self.try_alias()? {
                tokens -= 1;
                // What an alias in an argument's place becomes may be an alias too.
                self.alias_next |= !first;
                continue;
            }
            if self.at_word_end() {
                break;
            }
            let start = self.pos;
            let mut bracket = None;
            if first && let Some(assign) = self.assignment(&mut bracket)? {
                simple.assigns.push(assign);
                continue;
            }
            if let Some(arg) = self.declared(declares)? {
                simple.words.push(arg);
                continue;
            }
            let word = match bracket {
                Some(end) => self.word_with_bracket(end)?,
                None => self.word()?,
            };
            if first {
                declares = Declares::by_name(self.slice(start, self.pos));
                let is_alone = simple.assigns.is_empty() && redirects.is_empty();
                if is_alone && self.at_function() {
                    let kind = self.function_after_name(start, line)?;
                    return self.with_redirects(kind, line);
                }
            } else if declares == Declares::NextWord {
                declares = Declares::by_name(self.slice(start, self.pos)).by_prefix();
            }
            simple.words.push(Arg::Word(word));
        }
        if simple.words.is_empty() && simple.assigns.is_empty() && redirects.is_empty() {
            return Err(self.unexpected());
        }
        if tokens <= 2 {
            line = self.line();
        }
        if self.here() == b'(' {
            return Err(self.unexpected());
        }
        Ok(Command {
            line,
            kind: CommandKind::Simple(simple),
            redirects,
        })
    }

    fn try_alias(&mut self) -> Parse<bool> {
        let expanded = self.expand_alias()?;
        if !expanded {
            self.alias_next = false;
        }
        Ok(expanded)
    }

    /// Returns whether `(` follows. Looks no further than this text: an alias that ends here must not end yet.
    fn at_function(&self) -> bool {
        let mut rest = self.rest().iter();
        rest.find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'(')
    }

    /// Reads an argument that is an assignment, where the command takes such.
    fn declared(&mut self, declares: Declares) -> Parse<Option<Arg>> {
        let start = self.pos;
        match declares {
            Declares::No | Declares::NextWord => Ok(None),
            Declares::Text => {
                let rest = self.rest();
                let length = rest.iter().position(|byte| !in_name(*byte)).unwrap_or(0);
                let opens = rest.get(length..).unwrap_or_default();
                if length == 0 || !(opens.starts_with(b"=(") || opens.starts_with(b"+=(")) {
                    return Ok(None);
                }
                // The text is a plain argument, but its parentheses need not be quoted.
                self.declared_assignment()?;
                let end = self.pos;
                self.rewind(start)?;
                Ok(Some(Arg::Word(self.word_with_bracket(end)?)))
            }
            Declares::Arrays | Declares::Scalars => {
                let Some(assign) = self.declared_assignment()? else {
                    return Ok(None);
                };
                let text = self.slice(start, self.pos);
                let scalar = matches!(assign.value, AssignValue::Scalar(_));
                if scalar && self.options.braces && text.contains(&b'{') {
                    // `export x={1,2}` is `export x=1 x=2`.
                    let end = self.pos;
                    self.rewind(start)?;
                    let word = self.word()?;
                    if word.braces {
                        return Ok(Some(Arg::Word(word)));
                    }
                    self.pos = end;
                }
                if declares == Declares::Scalars && matches!(assign.value, AssignValue::Array(_)) {
                    self.pos = start
                        + self
                            .slice(start, self.pos)
                            .iter()
                            .position(|b| *b == b'(')
                            .unwrap_or(0);
                    return Err(self.unexpected());
                }
                Ok(Some(Arg::Assign(assign)))
            }
        }
    }

    /// Reads a redirection, if one stands here.
    #[inline(never)]
    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect>> {
        let (fd, length) = match self.here() {
            b'<' | b'>' => (RedirectFd::Default, 0),
            b'&' if self.ahead(1) == b'>' => (RedirectFd::Default, 0),
            b'0'..=b'9' => match self.fd_number() {
                Some(found) => found,
                None => return Ok(None),
            },
            b'{' => match self.fd_variable() {
                Some(found) => found,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if length == 0 && self.here() != b'&' && self.ahead(1) == b'(' {
            return Ok(None);
        }
        self.pos += length;
        if length > 0 {
            self.joins_operator();
        }
        let kind = self.redirect_kind()?;
        Ok(Some(Redirect { fd, kind }))
    }

    fn fd_number(&self) -> Option<(RedirectFd, usize)> {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        if !matches!(rest.get(length), Some(b'<' | b'>')) {
            return None;
        }
        let digits = std::str::from_utf8(rest.get(..length)?).ok()?;
        let number = digits.parse::<i32>().ok()?;
        Some((RedirectFd::Number(number.unsigned_abs()), length))
    }

    fn fd_variable(&mut self) -> Option<(RedirectFd, usize)> {
        let rest = self.src.get(self.pos + 1..).unwrap_or_default();
        let length = rest.iter().position(|byte| !in_name(*byte))?;
        let name = rest.get(..length)?;
        if !starts_name(*name.first()?) {
            return None;
        }
        if rest.get(length) == Some(&b'[') {
            let end = rest.iter().position(|byte| is_meta(*byte))?;
            let text = rest.get(..end)?.strip_suffix(b"]}")?;
            let closed = !text.get(length + 1..)?.contains(&b']');
            let found = closed && matches!(rest.get(end), Some(b'<' | b'>'));
            return found.then(|| {
                let text = [text, b"]"].concat().into();
                (RedirectFd::Element(text), end + 1)
            });
        }
        let at_operator = matches!(rest.get(length + 1), Some(b'<' | b'>'));
        if rest.get(length) != Some(&b'}') || !at_operator {
            return None;
        }
        let name = self.names.intern(name);
        Some((RedirectFd::Variable(name), length + 2))
    }

    fn redirect_kind(&mut self) -> Parse<RedirectKind> {
        let bytes = (self.here(), self.ahead(1), self.ahead(2));
        let (length, make): (usize, fn(Word) -> RedirectKind) = match bytes {
            (b'&', _, b'>') => (3, RedirectKind::BothAppend),
            (b'&', ..) => (2, RedirectKind::Both),
            (b'<', b'<', b'<') => (3, RedirectKind::HereString),
            (b'<', b'<', third) => {
                self.pos += 2 + usize::from(third == b'-');
                let doc = self.here_doc(third == b'-')?;
                return Ok(RedirectKind::HereDoc(doc));
            }
            (b'<', b'&', _) => (2, RedirectKind::DupRead),
            (b'<', b'>', _) => (2, RedirectKind::ReadWrite),
            (b'<', ..) => (1, RedirectKind::Read),
            (_, b'>', _) => (2, RedirectKind::Append),
            (_, b'&', _) => (2, RedirectKind::DupWrite),
            (_, b'|', _) => (2, RedirectKind::Clobber),
            _ => (1, RedirectKind::Write),
        };
        self.pos += length;
        self.skip_blanks();
        // `> 2> x`: the second number belongs to its own redirection.
        let at_fd = match self.here() {
            _ if bytes.1 == b'&' => None,
            b'0'..=b'9' => self.fd_number(),
            b'{' => self.fd_variable(),
            _ => None,
        };
        if let Some((_, length)) = at_fd {
            let fd = self.copy(self.pos, self.pos + length)?;
            return Err(self.unexpected_token(&fd));
        }
        if self.at_word_end() {
            return Err(self.unexpected());
        }
        let how = How {
            // A here-string takes no braces.
            braces: self.options.braces && bytes.2 != b'<',
            extglob: self.options.extglob,
            tilde: Tilde::Start,
            ..How::default()
        };
        Ok(make(self.word_in(how)?))
    }

    /// Reads an assignment among arguments, whose subscript holds no blanks.
    fn declared_assignment(&mut self) -> Parse<Option<Assign>> {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !in_name(*byte)).unwrap_or(0);
        if rest.get(length) == Some(&b'[') && !self.closes_before_blank(length) {
            return Ok(None);
        }
        self.assignment(&mut None)
    }

    /// Reads an assignment, if one stands here. If it is none but has a subscript, tells where that ends:
    /// before the command's name blanks in it are part of the word.
    #[inline(never)]
    fn assignment(&mut self, bracket: &mut Option<usize>) -> Parse<Option<Assign>> {
        let start = self.pos;
        if !starts_name(self.here()) {
            return Ok(None);
        }
        let rest = self.rest();
        let length = rest.iter().position(|byte| !in_name(*byte));
        let Some(length) = length else {
            return Ok(None);
        };
        let operator = match (rest.get(length), rest.get(length + 1)) {
            (Some(b'='), _) => 1,
            (Some(b'+'), Some(b'=')) => 2,
            (Some(b'['), _) if !self.is_refuted(start) => 0,
            _ => return Ok(None),
        };
        self.pos += length;
        let mut subscript = None;
        if operator == 0 {
            subscript = Some(Box::new(self.subscript()?));
            let found = self.here() == b'=' || (self.here() == b'+' && self.ahead(1) == b'=');
            if !found {
                *bracket = Some(self.pos);
                self.refute(start);
                self.rewind(start)?;
                return Ok(None);
            }
        }
        let name = self.src.get(start..start + length).unwrap_or_default();
        let name = self.names.intern(name);
        let append = self.here() == b'+';
        self.pos += 1 + usize::from(append);
        let value = if self.here() == b'(' {
            AssignValue::Array(self.array()?)
        } else {
            AssignValue::Scalar(self.value_word()?)
        };
        Ok(Some(Assign {
            name,
            subscript,
            append,
            value,
        }))
    }

    /// Returns whether the subscript here is one word, as arguments of `declare` must be.
    fn closes_before_blank(&self, from: usize) -> bool {
        let rest = self.rest().get(from..).unwrap_or_default();
        let mut depth = 0_usize;
        let mut quote = 0;
        for byte in rest {
            match byte {
                b'\'' | b'"' if quote == 0 => quote = *byte,
                _ if quote == *byte => quote = 0,
                _ if quote != 0 => {}
                b'[' | b'(' | b'{' => depth += 1,
                b']' if depth <= 1 => return true,
                b']' | b')' | b'}' => depth = depth.saturating_sub(1),
                b' ' | b'\t' if depth > 1 => {}
                byte if is_meta(*byte) => return false,
                _ => {}
            }
        }
        false
    }

    /// Reads the value of an assignment, which may be empty.
    fn value_word(&mut self) -> Parse<Word> {
        if self.at_word_end() {
            return Ok(Word::default());
        }
        self.word_in(How {
            tilde: Tilde::Value,
            extglob: self.options.extglob,
            ..How::default()
        })
    }

    /// Reads `( … )` of an array assignment.
    #[inline(never)]
    pub(super) fn array(&mut self) -> Parse<Vec<Element>> {
        let opened = self.pos;
        self.enter(1)?;
        self.pos += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.here() {
                b')' => {
                    self.pos += 1;
                    self.leave(1);
                    return Ok(elements);
                }
                byte if byte == 0 || self.at_word_end() => {
                    let mut error = match byte {
                        0 => self.unclosed(opened, b')'),
                        _ => self.unexpected(),
                    };
                    error.kind = SyntaxErrorKind::Array;
                    return Err(error);
                }
                _ => elements.push(self.element()?),
            }
        }
    }

    fn element(&mut self) -> Parse<Element> {
        let start = self.pos;
        if self.here() == b'[' && !self.is_refuted(start) {
            let subscript = self.subscript()?;
            let append = self.here() == b'+' && self.ahead(1) == b'=';
            if append || self.here() == b'=' {
                self.pos += 1 + usize::from(append);
                return Ok(Element {
                    subscript: Some(Box::new(subscript)),
                    append,
                    value: self.value_word()?,
                });
            }
            self.refute(start);
            self.rewind(start)?;
        }
        Ok(Element {
            subscript: None,
            append: false,
            value: self.word()?,
        })
    }
}

/// Which arguments of a command are assignments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declares {
    No,
    /// `command` and `builtin`: the next word decides.
    NextWord,
    /// `declare` and its like: also arrays.
    Arrays,
    /// The same behind `command`, where bash takes no arrays.
    Scalars,
    /// `eval` and `let`: what looks like an array is text.
    Text,
}

impl Declares {
    fn by_name(name: &[u8]) -> Self {
        match name {
            b"declare" | b"local" | b"export" | b"readonly" | b"typeset" => Self::Arrays,
            b"alias" => Self::Scalars,
            b"eval" | b"let" => Self::Text,
            b"command" | b"builtin" => Self::NextWord,
            _ => Self::No,
        }
    }

    fn by_prefix(self) -> Self {
        match self {
            Self::Arrays | Self::Scalars => Self::Scalars,
            Self::NextWord => Self::NextWord,
            _ => Self::No,
        }
    }
}

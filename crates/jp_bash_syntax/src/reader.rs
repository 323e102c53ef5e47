//! The place in the script that is being read: bytes, lines, aliases, limits, errors.
//!
//! All parts of the grammar are methods of [`Reader`]. It knows no shell state: names and aliases
//! are handed in.

use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};
use rustc_hash::FxHashSet;

use crate::ast::{List, Word};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::here_doc::PendingDoc;
use crate::names::Names;
use crate::parser::{Aliases, ParseOptions};

/// The result of reading something. The error is boxed, since these functions nest deeply.
pub(super) type Parse<T> = Result<T, Box<SyntaxError>>;

/// What a byte means outside quotes. Everything not named here is part of a word.
pub(super) const META: u8 = 1;
/// Needs a closer look within a word.
pub(super) const SPECIAL: u8 = 2;

/// Kinds of bytes, so that runs of plain text are skipped by table.
pub(super) static KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut table = [0; 256];
    let meta = b"\0 \t\n;&|<>()";
    let mut at = 0;
    while at < meta.len() {
        table[meta[at] as usize] = META;
        at += 1;
    }
    let special = b"\\'\"`${},~?*+@![]:=";
    at = 0;
    while at < special.len() {
        table[special[at] as usize] = SPECIAL;
        at += 1;
    }
    table
}

/// Returns whether a byte ends a word outside quotes.
pub(super) fn is_meta(byte: u8) -> bool {
    KINDS.get(usize::from(byte)) == Some(&META)
}

/// Returns whether a byte can start a name.
pub(super) fn starts_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}

/// Returns whether a byte can stand in a name.
pub(super) fn in_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// Returns where the stack ends now, roughly.
#[inline(never)]
pub(super) fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::addr_of!(marker).addr()
}

/// Returns whether a text ends within quotes or a comment.
fn opens_quote(text: &[u8]) -> bool {
    let mut quote = 0;
    let mut before = b' ';
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let first = is_meta(std::mem::replace(&mut before, *byte));
        match byte {
            b'#' if quote == 0 && first => return true,
            b'\\' if quote != b'\'' && bytes.next().is_none() => return true,
            b'\'' | b'"' if quote == 0 => quote = *byte,
            byte if quote == *byte => quote = 0,
            _ => {}
        }
    }
    quote != 0
}

/// Text that was left to read an alias first.
struct Outer {
    src: Arc<[u8]>,
    pos: usize,
    alias: Box<[u8]>,
}

/// Reads one text.
pub(super) struct Reader<'a> {
    pub(super) src: Arc<[u8]>,
    pub(super) pos: usize,
    pub(super) names: &'a mut Names,
    pub(super) aliases: &'a Aliases<'a>,
    pub(super) options: &'a ParseOptions,
    /// Here-documents whose bodies start at the next newline.
    pub(super) pending: Vec<PendingDoc>,
    /// Bodies of the here-documents of the current command, by their number.
    pub(super) docs: Vec<Word>,
    /// Warnings for whoever runs the script.
    pub(super) warnings: Vec<(u32, Vec<u8>)>,
    /// Places where `((` or `name[` were found to be something else.
    pub(super) refuted: FxHashSet<(usize, usize)>,
    /// The last alias ended in a blank, so the next word may be one too.
    pub(super) alias_next: bool,
    /// Nesting of `$( … )`, whose `)` can end a here-document.
    pub(super) subs: u32,
    /// Bodies that were read ahead: at the first place, go on at the second.
    pub(super) skip: Option<(usize, usize)>,
    /// Where the operand of `=~` that is read now began.
    pub(super) regex_from: usize,
    outer: Vec<Outer>,
    /// Address of a local where reading began: how much stack is used is the distance to it.
    stack_base: usize,
    depth: u16,
    /// Commands, words and parameters read so far.
    pub(super) nodes: u32,
    fuel: usize,
    line_mark: (usize, u32),
}

impl<'a> Reader<'a> {
    /// Starts to read a text at its first byte.
    pub(super) fn new(
        src: Arc<[u8]>,
        names: &'a mut Names,
        aliases: &'a Aliases<'a>,
        options: &'a ParseOptions,
    ) -> Self {
        // Reading again and copying texts is bounded in proportion to the script, so that no nesting
        // of `((` or `$(` makes the work or the tree grow quadratically.
        let fuel = src.len().saturating_mul(32).saturating_add(1 << 20);
        Self {
            src,
            pos: 0,
            names,
            aliases,
            options,
            pending: Vec::new(),
            docs: Vec::new(),
            warnings: Vec::new(),
            refuted: FxHashSet::default(),
            alias_next: false,
            subs: 0,
            skip: None,
            regex_from: 0,
            outer: Vec::new(),
            stack_base: stack_address(),
            depth: 0,
            nodes: 0,
            fuel,
            line_mark: (0, options.first_line),
        }
    }

    /// Returns whether the text read now is an alias's.
    pub(super) fn in_alias(&self) -> bool {
        !self.outer.is_empty()
    }

    /// Goes to a place whose line is known.
    pub(super) fn start_at(&mut self, pos: usize, line: u32) {
        self.pos = pos;
        self.line_mark = (pos, line);
    }

    /// Returns the script itself, not an alias: aliases that open a quote have become part of it.
    pub(super) fn outermost_text(&self) -> &Arc<[u8]> {
        self.outer.first().map_or(&self.src, |outer| &outer.src)
    }

    /// Returns the place in the script itself, not in an alias.
    pub(super) fn outermost(&self) -> usize {
        self.outer.first().map_or(self.pos, |outer| outer.pos)
    }

    /// Reads another text that is part of this one (backticks, a here-document) with what is left of the limits.
    pub(super) fn within<T>(
        &mut self,
        src: Arc<[u8]>,
        line: u32,
        read: impl FnOnce(&mut Reader<'_>) -> Parse<T>,
    ) -> Parse<T> {
        self.spend(src.len())?;
        let mut inner = Reader {
            src,
            pos: 0,
            names: &mut *self.names,
            aliases: self.aliases,
            options: self.options,
            pending: Vec::new(),
            docs: Vec::new(),
            warnings: Vec::new(),
            refuted: FxHashSet::default(),
            alias_next: false,
            subs: 0,
            skip: None,
            regex_from: 0,
            outer: Vec::new(),
            stack_base: self.stack_base,
            depth: self.depth,
            nodes: self.nodes,
            fuel: self.fuel,
            line_mark: (0, line),
        };
        let result = read(&mut inner);
        self.fuel = inner.fuel;
        self.nodes = inner.nodes;
        result
    }

    /// Returns the byte at the current place, 0 at the end.
    #[inline]
    pub(super) fn here(&self) -> u8 {
        self.src.get(self.pos).copied().unwrap_or(0)
    }

    /// Returns the byte `ahead` bytes on, 0 past the end.
    #[inline]
    pub(super) fn ahead(&self, ahead: usize) -> u8 {
        self.src
            .get(self.pos.wrapping_add(ahead))
            .copied()
            .unwrap_or(0)
    }

    /// Returns the rest of the text.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        self.src.get(self.pos..).unwrap_or_default()
    }

    /// Returns a piece of the text.
    #[inline]
    pub(super) fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.src.get(from..to).unwrap_or_default()
    }

    /// Copies a piece of the text into the tree.
    pub(super) fn copy(&mut self, from: usize, to: usize) -> Parse<Box<[u8]>> {
        self.spend(to.saturating_sub(from))?;
        Ok(self.slice(from, to).into())
    }

    /// Counts work that is not in proportion to the text by itself.
    pub(super) fn spend(&mut self, bytes: usize) -> Parse<()> {
        match self.fuel.checked_sub(bytes) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(self.limit("script is too deeply nested to be read in reasonable time")),
        }
    }

    /// Counts a part of the tree, so that memory is bounded in one command line.
    #[inline]
    pub(super) fn node(&mut self) -> Parse<()> {
        self.nodes += 1;
        if self.options.asked.stops(self.nodes) {
            return Err(self.limit("no time is left to read the script"));
        }
        if self.nodes > self.options.max_nodes {
            let line = self.line();
            let message = "command line has too many parts";
            return Err(Box::new(SyntaxError::new(
                SyntaxErrorKind::Memory,
                line,
                message,
            )));
        }
        Ok(())
    }

    /// Goes back to an earlier place.
    pub(super) fn rewind(&mut self, to: usize) -> Parse<()> {
        self.spend(self.pos.saturating_sub(to))?;
        self.pos = to;
        Ok(())
    }

    /// Notes that the place is not what it looked like, so that it is not tried again.
    pub(super) fn refute(&mut self, at: usize) {
        self.refuted.insert((self.outer.len(), at));
    }

    /// Returns whether the place was noted by [`Reader::refute`].
    pub(super) fn is_refuted(&self, at: usize) -> bool {
        !self.refuted.is_empty() && self.refuted.contains(&(self.outer.len(), at))
    }

    /// Enters a nested construct, which counts as `weight` levels: some need more stack than others.
    pub(super) fn enter(&mut self, weight: u16) -> Parse<()> {
        self.depth = self.depth.saturating_add(weight);
        let used = self.stack_base.saturating_sub(stack_address());
        if self.depth > self.options.max_depth || used > self.options.max_stack {
            return Err(self.limit("constructs are nested too deeply"));
        }
        Ok(())
    }

    /// Leaves a nested construct.
    pub(super) fn leave(&mut self, weight: u16) {
        self.depth = self.depth.saturating_sub(weight);
    }

    /// Returns how many more levels may be entered.
    pub(super) fn levels_left(&self) -> usize {
        usize::from(self.options.max_depth.saturating_sub(self.depth))
    }

    /// Returns the line of the current place.
    pub(super) fn line(&mut self) -> u32 {
        let pos = self.outer.first().map_or(self.pos, |outer| outer.pos);
        let src = self.outer.first().map_or(&self.src, |outer| &outer.src);
        let (mark, line) = self.line_mark;
        let count = |from: usize, to: usize| {
            let piece = src.get(from..to.min(src.len())).unwrap_or_default();
            u32::try_from(memchr_iter(b'\n', piece).count()).unwrap_or(u32::MAX)
        };
        let line = if pos >= mark {
            line.saturating_add(count(mark, pos))
        } else {
            line.saturating_sub(count(pos, mark))
        };
        self.line_mark = (pos, line);
        line
    }

    /// Returns the line of an earlier place of the text read now.
    pub(super) fn line_at(&mut self, at: usize) -> u32 {
        let here = std::mem::replace(&mut self.pos, at);
        let line = self.line();
        self.pos = here;
        line
    }

    /// Skips blanks, joined lines and comments; leaves texts of aliases that are used up.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.here() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.ahead(1) == b'\n' => self.pos += 2,
                b'#' => {
                    let rest = self.rest();
                    self.pos += memchr(b'\n', rest).unwrap_or(rest.len());
                }
                0 => {
                    let Some(outer) = self.outer.pop() else {
                        return;
                    };
                    self.alias_next |= matches!(self.src.last(), Some(b' ' | b'\t'));
                    self.src = outer.src;
                    self.pos = outer.pos;
                }
                b'&' | b'|' | b';' | b'<' | b'>' if self.joins_operator() => return,
                _ => return,
            }
        }
    }

    /// Moves a joined line out of the operator here (`&\\<newline>&`), before it. Lengths and lines stay.
    pub(super) fn joins_operator(&mut self) -> bool {
        let is_operator = |byte: &u8| matches!(byte, b'&' | b'|' | b';' | b'<' | b'>' | b'-');
        let rest = self.rest();
        let length = rest.iter().take(2).take_while(|b| is_operator(b)).count();
        let (Some(b"\\\n"), Some(next)) = (rest.get(length..length + 2), rest.get(length + 2))
        else {
            return false;
        };
        if length == 0 || !is_operator(next) || self.spend(self.src.len()).is_err() {
            return false;
        }
        let mut text = self.src.to_vec();
        if let Some(piece) = text.get_mut(self.pos..self.pos + length + 2) {
            piece.rotate_right(2);
        }
        self.src = text.into();
        self.pos += 2;
        self.joins_operator();
        true
    }

    /// Skips blanks, comments and newlines. A newline starts the bodies of pending here-documents.
    pub(super) fn skip_newlines(&mut self) -> Parse<()> {
        loop {
            self.skip_blanks();
            if self.here() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Passes a newline and the here-documents after it.
    pub(super) fn newline(&mut self) -> Parse<()> {
        self.pos += 1;
        if let Some((at, to)) = self.skip
            && at == self.pos
            && self.outer.is_empty()
        {
            self.skip = None;
            self.pos = to;
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        self.read_here_docs()
    }

    /// Returns the end of the run of bytes up to the next quote, expansion or delimiter, if it is unquoted text.
    pub(super) fn bare_end(&self) -> usize {
        let rest = self.rest();
        let is_end =
            |byte: &u8| is_meta(*byte) || matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$');
        self.pos + rest.iter().position(is_end).unwrap_or(rest.len())
    }

    /// Returns the unquoted word at the current place, empty if it has quotes or expansions.
    pub(super) fn bare_word(&self) -> &[u8] {
        let end = self.bare_end();
        match self.src.get(end) {
            Some(byte) if !is_meta(*byte) => b"",
            _ => self.slice(self.pos, end),
        }
    }

    /// Replaces the word at the current place by its alias; false if it has none.
    pub(super) fn expand_alias(&mut self) -> Parse<bool> {
        let word = self.bare_word();
        if word.is_empty() {
            return Ok(false);
        }
        let Some(text) = (self.aliases)(word) else {
            return Ok(false);
        };
        // An alias does not expand within its own text.
        if self.outer.iter().any(|outer| *outer.alias == *word) {
            return Ok(false);
        }
        let alias: Box<[u8]> = word.into();
        if self.outer.is_empty() && opens_quote(&text) && !text.starts_with(&alias) {
            // Its end is in the script: the text takes the place of the word.
            self.spend(self.src.len() + text.len())?;
            let end = self.pos + alias.len();
            let pieces = [
                self.slice(0, self.pos),
                &text,
                self.slice(end, self.src.len()),
            ];
            self.src = pieces.concat().into();
            self.alias_next = false;
            return Ok(true);
        }
        // Aliases that name others twice grow exponentially.
        self.spend(text.len() + self.outer.len() + 1)?;
        let pos = self.pos + alias.len();
        let src = std::mem::replace(&mut self.src, text);
        self.outer.push(Outer { src, pos, alias });
        self.pos = 0;
        self.alias_next = false;
        Ok(true)
    }

    /// Runs a reading that may fail without harm: an error leaves the nesting as it was.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let (depth, subs) = (self.depth, self.subs);
        let docs = self.docs.len();
        let result = read(self);
        if result.is_err() {
            self.depth = depth;
            self.subs = subs;
            self.docs.truncate(docs);
        }
        result
    }

    /// Reads a whole text as a script.
    pub(super) fn program(&mut self) -> Parse<List> {
        let mut list = List::new();
        self.skip_newlines()?;
        while self.here() != 0 {
            list.append(&mut self.list()?);
            self.skip_newlines()?;
            if self.here() != 0 {
                return Err(self.unexpected());
            }
        }
        self.finish_docs(&mut list)?;
        Ok(list)
    }

    /// Makes the error of a limit.
    pub(super) fn limit(&mut self, message: &str) -> Box<SyntaxError> {
        let line = self.line();
        Box::new(SyntaxError::new(SyntaxErrorKind::Limit, line, message))
    }

    /// Makes an error of one message about the current line.
    pub(super) fn error(&mut self, message: impl Into<Vec<u8>>) -> Box<SyntaxError> {
        let line = self.line();
        Box::new(SyntaxError::new(SyntaxErrorKind::Token, line, message))
    }

    /// Makes the error for a quote or bracket that is never closed.
    pub(super) fn unclosed(&mut self, opened: usize, close: u8) -> Box<SyntaxError> {
        let line = self.line_at(opened);
        let mut message = b"unexpected EOF while looking for matching `".to_vec();
        message.extend([close, b'\'']);
        Box::new(SyntaxError::new(SyntaxErrorKind::Incomplete, line, message))
    }

    /// Makes the error for the token at the current place.
    pub(super) fn unexpected(&mut self) -> Box<SyntaxError> {
        self.skip_blanks();
        let start = self.pos;
        if self.here() == 0 {
            return self.unexpected_end();
        }
        match self.token_end() {
            Ok(end) if self.here() == b'\n' => {
                self.pos = end.saturating_sub(1);
                self.unexpected_token(b"newline")
            }
            Ok(end) => {
                let token: Box<[u8]> = self.slice(start, end).into();
                self.pos = end;
                self.unexpected_token(&token)
            }
            Err(error) => error,
        }
    }

    /// Makes the error for the end of the script.
    pub(super) fn unexpected_end(&mut self) -> Box<SyntaxError> {
        let line = self.line();
        let message = if self.subs > 0 {
            "unexpected EOF while looking for matching `)'"
        } else {
            "syntax error: unexpected end of file"
        };
        Box::new(SyntaxError::new(SyntaxErrorKind::Incomplete, line, message))
    }

    /// Makes the error for a token, with the line it stands on.
    pub(super) fn unexpected_token(&mut self, token: &[u8]) -> Box<SyntaxError> {
        let mut message = b"syntax error near unexpected token `".to_vec();
        message.extend_from_slice(token);
        message.push(b'\'');
        let mut error = self.error(message);
        let shown = self.shown_line();
        let line = error.line();
        error.messages.push((line, shown));
        error
    }

    /// Returns the line at the current place in bash's quotes.
    fn shown_line(&self) -> Vec<u8> {
        let pos = self.outer.first().map_or(self.pos, |outer| outer.pos);
        let src = self.outer.first().map_or(&self.src, |outer| &outer.src);
        let pos = pos.min(src.len());
        let start = memrchr(b'\n', src.get(..pos).unwrap_or_default()).map_or(0, |at| at + 1);
        let rest = src.get(start..).unwrap_or_default();
        let line = rest
            .get(..memchr(b'\n', rest).unwrap_or(rest.len()))
            .unwrap_or_default();
        [b"`", line, b"'"].concat()
    }

    /// Returns where the token at the current place ends, for messages.
    pub(super) fn token_end(&mut self) -> Parse<usize> {
        const OPERATORS: [&[u8]; 22] = [
            b"<<-", b"<<<", b"&>>", b";;&", b"&&", b"||", b";;", b";&", b"<<", b">>", b"<&", b">&",
            b"<>", b">|", b"&>", b"|&", b";", b"&", b"|", b"<", b">", b"(",
        ];
        let start = self.pos;
        if self.here() == b'\n' || self.here() == b')' {
            return Ok(start + 1);
        }
        // `<( … )` is a word.
        for operator in OPERATORS {
            if self.at_word_end() && self.rest().starts_with(operator) {
                return Ok(start + operator.len());
            }
        }
        self.word()?;
        Ok(std::mem::replace(&mut self.pos, start))
    }
}

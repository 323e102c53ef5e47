//! Reads basic and extended patterns the way glibc's `regcomp` does, with GNU's extensions.

mod repeat;
mod token;

use std::sync::Arc;

use regex_automata::util::look::Look;
use regex_syntax::hir::Class;
use smallvec::SmallVec;

use token::{Shorthand, Token};

use super::automaton::MAX_SIZE;
use super::error::RegexError;
use super::meter::Meter;
use super::node::Node;
use super::set::{self, Set};
use super::{Dialect, Flags, Flavor};

/// The deepest nesting of groups and repeats; deeper ones would cost native stack in the compilers.
const MAX_DEPTH: u32 = 200;

/// The largest count in an interval (`RE_DUP_MAX`).
const MAX_COUNT: u32 = 0x7fff;

/// What was read.
pub(crate) struct Pattern {
    pub(crate) node: Node,
    pub(crate) groups: u32,
    /// What GNU grep warns about.
    pub(crate) warnings: Vec<String>,
}

/// How much may still be read: nodes and members of brackets. What is more is refused before it is held.
pub(crate) struct Room {
    left: u64,
    ranges: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            left: MAX_SIZE,
            ranges: MAX_RANGES,
        }
    }
}

/// The most ranges of characters that brackets have together.
const MAX_RANGES: usize = 1_000_000;
/// So many nodes are counted together.
const STRIDE: u64 = 256;

/// Reads a pattern whose groups are numbered after `base`.
pub(crate) fn parse(
    pattern: &[u8],
    flavor: Flavor,
    flags: Flags,
    base: u32,
    room: &mut Room,
    meter: &mut Meter<'_>,
) -> Result<Pattern, RegexError> {
    let mut parser = Parser {
        room,
        meter,
        text: pattern,
        at: 0,
        extended: flavor == Flavor::Extended,
        flags,
        depth: 0,
        base,
        opened: base,
        closed: 0,
        warnings: Vec::new(),
        sets: [const { None }; 5],
    };
    if flavor == Flavor::Fixed {
        return Ok(Pattern {
            node: parser.fixed()?,
            groups: base,
            warnings: Vec::new(),
        });
    }
    let node = parser.alternatives(true)?;
    if parser.at < pattern.len() {
        return Err(RegexError::UnmatchedClose);
    }
    if node.depth() > 2 * MAX_DEPTH {
        return Err(RegexError::TooBig);
    }
    Ok(Pattern {
        node,
        groups: parser.opened,
        warnings: parser.warnings,
    })
}

pub(super) struct Parser<'p, 'm> {
    room: &'p mut Room,
    meter: &'p mut Meter<'m>,
    pub(super) text: &'p [u8],
    pub(super) at: usize,
    extended: bool,
    pub(super) flags: Flags,
    depth: u32,
    base: u32,
    opened: u32,
    /// Groups that a back-reference may name here, as bits: not those of other branches.
    closed: u16,
    pub(super) warnings: Vec<String>,
    /// `.`, `\w`, `\W`, `\s`, `\S` once each: the tables are large.
    sets: [Option<Arc<Set>>; 5],
}

impl Parser<'_, '_> {
    /// Counts one more node or member.
    pub(super) fn one_more(&mut self) -> Result<(), RegexError> {
        let left = self.room.left.checked_sub(1).ok_or(RegexError::TooBig)?;
        self.room.left = left;
        if left.is_multiple_of(STRIDE) {
            self.meter.steps(256)?;
            // A node, and the lists that they are in while those grow.
            self.meter.reserve(256 * 2 * size_of::<Node>())?;
        }
        Ok(())
    }

    /// Counts the ranges of a bracket expression.
    pub(super) fn more_ranges(&mut self, count: usize) -> Result<(), RegexError> {
        let left = self.room.ranges.checked_sub(count);
        self.room.ranges = left.ok_or(RegexError::TooBig)?;
        self.meter.steps(count)?;
        Ok(self.meter.reserve(count * 16)?)
    }

    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Reads a pattern in which nothing is special.
    fn fixed(&mut self) -> Result<Node, RegexError> {
        let mut nodes = Vec::new();
        while self.at < self.text.len() {
            self.one_more()?;
            let len = self.char_len();
            nodes.push(self.literal(self.text.get(self.at..self.at + len).unwrap_or_default()));
            self.at += len;
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    /// Reads branches up to the end or a closing parenthesis.
    fn alternatives(&mut self, outermost: bool) -> Result<Node, RegexError> {
        let mut branches = Vec::new();
        let (before, mut all) = (self.closed, self.closed);
        loop {
            self.closed = before;
            self.one_more()?;
            branches.push(self.branch(outermost)?);
            all |= self.closed;
            match self.peek() {
                (Token::Alt, len) => self.at += len,
                _ => break,
            }
        }
        self.closed = all;
        Ok(match branches.len() {
            1 => branches.pop().unwrap_or(Node::Empty),
            _ => Node::Alt(branches),
        })
    }

    fn branch(&mut self, outermost: bool) -> Result<Node, RegexError> {
        let mut nodes = Vec::new();
        // In a basic pattern a caret is an anchor only where a branch begins, a star is a plain
        // character there and after an anchor.
        let begin = self.at;
        let mut fresh = true;
        loop {
            let (token, len) = self.peek();
            match token {
                Token::End | Token::Alt => break,
                Token::Close if !outermost => break,
                Token::Close => {
                    let literal = self.extended && self.flags.dialect != Dialect::Sed;
                    if !literal {
                        // `regcomp` tells the two apart inside, but not to its callers.
                        return Err(match self.flags.dialect {
                            Dialect::Posix => RegexError::UnmatchedOpen,
                            _ => RegexError::UnmatchedClose,
                        });
                    }
                }
                _ => {}
            }
            let caret = self.extended || self.at == begin;
            let (node, anchor) = self.expression(token, len, fresh, caret)?;
            fresh = anchor;
            match node {
                Node::Empty => {}
                node => nodes.push(node),
            }
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    /// Reads one atom and its repeats; tells whether it was an anchor, which takes no repeat.
    fn expression(
        &mut self,
        token: Token,
        len: usize,
        fresh: bool,
        caret: bool,
    ) -> Result<(Node, bool), RegexError> {
        self.one_more()?;
        let start = self.at;
        self.at += len;
        let atom = match token {
            Token::TrailingBackslash => return Err(RegexError::TrailingBackslash),
            Token::Any => Node::Class(self.any()),
            Token::Bracket => self.bracket()?,
            Token::Open => self.group()?,
            Token::Shorthand(which, negated) => Node::Class(self.shorthand(which, negated)),
            Token::BackRef(index) => {
                if self.closed >> index & 1 == 0 {
                    return Err(RegexError::BackReference);
                }
                Node::BackRef(self.base + index)
            }
            Token::Look(look) => return Ok((Node::Look(look), true)),
            Token::Caret if caret => {
                return Ok((Node::Look(self.line_start()), true));
            }
            Token::Dollar if self.extended || self.dollar_is_anchor() => {
                return Ok((Node::Look(self.line_end()), true));
            }
            Token::Star | Token::Plus | Token::Question | Token::OpenInterval
                if self.begins_with_repeat(token, fresh, start)? =>
            {
                return Ok((Node::Empty, true));
            }
            Token::Escaped => {
                self.warn_stray(start, len);
                self.literal(self.text.get(start + 1..start + len).unwrap_or_default())
            }
            // Whatever is left stands for itself.
            _ => self.literal(self.text.get(start..start + len).unwrap_or_default()),
        };
        Ok((self.repeats(atom)?, false))
    }

    /// Decides about a repeat with nothing before it: an error, ignored, or (false) a plain character.
    fn begins_with_repeat(
        &mut self,
        token: Token,
        fresh: bool,
        start: usize,
    ) -> Result<bool, RegexError> {
        if !fresh {
            return Ok(false);
        }
        let grep = self.flags.dialect == Dialect::Grep;
        if !self.extended {
            // `\{` first is an error in sed (`RE_CONTEXT_INVALID_DUP`).
            return match token {
                Token::OpenInterval if !grep => Err(RegexError::Preceding),
                _ => Ok(false),
            };
        }
        match self.flags.dialect {
            Dialect::Posix | Dialect::Sed => Err(RegexError::Preceding),
            Dialect::Awk => Ok(false),
            Dialect::Grep => {
                if token == Token::OpenInterval {
                    self.at = start;
                    let node = self.repeats(Node::Look(self.start_of_text()))?;
                    // An interval that is none leaves the brace as a character.
                    if self.at == start {
                        self.at = start + 1;
                        return Ok(false);
                    }
                    drop(node);
                    self.warn("{...} at start of expression".to_owned());
                } else {
                    let shown = self.text.get(start).copied().unwrap_or(b'*');
                    self.warn(format!("{} at start of expression", char::from(shown)));
                }
                Ok(true)
            }
        }
    }

    fn warn(&mut self, text: String) {
        if !self.warnings.contains(&text) && self.warnings.len() < 16 {
            self.warnings.push(text);
        }
    }

    /// GNU grep warns about a backslash that does nothing.
    fn warn_stray(&mut self, start: usize, len: usize) {
        if self.flags.dialect != Dialect::Grep {
            return;
        }
        let shown = self.text.get(start + 1..start + len).unwrap_or_default();
        let special: &[u8] = if self.extended {
            b"\\.[]*^$+?(){}|/\n"
        } else {
            b"\\.[]*^$/\n}"
        };
        match shown {
            [one] if special.contains(one) => {}
            [one] if one.is_ascii_graphic() || *one == b' ' || *one >= 128 => {
                let shown = String::from_utf8_lossy(shown).into_owned();
                if shown == " " {
                    self.warn("stray \\ before white space".to_owned());
                } else {
                    self.warn(format!("stray \\ before {shown}"));
                }
            }
            [_] => self.warn("stray \\ before white space".to_owned()),
            _ => {
                let shown = String::from_utf8_lossy(shown).into_owned();
                self.warn(format!("stray \\ before {shown}"));
            }
        }
    }

    fn dollar_is_anchor(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.is_empty() || rest.starts_with(b"\\)") || rest.starts_with(b"\\|")
    }

    fn line_start(&self) -> Look {
        if self.flags.newline || self.flags.lines.is_some() {
            Look::StartLF
        } else {
            Look::Start
        }
    }

    fn line_end(&self) -> Look {
        if self.flags.newline || self.flags.lines.is_some() {
            Look::EndLF
        } else {
            Look::End
        }
    }

    fn group(&mut self) -> Result<Node, RegexError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(RegexError::TooBig);
        }
        self.opened += 1;
        let index = self.opened;
        let node = self.alternatives(false)?;
        match self.peek() {
            (Token::Close, len) => self.at += len,
            _ => return Err(RegexError::UnmatchedOpen),
        }
        self.depth -= 1;
        if index - self.base <= 9 {
            self.closed |= 1 << (index - self.base);
        }
        Ok(Node::Group {
            index,
            node: Box::new(node),
        })
    }

    /// Makes a node for one character.
    pub(super) fn literal(&self, bytes: &[u8]) -> Node {
        if self.flags.ignore_case {
            if let (true, Some((c, _))) = (self.flags.utf8, set::decode(bytes)) {
                let folded = set::of_char(c, true);
                if folded.ranges().len() > 1 || folded.ranges().iter().any(|r| r.len() > 1) {
                    return Node::Class(Arc::new(Set::new(Class::Unicode(folded))));
                }
            } else if let [byte] = bytes
                && byte.is_ascii_alphabetic()
            {
                let (low, up) = (byte.to_ascii_lowercase(), byte.to_ascii_uppercase());
                let class = set::bytes(&[(up, up), (low, low)]);
                return Node::Class(Arc::new(Set::new(Class::Bytes(class))));
            }
        }
        match (self.flags.lines, bytes) {
            // The end of a line is never inside one.
            (Some(end), [byte]) if end == *byte => {
                let nothing = set::bytes(&[]);
                Node::Class(Arc::new(Set::new(Class::Bytes(nothing))))
            }
            _ => Node::Literal(SmallVec::from_slice(bytes)),
        }
    }

    fn any(&mut self) -> Arc<Set> {
        let flags = self.flags;
        self.kept(0, || {
            let mut class = set::any(flags.utf8);
            if flags.newline {
                set::remove(&mut class, b'\n');
            }
            // glibc keeps NUL out of `.` only where RE_DOT_NOT_NULL is set, which nobody does.
            class
        })
    }

    fn shorthand(&mut self, which: Shorthand, negated: bool) -> Arc<Set> {
        let flags = self.flags;
        let slot = match which {
            Shorthand::Word => 1,
            Shorthand::Space => 3,
        };
        self.kept(slot + usize::from(negated), || {
            let mut class = match which {
                Shorthand::Word => set::word(flags.utf8),
                Shorthand::Space => set::space(flags.utf8),
            };
            if negated {
                // Unlike `[^[:alnum:]_]`, `\W` matches a newline even where that is special.
                class.negate();
            }
            class
        })
    }

    fn kept(&mut self, slot: usize, make: impl FnOnce() -> Class) -> Arc<Set> {
        let lines = self.flags.lines;
        let make = || {
            let mut class = make();
            if let Some(end) = lines {
                set::remove(&mut class, end);
            }
            Arc::new(Set::new(class))
        };
        match self.sets.get_mut(slot) {
            Some(kept) => kept.get_or_insert_with(make).clone(),
            None => make(),
        }
    }
}

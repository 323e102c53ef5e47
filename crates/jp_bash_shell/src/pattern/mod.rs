//! Shell patterns: `* ? [..]` and the extended forms, matched without backtracking into the exponential.
//!
//! A pattern comes as text in which quoted characters carry a backslash. Knows no files and no shell.

pub(crate) mod cache;
mod compile;
mod set;
mod simple;
mod spans;

use jp_bash_syntax::ast::Replace;
use jp_bash_system::{Budget, Stop};

use crate::pattern::set::Set;
use crate::pattern::spans::{Bits, Run};

/// What a pattern is compiled for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PatternOptions {
    /// `?(…)` and the like count.
    pub(crate) extglob: bool,
    /// Letters match in either case.
    pub(crate) fold: bool,
    /// Characters are UTF-8, else bytes.
    pub(crate) utf8: bool,
}

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Char(u32),
    /// `?`
    Any,
    /// `*`
    Star,
    Set(Box<Set>),
    /// `?( *( +( @( !(` with its alternatives.
    Ext(u8, Vec<Vec<Node>>),
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    nodes: Vec<Node>,
    /// The text it matches, when it can match only that.
    literal: Option<Vec<u8>>,
    /// The text before or behind a star, where the pattern is nothing but these two.
    beside_star: Option<Vec<u8>>,
    extended: bool,
    options: PatternOptions,
}

/// Matches found, counted while they are collected: one character each they take more memory than the text.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) spans: Vec<(usize, usize)>,
    reserved: u64,
}

/// From so many bytes on, what compiling a pattern or taking a text apart costs is asked for first.
const LONG: usize = 4096;

/// How many matches are counted at once.
const COUNTED: usize = 1024;

impl Matches {
    fn push(&mut self, budget: &Budget, start: usize, end: usize) -> Result<(), Stop> {
        if self.spans.len().is_multiple_of(COUNTED) && !self.spans.is_empty() {
            // A vector that grows holds its old half too for a moment.
            budget.reserve(COUNTED as u64 * 32)?;
            self.reserved += COUNTED as u64 * 32;
            budget.work(16)?;
        }
        self.spans.push((start, end));
        Ok(())
    }

    /// Gives back what collecting them reserved.
    pub(crate) fn settle(&mut self, budget: &Budget) {
        budget.release(std::mem::take(&mut self.reserved));
    }
}

/// Which of several matches counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Shortest,
    Longest,
}

/// Characters of a subject: bytes, or code points where it is UTF-8 and not ASCII.
pub(crate) trait Chars {
    fn len(&self) -> usize;
    fn at(&self, index: usize) -> Option<u32>;
}

impl Chars for &[u8] {
    #[inline]
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }
    #[inline]
    fn at(&self, index: usize) -> Option<u32> {
        self.get(index).map(|byte| u32::from(*byte))
    }
}

impl Chars for &[u32] {
    #[inline]
    fn len(&self) -> usize {
        <[u32]>::len(self)
    }
    #[inline]
    fn at(&self, index: usize) -> Option<u32> {
        self.get(index).copied()
    }
}

/// A byte that is not part of valid UTF-8 is a character of its own, beyond all code points.
const INVALID: u32 = 0x0011_0000;

/// Splits text into characters, with the byte offset of each and of the end.
pub(crate) fn decode(text: &[u8]) -> (Vec<u32>, Vec<usize>) {
    let mut chars = Vec::with_capacity(text.len());
    let mut offsets = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            chars.push(u32::from(c));
            offsets.push(at);
            at += c.len_utf8();
        }
        for byte in chunk.invalid() {
            chars.push(INVALID + u32::from(*byte));
            offsets.push(at);
            at += 1;
        }
    }
    offsets.push(at);
    (chars, offsets)
}

impl Pattern {
    /// Compiles a pattern that may be long: what that takes is asked for first.
    pub(crate) fn counted(
        text: &[u8],
        options: PatternOptions,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        if text.len() > LONG {
            let each = match compile::is_plain(text, options) {
                true => 2,
                false => size_of::<Node>() * 2 + 24,
            };
            budget.room(text.len().saturating_mul(each))?;
        }
        Ok(Self::new(text, options))
    }

    /// Compiles a pattern.
    pub(crate) fn new(text: &[u8], options: PatternOptions) -> Self {
        compile::compile(text, options)
    }

    /// Returns the only text it matches, if it has no special characters.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        self.literal.as_deref().filter(|_| !self.options.fold)
    }

    /// Returns its text if it has no special characters, whatever the case of letters counts for.
    pub(crate) fn plain_text(&self) -> Option<&[u8]> {
        self.literal.as_deref()
    }

    /// Returns the first character of the text if nothing else can stand there.
    pub(crate) fn starts_with(&self, c: u8) -> bool {
        if let Some(literal) = &self.literal {
            return literal.first() == Some(&c);
        }
        match self.nodes.first() {
            Some(Node::Char(first)) => *first == u32::from(c),
            Some(Node::Ext(kind, alternatives)) if *kind != b'!' => alternatives
                .iter()
                .any(|nodes| nodes.first() == Some(&Node::Char(u32::from(c)))),
            _ => false,
        }
    }

    /// Tells whether the whole text matches.
    pub(crate) fn matches(&self, text: &[u8], budget: &Budget) -> Result<bool, Stop> {
        if let Some(literal) = self.literal() {
            budget.work_bytes(usize::min(text.len(), literal.len()) / 8)?;
            return Ok(literal == text);
        }
        self.on(text, budget, |chars, _| match chars {
            Subject::Bytes(bytes) => self.full(&bytes, budget),
            Subject::Points(points) => self.full(&points, budget),
        })
    }

    fn full<C: Chars>(&self, chars: &C, budget: &Budget) -> Result<bool, Stop> {
        if !self.extended {
            budget.work(u32::try_from(chars.len() / 1024).unwrap_or(u32::MAX))?;
            return Ok(simple::matches(&self.nodes, chars, self.options.fold));
        }
        let ends = self.run(chars, budget).from(&self.nodes, 0)?;
        Ok(ends.has(chars.len()))
    }

    fn run<'c, C: Chars>(&self, chars: &'c C, budget: &'c Budget) -> Run<'c, C> {
        Run {
            chars,
            fold: self.options.fold,
            budget,
        }
    }

    /// Hands the text over as bytes where a byte is a character, else as code points.
    fn on<T>(
        &self,
        text: &[u8],
        budget: &Budget,
        work: impl FnOnce(Subject<'_>, Option<&[usize]>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if !self.options.utf8 || text.is_ascii() {
            work(Subject::Bytes(text), None)
        } else {
            if text.len() > LONG {
                budget.room(text.len().saturating_mul(size_of::<(u32, usize)>()))?;
            }
            let (chars, offsets) = decode(text);
            work(Subject::Points(&chars), Some(&offsets))
        }
    }

    /// Returns how many bytes at the start of the text match.
    pub(crate) fn prefix(
        &self,
        text: &[u8],
        length: Length,
        budget: &Budget,
    ) -> Result<Option<usize>, Stop> {
        if let Some(literal) = self.literal() {
            return Ok(text.starts_with(literal).then_some(literal.len()));
        }
        if let Some(found) = self.star_then_text(text, length) {
            return Ok(found);
        }
        self.on(text, budget, |chars, offsets| {
            let ends = match chars {
                Subject::Bytes(bytes) => self.run(&bytes, budget).from(&self.nodes, 0)?,
                Subject::Points(points) => self.run(&points, budget).from(&self.nodes, 0)?,
            };
            Ok(pick(&ends, length).map(|at| offset(offsets, at)))
        })
    }

    /// Returns where the matching end of the text starts.
    pub(crate) fn suffix(
        &self,
        text: &[u8],
        length: Length,
        budget: &Budget,
    ) -> Result<Option<usize>, Stop> {
        if let Some(literal) = self.literal() {
            return Ok(text.ends_with(literal).then(|| text.len() - literal.len()));
        }
        if let Some(found) = self.text_then_star(text, length) {
            return Ok(found);
        }
        let nodes = reversed(&self.nodes);
        self.on(text, budget, |chars, offsets| {
            let (ends, len) = match chars {
                Subject::Bytes(bytes) => {
                    let back: Vec<u8> = bytes.iter().rev().copied().collect();
                    (self.run(&&*back, budget).from(&nodes, 0)?, back.len())
                }
                Subject::Points(points) => {
                    let back: Vec<u32> = points.iter().rev().copied().collect();
                    (self.run(&&*back, budget).from(&nodes, 0)?, back.len())
                }
            };
            Ok(pick(&ends, length).map(|at| offset(offsets, len - at)))
        })
    }

    /// `${x##*/}`: a star and plain text need no table of positions.
    fn star_then_text(&self, text: &[u8], length: Length) -> Option<Option<usize>> {
        let literal = self.beside_star.as_ref()?;
        if self.nodes.first() != Some(&Node::Star) {
            return None;
        }
        let found = match length {
            Length::Shortest => first(text, literal),
            Length::Longest => last(text, literal),
        };
        Some(found.map(|at| at + literal.len()))
    }

    /// `${x%.*}`
    fn text_then_star(&self, text: &[u8], length: Length) -> Option<Option<usize>> {
        let literal = self.beside_star.as_ref()?;
        if self.nodes.last() != Some(&Node::Star) {
            return None;
        }
        Some(match length {
            Length::Shortest => last(text, literal),
            Length::Longest => first(text, literal),
        })
    }

    /// Returns the matches that `${x/…}` replaces, each the longest from its start, in order.
    pub(crate) fn find(&self, text: &[u8], how: Replace, budget: &Budget) -> Result<Matches, Stop> {
        let mut found = Matches::default();
        match how {
            Replace::Start => {
                if let Some(end) = self.prefix(text, Length::Longest, budget)? {
                    found.push(budget, 0, end)?;
                }
            }
            Replace::End => {
                if let Some(start) = self.suffix(text, Length::Longest, budget)? {
                    found.push(budget, start, text.len())?;
                }
            }
            Replace::First | Replace::All => {
                if let Some(literal) = self.literal() {
                    find_literal(literal, text, how, budget, &mut found)?;
                    return Ok(found);
                }
                let back = reversed(&self.nodes);
                self.on(text, budget, |chars, offsets| {
                    match chars {
                        Subject::Bytes(bytes) => {
                            self.find_in(&back, bytes, how, budget, &mut found)
                        }
                        Subject::Points(points) => {
                            self.find_in(&back, points, how, budget, &mut found)
                        }
                    }?;
                    for (start, end) in &mut found.spans {
                        *start = offset(offsets, *start);
                        *end = offset(offsets, *end);
                    }
                    Ok::<(), Stop>(())
                })?;
            }
        }
        Ok(found)
    }

    fn find_in<T: Copy>(
        &self,
        back: &[Node],
        chars: &[T],
        how: Replace,
        budget: &Budget,
        found: &mut Matches,
    ) -> Result<(), Stop>
    where
        for<'c> &'c [T]: Chars,
    {
        if let Some(width) = simple::width(&self.nodes) {
            let mut at = 0;
            while at + width <= chars.len() {
                if at % 1024 == 0 {
                    budget.work(1)?;
                }
                let window = chars.get(at..at + width).unwrap_or_default();
                if width > 0 && simple::matches(&self.nodes, &window, self.options.fold) {
                    found.push(budget, at, at + width)?;
                    if how == Replace::First {
                        break;
                    }
                    at += width;
                } else {
                    at += 1;
                }
            }
            return Ok(());
        }
        // One pass backwards from every position finds all starts that have a match at all.
        let reverse: Vec<T> = chars.iter().rev().copied().collect();
        let starts = self
            .run(&&*reverse, budget)
            .through(back, &Bits::full(chars.len()))?;
        let mut at = 0;
        while at <= chars.len() && !(at == chars.len() && at > 0) {
            if !starts.has(chars.len() - at) {
                at += 1;
                continue;
            }
            let rest = chars.get(at..).unwrap_or_default();
            budget.work(1 + u32::try_from(rest.len() / 1024).unwrap_or(u32::MAX))?;
            let ends = self.run(&rest, budget).from(&self.nodes, 0)?;
            match ends.last() {
                Some(len) => {
                    found.push(budget, at, at + len)?;
                    if how == Replace::First {
                        break;
                    }
                    at += usize::max(len, 1);
                }
                None => at += 1,
            }
        }
        Ok(())
    }
}

enum Subject<'a> {
    Bytes(&'a [u8]),
    Points(&'a [u32]),
}

fn offset(offsets: Option<&[usize]>, at: usize) -> usize {
    match offsets {
        Some(offsets) => offsets.get(at).copied().unwrap_or(at),
        None => at,
    }
}

fn pick(ends: &Bits, length: Length) -> Option<usize> {
    match length {
        Length::Shortest => ends.first(),
        Length::Longest => ends.last(),
    }
}

fn find_literal(
    literal: &[u8],
    text: &[u8],
    how: Replace,
    budget: &Budget,
    found: &mut Matches,
) -> Result<(), Stop> {
    if literal.is_empty() {
        return Ok(());
    }
    if how == Replace::First {
        return match first(text, literal) {
            Some(at) => found.push(budget, at, at + literal.len()),
            None => Ok(()),
        };
    }
    for at in memchr::memmem::find_iter(text, literal) {
        found.push(budget, at, at + literal.len())?;
    }
    Ok(())
}

fn first(text: &[u8], literal: &[u8]) -> Option<usize> {
    match literal {
        [byte] => memchr::memchr(*byte, text),
        _ => memchr::memmem::find(text, literal),
    }
}

fn last(text: &[u8], literal: &[u8]) -> Option<usize> {
    match literal {
        [byte] => memchr::memrchr(*byte, text),
        _ => memchr::memmem::rfind(text, literal),
    }
}

/// Returns the pattern that matches the reversed text.
fn reversed(nodes: &[Node]) -> Vec<Node> {
    nodes
        .iter()
        .rev()
        .map(|node| match node {
            Node::Ext(kind, alternatives) => Node::Ext(
                *kind,
                alternatives.iter().map(|alt| reversed(alt)).collect(),
            ),
            other => other.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests;

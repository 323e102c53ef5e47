//! Regular expressions as POSIX and GNU tools mean them: leftmost-longest, bytes or UTF-8, bounded work.
//!
//! One engine for grep, sed, awk, find, `expr` and `[[ =~ ]]`. Nothing a pattern or text says makes it
//! panic, overflow the stack, take more than linear time (back-references: more than a bounded number of
//! steps) or more memory than its cap.

mod automaton;
mod backtrack;
mod bracket;
mod cache;
mod error;
mod hir;
mod node;
mod parse;
mod perl;
mod program;
mod required;
mod set;
mod sieve;
mod simulate;
#[cfg(test)]
mod tests;

pub(crate) use cache::RegexCache;
pub(crate) use error::{MatchError, RegexError};
pub(crate) use set::decode;

use memchr::memmem::Finder;
use regex_automata::util::look::Look;

use automaton::Automaton;
use node::Node;
use perl::Perl;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Flavor {
    /// `grep`, `sed`.
    Basic,
    /// `grep -E`, `sed -E`, awk, `[[ =~ ]]`.
    Extended,
    /// `grep -P`: leftmost-first, not longest.
    Perl,
    /// `grep -F`.
    Fixed,
}

/// Where tools differ about patterns that POSIX leaves undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Dialect {
    /// glibc's `regcomp`: `[[ =~ ]]`, find, expr.
    #[default]
    Posix,
    /// An unmatched `)` is an error.
    Sed,
    /// Bad intervals are text, leading repeats are ignored with a warning.
    Grep,
    /// Bad intervals and leading repeats are text; a backslash escapes inside brackets.
    Awk,
}

/// What part of a line a match must be (`grep -w`, `grep -x`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Whole {
    #[default]
    Any,
    Word,
    Line,
}

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    /// Characters are UTF-8 (invalid bytes match nothing but themselves), else bytes.
    pub(crate) utf8: bool,
    /// `REG_NEWLINE`: `^` and `$` match at lines too, `.` and `[^x]` do not match a newline.
    pub(crate) newline: bool,
    pub(crate) dialect: Dialect,
    /// Texts hold many lines ending in this byte: anchors match at each, and no match crosses it.
    pub(crate) lines: Option<u8>,
    pub(crate) whole: Whole,
}

/// A compiled pattern. Usable from one thread at a time: searches reuse buffers inside.
pub(crate) struct Regex {
    engine: Engine,
    groups: usize,
    warnings: Vec<String>,
}

enum Engine {
    Literal(Box<Finder<'static>>),
    Automaton(Box<Automaton>),
    Perl(Box<Perl>),
}

impl Regex {
    /// Compiles a pattern. The error's text is GNU's.
    pub(crate) fn new(pattern: &[u8], flavor: Flavor, flags: Flags) -> Result<Self, RegexError> {
        Self::any_of(&[pattern], flavor, flags)
    }

    /// Compiles several patterns into one that matches what any of them matches.
    /// Back-references count the groups of their own pattern.
    pub(crate) fn any_of(
        patterns: &[&[u8]],
        flavor: Flavor,
        flags: Flags,
    ) -> Result<Self, RegexError> {
        if flavor == Flavor::Perl {
            return Self::perl(patterns, flags);
        }
        let mut warnings = Vec::new();
        let mut groups = 0;
        let mut nodes = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            let parsed = parse::parse(pattern, flavor, flags, groups)?;
            groups = parsed.groups;
            warnings.extend(parsed.warnings);
            nodes.push(parsed.node);
        }
        let node = join(nodes, flags);
        let engine = match node.literal() {
            Some(text) if !text.is_empty() => {
                Engine::Literal(Box::new(Finder::new(&text).into_owned()))
            }
            _ => Engine::Automaton(Box::new(Automaton::new(node, groups as usize, flags)?)),
        };
        Ok(Self {
            engine,
            groups: groups as usize,
            warnings,
        })
    }

    fn perl(patterns: &[&[u8]], flags: Flags) -> Result<Self, RegexError> {
        let [pattern] = patterns else {
            return Err(RegexError::Perl(
                "the -P option only supports a single pattern".to_owned(),
            ));
        };
        let wrapped = match flags.whole {
            Whole::Any => pattern.to_vec(),
            Whole::Word => [b"(?<!\\w)(?:", *pattern, b")(?!\\w)"].concat(),
            Whole::Line => [b"^(?:", *pattern, b")$"].concat(),
        };
        let perl = Perl::new(&wrapped, flags)?;
        Ok(Self {
            groups: perl.groups(),
            engine: Engine::Perl(Box::new(perl)),
            warnings: Vec::new(),
        })
    }

    /// Returns how many groups the pattern has, without the whole match.
    pub(crate) fn group_count(&self) -> usize {
        self.groups
    }

    /// Returns what GNU grep would warn about.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns what finds the text that the pattern is, if it is just a text.
    pub(crate) fn literal(&self) -> Option<&Finder<'static>> {
        match &self.engine {
            Engine::Literal(finder) => Some(finder),
            _ => None,
        }
    }

    /// Tells whether the pattern matches at or after `start`. What is before `start` is context for anchors.
    pub(crate) fn is_match_at(&self, text: &[u8], start: usize) -> Result<bool, MatchError> {
        if start > text.len() {
            return Ok(false);
        }
        match &self.engine {
            Engine::Automaton(automaton) => automaton.is_match(text, start),
            _ => Ok(self.find_at(text, start)?.is_some()),
        }
    }

    /// Finds a position in the first line that matches, for patterns compiled with [`Flags::lines`]:
    /// cheaper than a match, as neither its start nor its longest end is needed.
    pub(crate) fn line_at(
        &self,
        text: &[u8],
        start: usize,
        eol: u8,
    ) -> Result<Option<usize>, MatchError> {
        match &self.engine {
            Engine::Automaton(automaton) => automaton.line(text, start, eol),
            _ => Ok(self.find_at(text, start)?.map(|(from, _)| from)),
        }
    }

    /// Finds the leftmost match at or after `start`, the longest there.
    pub(crate) fn find_at(
        &self,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let Some(rest) = text.get(start..) else {
            return Ok(None);
        };
        match &self.engine {
            Engine::Literal(finder) => Ok(finder
                .find(rest)
                .map(|at| (start + at, start + at + finder.needle().len()))),
            Engine::Automaton(automaton) => automaton.find(text, start),
            Engine::Perl(perl) => perl.find(text, start),
        }
    }

    /// Finds a match and its groups: index 0 is the whole match.
    pub(crate) fn captures_at(
        &self,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
    ) -> Result<bool, MatchError> {
        groups.clear();
        if start > text.len() {
            return Ok(false);
        }
        match &self.engine {
            Engine::Literal(_) => {
                let Some(found) = self.find_at(text, start)? else {
                    return Ok(false);
                };
                groups.push(Some(found));
                groups.resize(self.groups + 1, None);
                Ok(true)
            }
            Engine::Automaton(automaton) => automaton.captures(text, start, groups),
            Engine::Perl(perl) => perl.captures(text, start, groups),
        }
    }
}

/// Joins patterns into alternatives, and puts the borders of a word or line around them.
fn join(mut nodes: Vec<Node>, flags: Flags) -> Node {
    if nodes.len() > 1 && nodes.iter().all(|node| node.literal().is_some()) {
        // With the longer texts first, the first match by preference is the longest.
        nodes.sort_by_key(|node| std::cmp::Reverse(node.literal().map_or(0, |text| text.len())));
    }
    let node = match nodes.len() {
        1 => nodes.pop().unwrap_or(Node::Empty),
        _ => Node::Alt(nodes),
    };
    let (before, after) = match (flags.whole, flags.utf8) {
        (Whole::Any, _) => return node,
        (Whole::Word, true) => (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode),
        (Whole::Word, false) => (Look::WordStartHalfAscii, Look::WordEndHalfAscii),
        (Whole::Line, _) if flags.lines.is_some() || flags.newline => (Look::StartLF, Look::EndLF),
        (Whole::Line, _) => (Look::Start, Look::End),
    };
    Node::Concat(vec![Node::Look(before), node, Node::Look(after)])
}

//! Regular expressions as POSIX and GNU tools mean them: leftmost-longest, bytes or UTF-8, bounded work.
//!
//! One engine for grep, sed, awk, find, `expr` and `[[ =~ ]]`. Nothing a pattern or text says makes it
//! panic, overflow the stack, take more than linear time (back-references: more than a bounded number of
//! steps) or more memory than its cap; and whatever takes long asks the run on the way (see [`Asks`]).

mod automaton;
mod backtrack;
mod bracket;
mod cache;
mod error;
mod hir;
mod literal;
mod meter;
mod node;
mod parse;
mod perl;
mod program;
mod required;
mod set;
mod sieve;
mod simulate;
mod stream;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_limits;

pub use cache::RegexCache;
pub use error::{MatchError, RegexError};
pub use literal::Literal;
pub use meter::{Asks, WINDOW};
pub use set::decode;

use jp_bash_system::Stop;
use regex_automata::util::look::Look;

use automaton::Automaton;
use meter::{Meter, Tally};
use node::Node;
use simulate::Prefer;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavor {
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
pub enum Dialect {
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
pub enum Whole {
    /// Any part.
    #[default]
    Any,
    /// Whole words.
    Word,
    /// The whole line.
    Line,
}

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// Characters are UTF-8 (invalid bytes match nothing but themselves), else bytes.
    pub utf8: bool,
    /// `REG_NEWLINE`: `^` and `$` match at lines too, `.` and `[^x]` do not match a newline.
    pub newline: bool,
    /// What undefined patterns mean.
    pub dialect: Dialect,
    /// Texts hold many lines ending in this byte: anchors match at each, and no match crosses it.
    pub lines: Option<u8>,
    /// What part of a line a match must be.
    pub whole: Whole,
}

/// A compiled pattern. Usable from one thread at a time: searches reuse buffers inside.
pub struct Regex {
    engine: Engine,
    groups: usize,
    /// The names of the groups from 1 on, for Perl patterns.
    names: Vec<Option<String>>,
    warnings: Vec<String>,
    tally: Tally,
}

enum Engine {
    Literal(Box<Literal>),
    Automaton(Box<Automaton>),
}

/// What is made of patterns, before what is asked on the way is put beside it.
struct Made {
    engine: Engine,
    groups: usize,
    names: Vec<Option<String>>,
    warnings: Vec<String>,
}

impl Regex {
    /// Compiles a pattern. The error's text is GNU's.
    pub fn new<A: Asks + ?Sized>(
        asks: &mut A,
        pattern: &[u8],
        flavor: Flavor,
        flags: Flags,
    ) -> Result<Result<Self, RegexError>, Stop> {
        Self::any_of(asks, &[pattern], flavor, flags)
    }

    /// Compiles several patterns into one that matches what any of them matches.
    /// Back-references count the groups of their own pattern.
    pub fn any_of<A: Asks + ?Sized>(
        mut asks: &mut A,
        patterns: &[&[u8]],
        flavor: Flavor,
        flags: Flags,
    ) -> Result<Result<Self, RegexError>, Stop> {
        let tally = Tally::default();
        let mut meter = Meter::new(&mut asks, &tally);
        let made = match flavor {
            Flavor::Perl => perl(patterns, flags, &mut meter),
            _ => posix(patterns, flavor, flags, &mut meter),
        };
        match made {
            Ok(made) => Ok(Ok(Self {
                engine: made.engine,
                groups: made.groups,
                names: made.names,
                warnings: made.warnings,
                tally,
            })),
            Err(error) => {
                meter.release_to(0);
                match error {
                    RegexError::Stop(stop) => Err(stop),
                    error => Ok(Err(error)),
                }
            }
        }
    }

    #[cfg(test)]
    fn treated_as_long(mut self, simulated: bool) -> Self {
        if let Engine::Automaton(automaton) = &mut self.engine {
            automaton.treat_as_long(simulated);
        }
        self
    }

    /// Returns how many groups the pattern has, without the whole match.
    pub fn group_count(&self) -> usize {
        self.groups
    }

    /// Returns the names of the groups from 1 on, as far as they have any.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// Returns what GNU grep would warn about.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns what finds the text that the pattern is, if it is just a text.
    pub fn literal(&self) -> Option<&Literal> {
        match &self.engine {
            Engine::Literal(literal) => Some(literal),
            Engine::Automaton(_) => None,
        }
    }

    /// Returns about how many bytes the pattern holds.
    pub fn size(&self) -> u64 {
        self.tally.size()
    }

    /// Tells whether the pattern has reserved anything that was not given back.
    pub(crate) fn owes(&self) -> bool {
        self.tally.owes()
    }

    /// Gives back what the pattern has reserved: it is dropped, or kept by someone who bounds it.
    pub fn settle<A: Asks + ?Sized>(&self, asks: &mut A) {
        self.tally.settle(asks);
    }

    /// Tells whether the pattern matches at or after `start`. What is before `start` is context for anchors.
    #[inline]
    pub fn is_match_at<A: Asks + ?Sized>(
        &self,
        asks: &mut A,
        text: &[u8],
        start: usize,
    ) -> Result<bool, MatchError> {
        if let Engine::Literal(literal) = &self.engine
            && let Some(found) = literal.find_in_little(text, start)
        {
            return Ok(found.is_some());
        }
        self.is_match_in_much(asks, text, start)
    }

    #[inline(never)]
    fn is_match_in_much<A: Asks + ?Sized>(
        &self,
        mut asks: &mut A,
        text: &[u8],
        start: usize,
    ) -> Result<bool, MatchError> {
        if start > text.len() {
            return Ok(false);
        }
        let mut meter = Meter::new(&mut asks, &self.tally);
        match &self.engine {
            Engine::Automaton(automaton) => automaton.is_match(text, start, &mut meter),
            Engine::Literal(literal) => Ok(literal.find(text, start, &mut meter)?.is_some()),
        }
    }

    /// Finds a position in the first line that matches, for patterns compiled with [`Flags::lines`]:
    /// cheaper than a match, as neither its start nor its longest end is needed.
    #[inline]
    pub fn line_at<A: Asks + ?Sized>(
        &self,
        asks: &mut A,
        text: &[u8],
        start: usize,
        eol: u8,
    ) -> Result<Option<usize>, MatchError> {
        let from = match &self.engine {
            Engine::Literal(literal) => match literal.find_at_once(text, start) {
                Some(found) => {
                    self.tally.bytes(asks, literal.passed(found, text, start))?;
                    return Ok(found);
                }
                None => start,
            },
            Engine::Automaton(automaton) => match automaton.line_at_hand(text, start, eol) {
                Ok(found) => {
                    let passed = found.unwrap_or(text.len()).saturating_sub(start);
                    self.tally.bytes(asks, passed)?;
                    return Ok(found);
                }
                Err(from) => {
                    self.tally.bytes(asks, from - start)?;
                    from
                }
            },
        };
        self.line_in_much(asks, text, from, eol)
    }

    #[inline(never)]
    fn line_in_much<A: Asks + ?Sized>(
        &self,
        mut asks: &mut A,
        text: &[u8],
        start: usize,
        eol: u8,
    ) -> Result<Option<usize>, MatchError> {
        if start > text.len() {
            return Ok(None);
        }
        let mut meter = Meter::new(&mut asks, &self.tally);
        match &self.engine {
            Engine::Automaton(automaton) => automaton.line(text, start, eol, &mut meter),
            Engine::Literal(literal) => literal.find(text, start, &mut meter),
        }
    }

    /// Finds the leftmost match at or after `start`, the longest there.
    #[inline]
    pub fn find_at<A: Asks + ?Sized>(
        &self,
        asks: &mut A,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        if let Engine::Literal(literal) = &self.engine
            && let Some(found) = literal.find_in_little(text, start)
        {
            return Ok(found.map(|at| (at, at + literal.len())));
        }
        self.find_in_much(asks, text, start)
    }

    #[inline(never)]
    fn find_in_much<A: Asks + ?Sized>(
        &self,
        mut asks: &mut A,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        if start > text.len() {
            return Ok(None);
        }
        let mut meter = Meter::new(&mut asks, &self.tally);
        match &self.engine {
            Engine::Literal(literal) => Ok(literal
                .find(text, start, &mut meter)?
                .map(|at| (at, at + literal.len()))),
            Engine::Automaton(automaton) => automaton.find(text, start, &mut meter),
        }
    }

    /// Finds a match and its groups: index 0 is the whole match.
    pub fn captures_at<A: Asks + ?Sized>(
        &self,
        mut asks: &mut A,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
    ) -> Result<bool, MatchError> {
        groups.clear();
        if start > text.len() {
            return Ok(false);
        }
        let mut meter = Meter::new(&mut asks, &self.tally);
        match &self.engine {
            Engine::Literal(literal) => {
                let Some(at) = literal.find(text, start, &mut meter)? else {
                    return Ok(false);
                };
                groups.push(Some((at, at + literal.len())));
                groups.resize(self.groups + 1, None);
                Ok(true)
            }
            Engine::Automaton(automaton) => automaton.captures(text, start, groups, &mut meter),
        }
    }
}

fn posix(
    patterns: &[&[u8]],
    flavor: Flavor,
    flags: Flags,
    meter: &mut Meter<'_>,
) -> Result<Made, RegexError> {
    if let [pattern] = patterns
        && is_plain(pattern, flavor, flags)
    {
        return Ok(Made::literal(pattern, 0, meter)?);
    }
    let mut warnings = Vec::new();
    let mut groups = 0;
    let mut nodes = Vec::new();
    let mut room = parse::Room::default();
    for pattern in patterns {
        meter.steps(1)?;
        let parsed = parse::parse(pattern, flavor, flags, groups, &mut room, meter)?;
        groups = parsed.groups;
        warnings.extend(parsed.warnings);
        meter::push(&mut nodes, parsed.node, meter)?;
    }
    let node = join(nodes, flags);
    let groups = groups as usize;
    let mut made = match node.literal() {
        Some(text) if !text.is_empty() => Made::literal(&text, groups, meter)?,
        _ => Made {
            engine: Engine::Automaton(Box::new(Automaton::new(
                node,
                groups,
                flags,
                Prefer::Longest,
                meter,
            )?)),
            groups,
            names: Vec::new(),
            warnings: Vec::new(),
        },
    };
    made.warnings = warnings;
    Ok(made)
}

impl Made {
    fn literal(text: &[u8], groups: usize, meter: &mut Meter<'_>) -> Result<Self, Stop> {
        meter.reserve(text.len())?;
        Ok(Self {
            engine: Engine::Literal(Box::new(Literal::new(text))),
            groups,
            names: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Tells at a glance that a pattern is just a text, so that nothing needs to be made of it.
fn is_plain(pattern: &[u8], flavor: Flavor, flags: Flags) -> bool {
    let special = |byte: &u8| match flavor {
        Flavor::Fixed => false,
        Flavor::Basic => b"\\[.*^$".contains(byte),
        _ => b"\\[.*^$(){}|+?".contains(byte),
    };
    !pattern.is_empty()
        && !flags.ignore_case
        && flags.whole == Whole::Any
        && !pattern
            .iter()
            .any(|byte| special(byte) || flags.lines == Some(*byte))
}

fn perl(patterns: &[&[u8]], flags: Flags, meter: &mut Meter<'_>) -> Result<Made, RegexError> {
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
    let read = perl::read(&wrapped, flags, meter)?;
    let groups = read.names.len();
    let automaton = Automaton::new(read.node, groups, flags, Prefer::First, meter)?;
    Ok(Made {
        engine: Engine::Automaton(Box::new(automaton)),
        groups,
        names: read.names,
        warnings: Vec::new(),
    })
}

/// Joins patterns into alternatives, and puts the borders of a word or line around them.
fn join(mut nodes: Vec<Node>, flags: Flags) -> Node {
    if nodes.len() > 1 && nodes.iter().all(|node| node.literal().is_some()) {
        // With the longer texts first, the first match by preference is the longest.
        nodes.sort_by_cached_key(|node| {
            std::cmp::Reverse(node.literal().map_or(0, |text| text.len()))
        });
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

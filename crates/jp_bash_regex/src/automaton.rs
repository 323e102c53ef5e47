//! Finds matches with the automata of `regex-automata`, in pieces that are announced.
//!
//! Short texts go to its meta engine, with all its literal searches; long ones to lazy DFAs that are driven
//! step by step ([`super::stream`]), or where those give up to [`super::simulate`]. A DFA that follows all
//! paths finds the longest end. Groups, and what no automaton can decide, come from [`super::backtrack`].

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use memchr::{memchr, memrchr};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::look::LookMatcher;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, meta};
use regex_syntax::hir::Hir;

use super::Flags;
use super::backtrack::{Goal, MAX_STEPS, Matcher, Scratch};
use super::error::{MatchError, RegexError};
use super::hir::translate;
use super::meter::{Meter, WINDOW};
use super::node::Node;
use super::program::{Program, compile};
use super::sieve::Sieve;
use super::simulate::Prefer;
use super::stream::{DFA_CACHE, Failed, Source, Stream};

/// The largest automaton, in bytes.
const MAX_AUTOMATON: usize = 16 << 20;
/// The most nodes once intervals are written out.
pub(super) const MAX_SIZE: u64 = 150_000;
/// The most ranges of characters in all classes, written out.
const MAX_RANGES: u64 = 1_000_000;
/// The longest text whose rest is looked at for each match: a search may see all of it.
const SHORT: usize = 4 << 10;
/// The most steps that the meta engine may need for a text in the worst case, as text times automaton.
const MOST_AT_ONCE: usize = 1 << 24;
/// How far a match is looked for by trying it out, where the last one was right there.
const QUICK_STEPS: u64 = 512;
/// So few places of a program and a text are remembered from the start; else only after so many steps.
const FEW_PLACES: usize = 1 << 14;
const FEW_STEPS: u64 = 50_000;
/// How often it is looked at what the meta engine holds.
const COUNT_EVERY: u32 = 64;

/// A compiled pattern that is not just a text.
pub(super) struct Automaton {
    node: Node,
    hir: Hir,
    groups: usize,
    flags: Flags,
    prefer: Prefer,
    /// Candidates are decided about by trying paths.
    hard: bool,
    first_is_longest: bool,
    looks: LookMatcher,
    meta: meta::Regex,
    cache: RefCell<Option<Box<meta::Cache>>>,
    stream: Stream,
    program: OnceCell<Option<Box<Program>>>,
    scratch: RefCell<Box<Scratch>>,
    sieve: Sieve,
    /// What the meta engine holds of the pattern alone; asking it each time costs more than a short search.
    weight: usize,
    /// The longest text for the meta engine, and for a DFA in one go.
    window: usize,
    short: usize,
    /// The DFAs are left out.
    simulated: bool,
    searches: Cell<u32>,
    counted: Cell<usize>,
    /// The last match began where it was looked for.
    adjacent: Cell<bool>,
}

impl Automaton {
    /// Compiles a tree. What that takes is counted first, and what it holds is counted then.
    pub(super) fn new(
        node: Node,
        groups: usize,
        flags: Flags,
        prefer: Prefer,
        meter: &mut Meter<'_>,
    ) -> Result<Self, RegexError> {
        let (size, ranges) = (node.size(), node.ranges());
        if size > MAX_SIZE || ranges > MAX_RANGES {
            return Err(RegexError::TooBig);
        }
        let (size, ranges) = (
            usize::try_from(size).unwrap_or(usize::MAX),
            usize::try_from(ranges).unwrap_or(usize::MAX),
        );
        let before = meter.held();
        meter.reserve(usize::min(size * 256 + ranges * 128, 4 * MAX_AUTOMATON))?;
        for _ in 0..(size + ranges) / 1024 {
            meter.steps(1024)?;
        }
        let hir = translate(&node, flags.lines);
        let config = meta::Config::new()
            .which_captures(WhichCaptures::Implicit)
            .utf8_empty(false)
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .hybrid_cache_capacity(DFA_CACHE)
            .line_terminator(flags.lines.unwrap_or(b'\n'));
        let meta = meta::Builder::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| RegexError::TooBig)?;
        meter.release_to(before);
        let weight = meta.memory_usage();
        meter.reserve(weight + size * 64 + ranges * 16)?;
        let mut looks = LookMatcher::new();
        looks.set_line_terminator(flags.lines.unwrap_or(b'\n'));
        let hard = node.is_hard();
        Ok(Self {
            first_is_longest: prefer == Prefer::First
                || !hard && (node.greedy_is_longest() || ordered_literals(&node)),
            hard,
            node,
            hir,
            groups,
            flags,
            prefer,
            looks,
            weight,
            window: usize::min(WINDOW, MOST_AT_ONCE / (1 + weight / 64)),
            short: SHORT,
            simulated: false,
            meta,
            cache: RefCell::new(None),
            stream: Stream::default(),
            program: OnceCell::new(),
            scratch: RefCell::default(),
            sieve: Sieve::default(),
            searches: Cell::new(0),
            counted: Cell::new(0),
            adjacent: Cell::new(false),
        })
    }

    /// Lets every text be searched as if it were long: by DFAs step by step, or by simulation.
    #[cfg(test)]
    pub(super) fn treat_as_long(&mut self, simulated: bool) {
        (self.window, self.short, self.simulated) = (0, 0, simulated);
    }

    /// Tells whether there is a match at or after `start`.
    pub(super) fn is_match(
        &self,
        text: &[u8],
        start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<bool, MatchError> {
        if self.hard {
            return Ok(self.find(text, start, meter)?.is_some());
        }
        Ok(self.earliest(text, start, text.len(), meter)?.is_some())
    }

    /// Finds where the first match to end ends.
    fn earliest(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        if end - start <= self.window {
            let found = self.half(&Input::new(text).range(start..end).earliest(true));
            meter.bytes(found.unwrap_or(end).saturating_sub(start))?;
            self.count(meter)?;
            return Ok(found);
        }
        match self
            .stream
            .earliest(&self.source(), text, start..end, meter)
        {
            Ok(found) => Ok(found),
            Err(Failed::Error(error)) => Err(error),
            Err(Failed::GaveUp) => {
                let matcher = self.matcher(text, start, meter)?;
                let found = matcher.simulate(start..end, false, self.prefer, meter)?;
                Ok(found.map(|(from, _)| from))
            }
        }
    }

    /// Finds what [`Self::line`] finds, where the sieve and the DFA that is there can tell; the caller announces what
    /// was looked at. `Err` says from which line on they cannot.
    #[inline]
    pub(super) fn line_at_hand(
        &self,
        text: &[u8],
        start: usize,
        eol: u8,
    ) -> Result<Option<usize>, usize> {
        if self.hard || text.len().saturating_sub(start) > self.window {
            return Err(start);
        }
        let texts = self.sieve.ready(&self.node, text, eol).ok_or(start)?;
        self.sieve.find(texts, text, start, eol, |from, to| {
            if to - from > self.short {
                return Err(from);
            }
            self.stream.at_hand(text, from..to).ok_or(from)
        })
    }

    /// Finds a position in the first line that matches, of lines that end in `eol`.
    pub(super) fn line(
        &self,
        text: &[u8],
        start: usize,
        eol: u8,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        if self.hard {
            return Ok(self.find(text, start, meter)?.map(|(_, to)| to));
        }
        let sieve = self.sieve.ready(&self.node, text, eol);
        if let Some(texts) = sieve
            && text.len() - start <= self.window
        {
            return self.sift(texts, text, start..text.len(), eol, meter);
        }
        let mut pos = start;
        loop {
            let end = self.piece(text, pos, eol, meter)?;
            let found = match sieve {
                Some(texts) if end - pos <= WINDOW => {
                    self.sift(texts, text, pos..end, eol, meter)?
                }
                _ => self.earliest(text, pos, end, meter)?,
            };
            if found.is_some() || end == text.len() {
                return Ok(found);
            }
            pos = end;
        }
    }

    /// Finds a position in the first line that matches, among those that hold a text the pattern needs.
    #[inline]
    fn sift(
        &self,
        texts: &Prefilter,
        text: &[u8],
        range: Range<usize>,
        eol: u8,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        let lines = text.get(..range.end).unwrap_or_default();
        let within = |from, to| self.within(text, from, to, meter);
        let found = self.sieve.find(texts, lines, range.start, eol, within)?;
        let passed = found.unwrap_or(range.end).saturating_sub(range.start);
        meter.bytes(passed)?;
        Ok(found)
    }

    /// Returns where a piece of whole lines ends that is no longer than a window, if not one line alone is.
    fn piece(
        &self,
        text: &[u8],
        start: usize,
        eol: u8,
        meter: &mut Meter<'_>,
    ) -> Result<usize, MatchError> {
        let most = start.saturating_add(self.window);
        if most >= text.len() {
            return Ok(text.len());
        }
        let piece = text.get(start..most).unwrap_or_default();
        if let Some(last) = memrchr(eol, piece) {
            return Ok(start + last + 1);
        }
        let mut at = most;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let rest = rest.get(..WINDOW).unwrap_or(rest);
            meter.bytes(rest.len())?;
            if let Some(found) = memchr(eol, rest) {
                return Ok(at + found + 1);
            }
            at += rest.len();
        }
        Ok(text.len())
    }

    /// Finds where the first match to end ends.
    fn half(&self, input: &Input<'_>) -> Option<usize> {
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| Box::new(self.meta.create_cache()));
        let half = self.meta.search_half_with(cache, input)?;
        Some(half.offset())
    }

    /// Tells whether there is a match in one line of a text: the DFA alone, which is less to begin with.
    fn within(
        &self,
        text: &[u8],
        from: usize,
        to: usize,
        meter: &mut Meter<'_>,
    ) -> Result<bool, MatchError> {
        match self.stream.earliest(&self.source(), text, from..to, meter) {
            Ok(found) => Ok(found.is_some()),
            Err(Failed::Error(error)) => Err(error),
            Err(Failed::GaveUp) => Ok(self.earliest(text, from, to, meter)?.is_some()),
        }
    }

    /// Finds the leftmost match: the longest there, or the first by preference.
    pub(super) fn find(
        &self,
        text: &[u8],
        start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        if self.hard {
            return self.find_hard(text, start, meter);
        }
        let prefer = match self.first_is_longest {
            true => Prefer::First,
            false => Prefer::Longest,
        };
        let found = self.regular(text, start, prefer, meter)?;
        self.adjacent
            .set(found.is_some_and(|(from, _)| from == start));
        Ok(found)
    }

    /// Finds a match of the pattern as far as an automaton can tell.
    fn regular(
        &self,
        text: &[u8],
        start: usize,
        prefer: Prefer,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let left = text.len() - start;
        if left <= usize::min(self.window, SHORT) {
            meter.bytes(left)?;
            let found = self.candidate(&Input::new(text).range(start..));
            self.count(meter)?;
            let (Some((from, _)), Prefer::Longest) = (found, prefer) else {
                return Ok(found);
            };
            return Ok(Some((from, self.longest_end(text, from, meter)?)));
        }
        let range = start..text.len();
        match self
            .stream
            .find(&self.source(), text, range.clone(), prefer, meter)
        {
            Ok(found) => Ok(found),
            Err(Failed::Error(error)) => Err(error),
            // A DFA gives up on word borders beside characters outside ASCII, or when it keeps forgetting.
            Err(Failed::GaveUp) => {
                let matcher = self.matcher(text, start, meter)?;
                matcher.simulate(range, false, self.prefer, meter)
            }
        }
    }

    /// Finds the match and its groups.
    pub(super) fn captures(
        &self,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, MatchError> {
        groups.clear();
        if self.groups > 0 && self.quick(text, start, groups, meter)? {
            return Ok(true);
        }
        let Some(whole) = self.find(text, start, meter)? else {
            return Ok(false);
        };
        groups.push(Some(whole));
        if self.groups == 0 {
            return Ok(true);
        }
        let mut scratch = self.scratch.borrow_mut();
        if !self.hard {
            let goal = Goal::EndsAt(whole.1);
            scratch.begin(u64::MAX);
            let matcher = self.matcher(text, start, meter)?;
            if matcher.run(&mut scratch, whole.0, goal, meter)? != Some(whole.1) {
                return Err(MatchError::TooManySteps);
            }
        }
        groups.extend((1..=self.groups).map(|index| scratch.group(index)));
        Ok(true)
    }

    /// Tries the first path right at `start`, which is the match if there is one and the first is the one meant.
    fn quick(
        &self,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, MatchError> {
        // At the beginning of a text nothing is known of it yet: a match in the last one says nothing about this one.
        if start == 0 || self.hard || !self.first_is_longest || !self.adjacent.get() {
            return Ok(false);
        }
        let mut scratch = self.scratch.borrow_mut();
        scratch.begin(QUICK_STEPS);
        let matcher = self.matcher(text, start, meter)?;
        match matcher.run(&mut scratch, start, Goal::First, meter) {
            Ok(Some(end)) => {
                groups.push(Some((start, end)));
                groups.extend((1..=self.groups).map(|index| scratch.group(index)));
                Ok(true)
            }
            Ok(None) | Err(MatchError::TooManySteps) => {
                self.adjacent.set(false);
                Ok(false)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Finds a match by preference: its start is that of the longest.
    fn candidate(&self, input: &Input<'_>) -> Option<(usize, usize)> {
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| Box::new(self.meta.create_cache()));
        let found = self.meta.search_with(cache, input)?;
        Some((found.start(), found.end()))
    }

    fn find_hard(
        &self,
        text: &[u8],
        start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let matcher = self.matcher(text, start, meter)?;
        let mut scratch = self.scratch.borrow_mut();
        let (goal, memo) = match self.prefer {
            Prefer::Longest => (Goal::Longest, false),
            Prefer::First => (Goal::First, matcher.program.plain),
        };
        let places = (matcher.program.marks as usize).saturating_mul(text.len() - start);
        let mut patient = !memo;
        scratch.begin(if memo { FEW_STEPS } else { MAX_STEPS });
        if memo && places <= FEW_PLACES {
            scratch.begin(MAX_STEPS);
            matcher.remember(&mut scratch, start..text.len(), meter)?;
            patient = true;
        }
        let mut from = start;
        while from <= text.len() {
            let Some((at, _)) = self.regular(text, from, Prefer::First, meter)? else {
                return Ok(None);
            };
            let mut tried = matcher.run(&mut scratch, at, goal, meter);
            if tried == Err(MatchError::TooManySteps) && !patient {
                // Paths meet again and again: now each place is tried once.
                patient = true;
                scratch.begin(MAX_STEPS);
                matcher.remember(&mut scratch, at..text.len(), meter)?;
                tried = matcher.run(&mut scratch, at, goal, meter);
            }
            if let Some(end) = tried? {
                let from = scratch.kept_from().unwrap_or(at);
                return Ok(Some((usize::min(from, end), end)));
            }
            from = at + 1;
            while self.flags.utf8 && text.get(from).is_some_and(|byte| byte & 0xc0 == 0x80) {
                from += 1;
            }
        }
        Ok(None)
    }

    /// Returns the end of the longest match that begins at `from`; there is one.
    fn longest_end(
        &self,
        text: &[u8],
        from: usize,
        meter: &mut Meter<'_>,
    ) -> Result<usize, MatchError> {
        let range = from..text.len();
        match self
            .stream
            .longest_end(&self.source(), text, range.clone(), meter)
        {
            Ok(Some(end)) => return Ok(end),
            Err(Failed::Error(error)) => return Err(error),
            Ok(None) | Err(Failed::GaveUp) => {}
        }
        let matcher = self.matcher(text, from, meter)?;
        let found = matcher.simulate(range, true, Prefer::Longest, meter)?;
        found.map(|(_, end)| end).ok_or(MatchError::TooManySteps)
    }

    fn source(&self) -> Source<'_> {
        Source {
            hir: &self.hir,
            looks: &self.looks,
            size_limit: MAX_AUTOMATON,
            size: self.weight,
            short: usize::min(SHORT, self.short),
            unusable: self.simulated,
        }
    }

    /// Counts now and then what the meta engine has come to hold; it bounds that itself.
    #[inline]
    fn count(&self, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        let searches = self.searches.get();
        self.searches.set(searches.wrapping_add(1));
        if !searches.is_multiple_of(COUNT_EVERY) {
            return Ok(());
        }
        let used = self
            .cache
            .borrow()
            .as_ref()
            .map_or(0, |cache| cache.memory_usage());
        let counted = self.counted.get();
        if used > counted {
            meter.reserve(used - counted)?;
            self.counted.set(used);
        }
        Ok(())
    }

    fn matcher<'m>(
        &'m self,
        text: &'m [u8],
        search_start: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Matcher<'m>, MatchError> {
        if self.program.get().is_none() {
            let made = match compile(&self.node, meter) {
                Ok(program) => Some(Box::new(program)),
                Err(RegexError::Stop(stop)) => return Err(stop.into()),
                Err(_) => None,
            };
            let _ = self.program.set(made);
        }
        let program = self.program.get().and_then(Option::as_deref);
        Ok(Matcher {
            program: program.ok_or(MatchError::TooManySteps)?,
            looks: &self.looks,
            text,
            utf8: self.flags.utf8,
            fold: self.flags.ignore_case && self.prefer == Prefer::Longest,
            groups: self.groups,
            search_start,
        })
    }
}

/// Tells whether these are texts of which a longer one never comes after a shorter one.
fn ordered_literals(node: &Node) -> bool {
    let Node::Alt(nodes) = node else {
        return false;
    };
    let mut last = usize::MAX;
    nodes.iter().all(|node| match node.literal() {
        Some(text) if text.len() <= last => {
            last = text.len();
            true
        }
        _ => false,
    })
}

//! Searches long texts with lazy DFAs, driven step by step so that the run is asked on the way.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::look::LookMatcher;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use super::error::MatchError;
use super::meter::Meter;
use super::simulate::Prefer;

/// The most that a lazy DFA keeps of its states.
pub(super) const DFA_CACHE: usize = 2 << 20;
/// So many bytes are announced together.
const STRIDE: usize = 1024;
/// How often it is looked at what the states have grown to, for short texts.
const COUNT_EVERY: u32 = 64;
/// After so often without an answer a DFA is not tried again.
const PATIENCE: u32 = 8;

/// Why a DFA gave no answer.
pub(super) enum Failed {
    /// It cannot say, or takes too much: someone else must.
    GaveUp,
    Error(MatchError),
}

impl From<MatchError> for Failed {
    fn from(error: MatchError) -> Self {
        Self::Error(error)
    }
}

impl From<jp_bash_system::Stop> for Failed {
    fn from(stop: jp_bash_system::Stop) -> Self {
        Self::Error(stop.into())
    }
}

/// A lazy DFA and its states so far.
struct Lazy {
    dfa: DFA,
    cache: RefCell<Cache>,
    /// What a state costs to make.
    weight: usize,
    counted: Cell<usize>,
    /// So many short texts are searched before it is looked at what the states have grown to;
    /// none once this DFA is not to be tried again.
    left: Cell<u32>,
    failures: Cell<u32>,
}

/// The DFAs of a pattern, made when they are needed.
#[derive(Default)]
pub(super) struct Stream {
    /// Follows the paths of the match that is preferred.
    first: OnceCell<Option<Box<Lazy>>>,
    /// Follows all paths.
    all: OnceCell<Option<Box<Lazy>>>,
    /// Follows all paths backwards.
    back: OnceCell<Option<Box<Lazy>>>,
}

/// What the DFAs are made from.
pub(super) struct Source<'s> {
    pub(super) hir: &'s Hir,
    pub(super) looks: &'s LookMatcher,
    pub(super) size_limit: usize,
    /// About what one of them takes.
    pub(super) size: usize,
    /// A text so short is searched at once.
    pub(super) short: usize,
    /// None of them is asked.
    pub(super) unusable: bool,
}

/// Which way a DFA goes, and whether it stops at the first match it sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stops {
    Early,
    Late,
}

impl Stream {
    /// Returns the leftmost match in a range, the first or the longest.
    pub(super) fn find(
        &self,
        source: &Source<'_>,
        text: &[u8],
        range: Range<usize>,
        prefer: Prefer,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, Failed> {
        let first = lazy(&self.first, source, MatchKind::LeftmostFirst, false, meter)?;
        let input = Input::new(text).range(range.clone());
        let Some(end) = first.forward(source, &input, Stops::Late, meter)? else {
            return Ok(None);
        };
        let back = lazy(&self.back, source, MatchKind::All, true, meter)?;
        let input = Input::new(text)
            .range(range.start..end)
            .anchored(Anchored::Yes);
        let start = back.backward(&input, meter)?.ok_or(Failed::GaveUp)?;
        if prefer == Prefer::First {
            return Ok(Some((start, end)));
        }
        let end = self.longest_end(source, text, start..range.end, meter)?;
        Ok(Some((start, end.ok_or(Failed::GaveUp)?)))
    }

    /// Returns the end of the longest match right at the start of a range.
    pub(super) fn longest_end(
        &self,
        source: &Source<'_>,
        text: &[u8],
        range: Range<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        let all = lazy(&self.all, source, MatchKind::All, false, meter)?;
        let input = Input::new(text).range(range).anchored(Anchored::Yes);
        all.forward(source, &input, Stops::Late, meter)
    }

    /// Tells whether there is a match in a short range that was announced, by the DFA that is already there.
    /// Now and then, and wherever that is not all there is to do, there is no answer.
    #[inline]
    pub(super) fn at_hand(&self, text: &[u8], range: Range<usize>) -> Option<bool> {
        let all = self.all.get()?.as_deref()?;
        all.left.set(all.left.get().checked_sub(1)?);
        let input = Input::new(text).range(range).earliest(true);
        let found = all.dfa.try_search_fwd(&mut all.cache.borrow_mut(), &input);
        found.ok().map(|half| half.is_some())
    }

    /// Returns where the first match to end ends.
    pub(super) fn earliest(
        &self,
        source: &Source<'_>,
        text: &[u8],
        range: Range<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        let all = lazy(&self.all, source, MatchKind::All, false, meter)?;
        let input = Input::new(text).range(range);
        all.forward(source, &input, Stops::Early, meter)
    }
}

fn lazy<'l>(
    cell: &'l OnceCell<Option<Box<Lazy>>>,
    source: &Source<'_>,
    kind: MatchKind,
    reverse: bool,
    meter: &mut Meter<'_>,
) -> Result<&'l Lazy, Failed> {
    if source.unusable {
        return Err(Failed::GaveUp);
    }
    if cell.get().is_none() {
        meter.reserve(source.size)?;
        let made = build(source, kind, reverse);
        if let Some(made) = &made {
            made.count(meter)?;
        }
        let _ = cell.set(made.map(Box::new));
    }
    cell.get()
        .and_then(Option::as_deref)
        .filter(|lazy| lazy.failures.get() < PATIENCE)
        .ok_or(Failed::GaveUp)
}

fn build(source: &Source<'_>, kind: MatchKind, reverse: bool) -> Option<Lazy> {
    let config = NFA::config()
        .utf8(false)
        .reverse(reverse)
        .which_captures(WhichCaptures::None)
        .look_matcher(source.looks.clone())
        .nfa_size_limit(Some(source.size_limit));
    let nfa = thompson::Compiler::new()
        .configure(config)
        .build_from_hir(source.hir)
        .ok()?;
    let weight = nfa.states().len();
    let config = DFA::config()
        .match_kind(kind)
        .unicode_word_boundary(true)
        .cache_capacity(DFA_CACHE)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(8))
        .minimum_bytes_per_state(Some(10));
    let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
    let cache = RefCell::new(dfa.create_cache());
    Some(Lazy {
        dfa,
        cache,
        weight,
        counted: Cell::new(0),
        left: Cell::new(COUNT_EVERY),
        failures: Cell::new(0),
    })
}

impl Lazy {
    /// Counts what the states have grown to.
    fn count(&self, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        let used = self.cache.borrow().memory_usage();
        let counted = self.counted.get();
        if used > counted {
            meter.reserve(used - counted)?;
            self.counted.set(used);
        }
        Ok(())
    }

    fn give_up(&self) -> Failed {
        self.failures.set(self.failures.get() + 1);
        if self.failures.get() >= PATIENCE {
            self.left.set(0);
        }
        Failed::GaveUp
    }

    /// Takes a step; what it costs to make a state is announced.
    #[inline]
    fn step(
        &self,
        cache: &mut Cache,
        state: LazyStateID,
        byte: u8,
        at: usize,
        meter: &mut Meter<'_>,
    ) -> Result<LazyStateID, Failed> {
        if !state.is_tagged() {
            let next = self.dfa.next_state_untagged(cache, state, byte);
            if !next.is_unknown() {
                return Ok(next);
            }
        }
        // Whether a tagged state knows the way cannot be seen, so a part of the price is announced.
        let price = if state.is_tagged() { 16 } else { 1 };
        meter.steps(1 + usize::min(self.weight, 8192) / price)?;
        cache.search_update(at);
        self.dfa
            .next_state(cache, state, byte)
            .map_err(|_| self.give_up())
    }

    /// Takes the last step: what follows the range, or the end of the text.
    fn end(
        &self,
        cache: &mut Cache,
        state: LazyStateID,
        byte: Option<&u8>,
    ) -> Result<bool, Failed> {
        let state = match byte {
            Some(byte) => self.dfa.next_state(cache, state, *byte),
            None => self.dfa.next_eoi_state(cache, state),
        };
        let state = state.map_err(|_| self.give_up())?;
        if state.is_quit() {
            return Err(self.give_up());
        }
        Ok(state.is_match())
    }

    fn forward(
        &self,
        source: &Source<'_>,
        input: &Input<'_>,
        stops: Stops,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        if input.end() - input.start() <= source.short {
            return self.at_once(input, stops, meter);
        }
        let found = self.run_forward(&mut self.cache.borrow_mut(), input, stops, meter);
        self.count(meter)?;
        found
    }

    /// Searches a short text, all of which may be seen.
    fn at_once(
        &self,
        input: &Input<'_>,
        stops: Stops,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        let input = input.clone().earliest(stops == Stops::Early);
        let found = self
            .dfa
            .try_search_fwd(&mut self.cache.borrow_mut(), &input)
            .map_err(|_| self.give_up())?
            .map(|half| half.offset());
        let seen = match stops {
            Stops::Early => found.unwrap_or(input.end()).saturating_sub(input.start()),
            Stops::Late => input.end() - input.start(),
        };
        meter.bytes(seen)?;
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => {
                self.count(meter)?;
                self.left.set(COUNT_EVERY);
            }
        }
        Ok(found)
    }

    fn run_forward(
        &self,
        cache: &mut Cache,
        input: &Input<'_>,
        stops: Stops,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        let text = input.haystack();
        let (start, end) = (input.start(), input.end());
        meter.steps(1)?;
        let state = self.dfa.start_state_forward(cache, input);
        let mut state = state.map_err(|_| self.give_up())?;
        let mut found = None;
        cache.search_start(start);
        let mut from = start;
        while from < end {
            let to = usize::min(end, from + STRIDE);
            for (at, byte) in (from..to).zip(text.get(from..to).unwrap_or_default()) {
                state = self.step(cache, state, *byte, at, meter)?;
                if !state.is_tagged() {
                    continue;
                }
                if state.is_match() {
                    // A match is seen one byte behind its end.
                    found = Some(at);
                }
                if state.is_dead() || state.is_match() && stops == Stops::Early {
                    cache.search_finish(at);
                    meter.bytes(at - from)?;
                    return Ok(found);
                }
                if state.is_quit() {
                    cache.search_finish(at);
                    return Err(self.give_up());
                }
            }
            meter.bytes(to - from)?;
            from = to;
        }
        cache.search_finish(end);
        if self.end(cache, state, text.get(end))? {
            found = Some(end);
        }
        Ok(found)
    }

    fn backward(&self, input: &Input<'_>, meter: &mut Meter<'_>) -> Result<Option<usize>, Failed> {
        let found = self.run_backward(&mut self.cache.borrow_mut(), input, meter);
        self.count(meter)?;
        found
    }

    fn run_backward(
        &self,
        cache: &mut Cache,
        input: &Input<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, Failed> {
        let text = input.haystack();
        let (start, end) = (input.start(), input.end());
        meter.steps(1)?;
        let state = self.dfa.start_state_reverse(cache, input);
        let mut state = state.map_err(|_| self.give_up())?;
        let mut found = None;
        cache.search_start(end);
        let mut upto = end;
        while upto > start {
            let from = usize::max(start, upto.saturating_sub(STRIDE));
            let piece = text.get(from..upto).unwrap_or_default();
            for (at, byte) in (from..upto).zip(piece).rev() {
                state = self.step(cache, state, *byte, at, meter)?;
                if !state.is_tagged() {
                    continue;
                }
                if state.is_match() {
                    found = Some(at + 1);
                } else if state.is_dead() {
                    cache.search_finish(at);
                    meter.bytes(upto - at)?;
                    return Ok(found);
                } else if state.is_quit() {
                    cache.search_finish(at);
                    return Err(self.give_up());
                }
            }
            meter.bytes(upto - from)?;
            upto = from;
        }
        cache.search_finish(start);
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        if self.end(cache, state, before)? {
            found = Some(start);
        }
        Ok(found)
    }
}

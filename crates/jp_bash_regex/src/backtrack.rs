//! Finds groups, and matches what no automaton can, by trying paths in order of preference.
//!
//! glibc takes the longest match and, within it, the first path by preference: left alternatives, more
//! turns. Where the end is known every (place, position) is tried once, so the time is linear in the text;
//! otherwise the steps are counted and capped.

mod around;

use std::ops::Range;

use regex_automata::util::look::LookMatcher;

use super::error::MatchError;
use super::meter::{Meter, WINDOW, push};
use super::program::{Inst, Program, UNMARKED};
use super::set::decode;

/// The most steps of one search for which paths are tried again and again.
pub(super) const MAX_STEPS: u64 = 20_000_000;
/// The most bits in the table of tried places.
const MAX_BITS: usize = 1 << 28;
/// The most pending choices.
const MAX_PENDING: usize = 1 << 21;
/// So many steps are announced together.
const STRIDE: u64 = 256;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A match that ends exactly there; each place is tried once.
    EndsAt(usize),
    /// The longest match, all paths tried.
    Longest,
    /// The first match by preference.
    First,
}

#[derive(Debug, Clone, Copy)]
enum Pending {
    Go {
        pc: u32,
        at: usize,
    },
    /// A run of a set that may still give back characters, down to `low`.
    Shrink {
        pc: u32,
        low: usize,
        at: usize,
    },
    Slot {
        slot: u32,
        old: Option<usize>,
    },
    Turn {
        turn: u32,
        old: usize,
    },
    /// Where a part began whose choices are dropped at its end.
    Border {
        at: usize,
    },
    /// Where a call came from before.
    Frame {
        old: u32,
    },
}

/// A call of a group to come back from, and the calls around it.
#[derive(Debug, Clone, Copy)]
struct Frame {
    group: u32,
    back: u32,
    outer: u32,
    /// Where the groups as they were are kept.
    before: usize,
}

/// Buffers that searches reuse.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pending: Vec<Pending>,
    tried: Vec<u64>,
    slots: Vec<Option<usize>>,
    best: Vec<Option<usize>>,
    /// Where the table of tried places begins, and for how many positions it is; 0 if there is none.
    base: usize,
    width: usize,
    turns: Vec<usize>,
    frames: Vec<Frame>,
    frame: u32,
    befores: Vec<Option<usize>>,
    steps: u64,
    most: u64,
}

impl Scratch {
    /// Starts a new search of at most so many steps: they are counted from here.
    pub(crate) fn begin(&mut self, most: u64) {
        self.steps = 0;
        self.most = most;
        self.width = 0;
    }

    /// Returns where a group of the last match was.
    pub(crate) fn group(&self, index: usize) -> Option<(usize, usize)> {
        let at = |slot: usize| self.best.get(slot).copied().flatten();
        at(index * 2).zip(at(index * 2 + 1))
    }

    /// Returns where the last match begins if the pattern says so (`\K`).
    pub(crate) fn kept_from(&self) -> Option<usize> {
        self.best.first().copied().flatten()
    }

    #[inline]
    fn step(&mut self, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        self.steps += 1;
        if self.steps.is_multiple_of(STRIDE) {
            meter.steps(usize::try_from(STRIDE).unwrap_or(1))?;
            if self.steps > self.most {
                return Err(MatchError::TooManySteps);
            }
        }
        Ok(())
    }

    fn put(&mut self, pending: Pending, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        if self.pending.len() > MAX_PENDING {
            return Err(MatchError::TooManySteps);
        }
        Ok(push(&mut self.pending, pending, meter)?)
    }

    fn save(&mut self, slot: u32, at: usize, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            let old = place.replace(at);
            self.put(Pending::Slot { slot, old }, meter)?;
        }
        Ok(())
    }
}

/// A program on a text.
pub(crate) struct Matcher<'m> {
    pub(crate) program: &'m Program,
    pub(crate) looks: &'m LookMatcher,
    pub(crate) text: &'m [u8],
    pub(crate) utf8: bool,
    pub(crate) fold: bool,
    pub(crate) groups: usize,
    /// Where the search began (`\G`).
    pub(crate) search_start: usize,
}

/// What a path came to.
enum Path {
    Failed,
    Matched(usize),
}

impl Matcher<'_> {
    /// Matches at `start`; the end of the match, and the groups in the scratch.
    pub(crate) fn run(
        &self,
        scratch: &mut Scratch,
        start: usize,
        goal: Goal,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        self.prepare(scratch, start, goal, meter)?;
        let before = scratch.steps;
        let mut best = None;
        scratch.put(Pending::Go { pc: 0, at: start }, meter)?;
        while let Some((pc, at)) = self.next(scratch, goal, meter)? {
            match self.path(scratch, pc, at, goal, meter)? {
                Path::Failed => {}
                Path::Matched(end) => {
                    if best.is_none_or(|best| end > best) {
                        best = Some(end);
                        scratch.best.clone_from(&scratch.slots);
                    }
                    if goal != Goal::Longest || end == self.text.len() {
                        break;
                    }
                }
            }
        }
        let steps = (scratch.steps - before) % STRIDE;
        meter.steps(1 + usize::try_from(steps).unwrap_or(0))?;
        Ok(best)
    }

    fn prepare(
        &self,
        scratch: &mut Scratch,
        start: usize,
        goal: Goal,
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        scratch.pending.clear();
        scratch.slots.clear();
        scratch.slots.resize(self.groups * 2 + 2, None);
        scratch.frames.clear();
        scratch.befores.clear();
        scratch.frame = u32::MAX;
        scratch.turns.clear();
        scratch
            .turns
            .resize(self.program.turns as usize, usize::MAX);
        match goal {
            Goal::EndsAt(end) => self.remember(scratch, start..end, meter),
            Goal::Longest => {
                scratch.width = 0;
                Ok(())
            }
            Goal::First => Ok(()),
        }
    }

    /// Makes a table of the places that were tried, all of them fresh.
    pub(crate) fn remember(
        &self,
        scratch: &mut Scratch,
        range: Range<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        scratch.base = range.start;
        scratch.width = range.len() + 1;
        let bits = (self.program.marks as usize).saturating_mul(scratch.width);
        if bits > MAX_BITS {
            return Err(MatchError::TooManySteps);
        }
        let words = bits / 64 + 1;
        scratch.tried.clear();
        if words > scratch.tried.capacity() {
            meter.reserve((words - scratch.tried.capacity()) * 8)?;
            scratch.tried.reserve_exact(words);
        }
        // Clearing is work, too.
        for _ in 0..words / 4096 {
            meter.bytes(4096 * 8)?;
            scratch.tried.resize(scratch.tried.len() + 4096, 0);
        }
        meter.bytes(words % 4096)?;
        scratch.tried.resize(words, 0);
        Ok(())
    }

    /// Takes up the last pending choice, undoing what its path had noted.
    fn next(
        &self,
        scratch: &mut Scratch,
        goal: Goal,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(u32, usize)>, MatchError> {
        loop {
            scratch.step(meter)?;
            let Some(pending) = scratch.pending.pop() else {
                return Ok(None);
            };
            match pending {
                Pending::Go { pc, at } => return Ok(Some((pc, at))),
                Pending::Border { .. } => {}
                Pending::Shrink { pc, low, at } => {
                    let at = self.step_back(at, low);
                    if at > low {
                        scratch.put(Pending::Shrink { pc, low, at }, meter)?;
                    }
                    if self.fresh_after_run(scratch, pc, at, goal) {
                        return Ok(Some((pc + 1, at)));
                    }
                }
                undo => scratch.undo(undo),
            }
        }
    }

    /// Returns the position one character before.
    fn step_back(&self, at: usize, low: usize) -> usize {
        let mut back = at - 1;
        if self.utf8 {
            while back > low && self.text.get(back).is_some_and(|b| b & 0xc0 == 0x80) {
                back -= 1;
            }
        }
        back
    }

    /// Follows one path until it fails or matches.
    fn path(
        &self,
        scratch: &mut Scratch,
        mut pc: u32,
        mut at: usize,
        goal: Goal,
        meter: &mut Meter<'_>,
    ) -> Result<Path, MatchError> {
        loop {
            scratch.step(meter)?;
            let Some(inst) = self.program.insts.get(pc as usize) else {
                return Ok(Path::Failed);
            };
            pc += 1;
            match inst {
                Inst::Byte(byte) => {
                    if self.text.get(at) != Some(byte) {
                        return Ok(Path::Failed);
                    }
                    at += 1;
                }
                Inst::Class(set) => match self.step(*set, at) {
                    Some(next) => at = next,
                    None => return Ok(Path::Failed),
                },
                Inst::Look(look) => {
                    if !self.looks.matches(*look, self.text, at) {
                        return Ok(Path::Failed);
                    }
                }
                Inst::Save(slot) => scratch.save(*slot, at, meter)?,
                Inst::Split {
                    first,
                    second,
                    mark,
                } => {
                    if !self.fresh(scratch, *mark, at, goal) {
                        return Ok(Path::Failed);
                    }
                    scratch.put(Pending::Go { pc: *second, at }, meter)?;
                    pc = *first;
                }
                Inst::Run {
                    set,
                    min,
                    max,
                    mark,
                } => {
                    if !self.fresh(scratch, *mark, at, goal) {
                        return Ok(Path::Failed);
                    }
                    let limit = match goal {
                        Goal::EndsAt(end) => end,
                        _ => self.text.len(),
                    };
                    let Some((low, high)) =
                        self.run_of(*set, (*min, *max), at, limit, scratch, meter)?
                    else {
                        return Ok(Path::Failed);
                    };
                    if high > low {
                        let pc = pc - 1;
                        scratch.put(Pending::Shrink { pc, low, at: high }, meter)?;
                    }
                    if !self.fresh_after_run(scratch, pc - 1, high, goal) {
                        return Ok(Path::Failed);
                    }
                    at = high;
                }
                Inst::Jump(to) => pc = *to,
                Inst::TurnStart(turn) => {
                    if let (Goal::Longest | Goal::First, Some(place)) =
                        (goal, scratch.turns.get_mut(*turn as usize))
                    {
                        let old = std::mem::replace(place, at);
                        scratch.put(Pending::Turn { turn: *turn, old }, meter)?;
                    }
                }
                Inst::TurnEnd { turn, marked } => {
                    let began = scratch.turns.get(*turn as usize).copied();
                    let marks = matches!(goal, Goal::EndsAt(_)) || *marked && scratch.width > 0;
                    if !marks && began == Some(at) {
                        return Ok(Path::Failed);
                    }
                }
                Inst::BackRef { index, fold } => {
                    match self.back_ref(scratch, *index, *fold, at, meter)? {
                        Some(next) => at = next,
                        None => return Ok(Path::Failed),
                    }
                }
                Inst::Match => {
                    return Ok(match goal {
                        Goal::EndsAt(end) if end != at => Path::Failed,
                        _ => Path::Matched(at),
                    });
                }
                other => match self.special(other, pc, at, scratch, meter)? {
                    Some(next) => (pc, at) = next,
                    None => return Ok(Path::Failed),
                },
            }
        }
    }

    fn step(&self, set: u32, at: usize) -> Option<usize> {
        self.program.sets.get(set as usize)?.step(self.text, at)
    }

    /// Returns the shortest and the longest end of a run.
    fn run_of(
        &self,
        set: u32,
        (min, max): (u32, u32),
        at: usize,
        limit: usize,
        scratch: &mut Scratch,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let Some(set) = self.program.sets.get(set as usize) else {
            return Ok(None);
        };
        let mut end = at;
        let mut low = (min == 0).then_some(at);
        let mut count = 0_u32;
        while count < max && end < limit {
            match set.step(self.text, end) {
                Some(next) => end = next,
                None => break,
            }
            count += 1;
            if count == min {
                low = Some(end);
            }
            if count.is_multiple_of(1024) {
                meter.steps(1024)?;
            }
        }
        scratch.steps += u64::from(count / 256);
        meter.steps(count as usize % 1024)?;
        Ok(low.map(|low| (low, end)))
    }

    /// Marks a place as tried; tells whether it was not before.
    #[inline]
    fn fresh(&self, scratch: &mut Scratch, mark: u32, at: usize, goal: Goal) -> bool {
        if let Goal::EndsAt(end) = goal
            && at > end
        {
            return false;
        }
        if scratch.width == 0 || mark >= UNMARKED - 1 {
            return true;
        }
        let bit = mark as usize * scratch.width + (at - scratch.base);
        match scratch.tried.get_mut(bit / 64) {
            Some(word) => {
                let fresh = *word >> (bit % 64) & 1 == 0;
                *word |= 1 << (bit % 64);
                fresh
            }
            None => false,
        }
    }

    fn fresh_after_run(&self, scratch: &mut Scratch, pc: u32, at: usize, goal: Goal) -> bool {
        match self.program.insts.get(pc as usize) {
            Some(Inst::Run { mark, .. }) => self.fresh(scratch, mark.saturating_add(1), at, goal),
            _ => false,
        }
    }

    fn back_ref(
        &self,
        scratch: &Scratch,
        index: u32,
        fold: bool,
        at: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        let slot = index as usize * 2;
        let from = scratch.slots.get(slot).copied().flatten();
        let to = scratch.slots.get(slot + 1).copied().flatten();
        let (Some(from), Some(to)) = (from, to) else {
            return Ok(None);
        };
        if self.fold || fold {
            return self.back_ref_folded((from, to), at, meter);
        }
        let wanted = self.text.get(from..to).unwrap_or_default();
        let found = self.text.get(at..).unwrap_or_default();
        if found.len() < wanted.len() {
            return Ok(None);
        }
        for (a, b) in wanted.chunks(WINDOW).zip(found.chunks(WINDOW)) {
            meter.bytes(a.len())?;
            if !b.starts_with(a) {
                return Ok(None);
            }
        }
        Ok(Some(at + wanted.len()))
    }

    fn back_ref_folded(
        &self,
        (from, to): (usize, usize),
        at: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        let (mut left, mut here) = (from, at);
        while left < to {
            meter.steps(1)?;
            let (Some(a), Some(b)) = (self.char_at(left), self.char_at(here)) else {
                return Ok(None);
            };
            if !a.0.to_lowercase().eq(b.0.to_lowercase()) {
                return Ok(None);
            }
            left += a.1;
            here += b.1;
        }
        Ok(Some(here))
    }

    fn char_at(&self, at: usize) -> Option<(char, usize)> {
        let rest = self.text.get(at..)?;
        match (self.utf8, decode(rest)) {
            (true, Some(found)) => Some(found),
            _ => rest.first().map(|byte| (char::from(*byte), 1)),
        }
    }
}

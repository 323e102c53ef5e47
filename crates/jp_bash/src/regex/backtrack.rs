//! Finds groups, and matches back-references, by trying paths in order of preference.
//!
//! glibc takes the longest match and, within it, the first path by preference: left alternatives, more
//! turns. Without back-references every (place, position) is tried once, so the time is linear in the
//! text; with them the steps are counted and capped.

use regex_automata::util::look::LookMatcher;

use super::error::MatchError;
use super::program::{Inst, Program};
use super::set::decode;

/// The most steps of one search with back-references.
const MAX_STEPS: u64 = 20_000_000;
/// The most bits in the table of tried places.
const MAX_BITS: usize = 1 << 28;
/// The most pending choices.
const MAX_PENDING: usize = 1 << 21;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A match that ends exactly there; each place is tried once.
    EndsAt(usize),
    /// The longest match, all paths tried.
    Longest,
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
}

/// Buffers that searches reuse.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pending: Vec<Pending>,
    tried: Vec<u64>,
    slots: Vec<Option<usize>>,
    best: Vec<Option<usize>>,
    turns: Vec<usize>,
    steps: u64,
}

impl Scratch {
    /// Starts a new search: the steps are counted from here.
    pub(crate) fn begin(&mut self) {
        self.steps = 0;
    }

    /// Returns where a group of the last match was.
    pub(crate) fn group(&self, index: usize) -> Option<(usize, usize)> {
        let at = |slot: usize| self.best.get(slot).copied().flatten();
        at(index * 2).zip(at(index * 2 + 1))
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
    ) -> Result<Option<usize>, MatchError> {
        scratch.pending.clear();
        scratch.slots.clear();
        scratch.slots.resize(self.groups * 2 + 2, None);
        scratch.turns.clear();
        scratch
            .turns
            .resize(self.program.turns as usize, usize::MAX);
        if let Goal::EndsAt(end) = goal {
            let bits = (self.program.marks as usize).saturating_mul(end - start + 1);
            if bits > MAX_BITS {
                return Err(MatchError);
            }
            scratch.tried.clear();
            scratch.tried.resize(bits / 64 + 1, 0);
        }
        let mut best = None;
        scratch.pending.push(Pending::Go { pc: 0, at: start });
        while let Some((pc, at)) = self.next(scratch, start, goal) {
            match self.path(scratch, pc, at, start, goal)? {
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
        Ok(best)
    }

    /// Takes up the last pending choice, undoing what its path had noted.
    fn next(&self, scratch: &mut Scratch, start: usize, goal: Goal) -> Option<(u32, usize)> {
        loop {
            match scratch.pending.pop()? {
                Pending::Go { pc, at } => return Some((pc, at)),
                Pending::Slot { slot, old } => {
                    if let Some(place) = scratch.slots.get_mut(slot as usize) {
                        *place = old;
                    }
                }
                Pending::Turn { turn, old } => {
                    if let Some(place) = scratch.turns.get_mut(turn as usize) {
                        *place = old;
                    }
                }
                Pending::Shrink { pc, low, at } => {
                    let at = self.step_back(at, low);
                    if at > low {
                        scratch.pending.push(Pending::Shrink { pc, low, at });
                    }
                    if self.fresh_after_run(scratch, pc, at, start, goal) {
                        return Some((pc + 1, at));
                    }
                }
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
        start: usize,
        goal: Goal,
    ) -> Result<Path, MatchError> {
        loop {
            if goal == Goal::Longest {
                scratch.steps += 1;
                if scratch.steps > MAX_STEPS {
                    return Err(MatchError);
                }
            }
            if scratch.pending.len() > MAX_PENDING {
                return Err(MatchError);
            }
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
                Inst::Save(slot) => save(scratch, *slot, at),
                Inst::Split {
                    first,
                    second,
                    mark,
                } => {
                    if !self.fresh(scratch, *mark, at, start, goal) {
                        return Ok(Path::Failed);
                    }
                    scratch.pending.push(Pending::Go { pc: *second, at });
                    pc = *first;
                }
                Inst::Run {
                    set,
                    min,
                    max,
                    mark,
                } => {
                    if !self.fresh(scratch, *mark, at, start, goal) {
                        return Ok(Path::Failed);
                    }
                    let limit = match goal {
                        Goal::EndsAt(end) => end,
                        Goal::Longest => self.text.len(),
                    };
                    match self.run_of(scratch, *set, (*min, *max), at, limit) {
                        None => return Ok(Path::Failed),
                        Some((low, high)) => {
                            if high > low {
                                scratch.pending.push(Pending::Shrink {
                                    pc: pc - 1,
                                    low,
                                    at: high,
                                });
                            }
                            if !self.fresh_after_run(scratch, pc - 1, high, start, goal) {
                                return Ok(Path::Failed);
                            }
                            at = high;
                        }
                    }
                }
                Inst::Jump(to) => pc = *to,
                Inst::TurnStart(turn) => {
                    if let (Goal::Longest, Some(place)) =
                        (goal, scratch.turns.get_mut(*turn as usize))
                    {
                        scratch.pending.push(Pending::Turn {
                            turn: *turn,
                            old: *place,
                        });
                        *place = at;
                    }
                }
                Inst::TurnEnd(turn) => {
                    let began = scratch.turns.get(*turn as usize).copied();
                    if goal == Goal::Longest && began == Some(at) {
                        return Ok(Path::Failed);
                    }
                }
                Inst::BackRef(index) => match self.back_ref(scratch, *index, at) {
                    Some(next) => at = next,
                    None => return Ok(Path::Failed),
                },
                Inst::Match => {
                    return Ok(match goal {
                        Goal::EndsAt(end) if end != at => Path::Failed,
                        _ => Path::Matched(at),
                    });
                }
            }
        }
    }

    fn step(&self, set: u32, at: usize) -> Option<usize> {
        self.program.sets.get(set as usize)?.step(self.text, at)
    }

    /// Returns the shortest and the longest end of a run.
    fn run_of(
        &self,
        scratch: &mut Scratch,
        set: u32,
        (min, max): (u32, u32),
        at: usize,
        limit: usize,
    ) -> Option<(usize, usize)> {
        let set = self.program.sets.get(set as usize)?;
        let mut end = at;
        let mut low = (min == 0).then_some(at);
        let mut count = 0;
        while count < max && end < limit {
            match set.step(self.text, end) {
                Some(next) => end = next,
                None => break,
            }
            count += 1;
            if count == min {
                low = Some(end);
            }
        }
        scratch.steps += u64::from(count);
        low.map(|low| (low, end))
    }

    /// Marks a place as tried; tells whether it was not before.
    #[inline]
    fn fresh(&self, scratch: &mut Scratch, mark: u32, at: usize, start: usize, goal: Goal) -> bool {
        let Goal::EndsAt(end) = goal else {
            return true;
        };
        if at > end {
            return false;
        }
        let bit = mark as usize * (end - start + 1) + (at - start);
        match scratch.tried.get_mut(bit / 64) {
            Some(word) => {
                let fresh = *word >> (bit % 64) & 1 == 0;
                *word |= 1 << (bit % 64);
                fresh
            }
            None => false,
        }
    }

    fn fresh_after_run(
        &self,
        scratch: &mut Scratch,
        pc: u32,
        at: usize,
        start: usize,
        goal: Goal,
    ) -> bool {
        match self.program.insts.get(pc as usize) {
            Some(Inst::Run { mark, .. }) => self.fresh(scratch, mark + 1, at, start, goal),
            _ => false,
        }
    }

    fn back_ref(&self, scratch: &Scratch, index: u32, at: usize) -> Option<usize> {
        let slot = index as usize * 2;
        let from = scratch.slots.get(slot).copied().flatten()?;
        let to = scratch.slots.get(slot + 1).copied().flatten()?;
        let wanted = self.text.get(from..to)?;
        if !self.fold {
            return self
                .text
                .get(at..)?
                .starts_with(wanted)
                .then_some(at + wanted.len());
        }
        let (mut left, mut here) = (from, at);
        while left < to {
            let (a, b) = (self.char_at(left)?, self.char_at(here)?);
            if !a.0.to_lowercase().eq(b.0.to_lowercase()) {
                return None;
            }
            left += a.1;
            here += b.1;
        }
        Some(here)
    }

    fn char_at(&self, at: usize) -> Option<(char, usize)> {
        let rest = self.text.get(at..)?;
        match (self.utf8, decode(rest)) {
            (true, Some(found)) => Some(found),
            _ => rest.first().map(|byte| (char::from(*byte), 1)),
        }
    }
}

fn save(scratch: &mut Scratch, slot: u32, at: usize) {
    if let Some(place) = scratch.slots.get_mut(slot as usize) {
        scratch.pending.push(Pending::Slot { slot, old: *place });
        *place = Some(at);
    }
}

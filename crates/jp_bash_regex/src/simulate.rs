//! Follows all paths of a program at once, where no DFA can: time in the product of program and text.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::backtrack::Matcher;
use super::error::MatchError;
use super::meter::{Meter, push};
use super::program::Inst;

/// Which of several matches is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefer {
    /// The leftmost, and the longest there (POSIX).
    Longest,
    /// The leftmost, and the first by the order of alternatives there (Perl).
    First,
}

/// A place that a path has reached.
#[derive(Debug, Clone, Copy)]
struct Place {
    pc: u32,
    /// How far a run has counted.
    count: u32,
    /// Where the match would begin.
    from: usize,
}

/// The places at one position, each once, better ones first.
#[derive(Default)]
struct Places {
    list: Vec<Place>,
    seen: Vec<bool>,
    /// A counted run is at several counts at once, so it is not seen by its place alone.
    counts: FxHashSet<(u32, u32)>,
    pending: Vec<Place>,
}

impl Matcher<'_> {
    /// Returns the match that begins in a range, or right at its start if it is `anchored`.
    pub(super) fn simulate(
        &self,
        range: Range<usize>,
        anchored: bool,
        prefer: Prefer,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        let before = meter.held();
        let size = self.program.insts.len();
        meter.reserve(size)?;
        let mut now = Places {
            seen: vec![false; size],
            ..Places::default()
        };
        let found = self.follow(&mut now, range, anchored, prefer, meter);
        meter.release_to(before);
        found
    }

    fn follow(
        &self,
        now: &mut Places,
        range: Range<usize>,
        anchored: bool,
        prefer: Prefer,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        // A character may be up to four bytes: places wait for the position they reach.
        let mut ahead: [Vec<Place>; 4] = Default::default();
        let mut best = None;
        for at in range.clone().chain(std::iter::once(range.end)) {
            let mut here = std::mem::take(&mut ahead[0]);
            ahead.rotate_left(1);
            if prefer == Prefer::Longest {
                here.sort_by_key(|place| place.from);
            }
            if best.is_none() && (at == range.start || !anchored) {
                push(
                    &mut here,
                    Place {
                        pc: 0,
                        count: 0,
                        from: at,
                    },
                    meter,
                )?;
            }
            if here.is_empty() && ahead.iter().all(Vec::is_empty) {
                break;
            }
            meter.steps(1 + here.len())?;
            self.close(now, &here, at, prefer, &mut best, meter)?;
            here.clear();
            self.advance_all(now, at, &mut ahead, meter)?;
            if ahead[3].capacity() == 0 {
                // The buffer is used again.
                ahead[3] = here;
            }
        }
        Ok(best)
    }

    /// Moves all places over the character at `at`.
    fn advance_all(
        &self,
        now: &mut Places,
        at: usize,
        ahead: &mut [Vec<Place>; 4],
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        now.counts.clear();
        for index in 0..now.list.len() {
            let Some(place) = now.list.get(index).copied() else {
                break;
            };
            if let Some(seen) = now.seen.get_mut(place.pc as usize) {
                *seen = false;
            }
            let Some((len, next)) = self.advance(place, at) else {
                continue;
            };
            if let Some(queue) = ahead.get_mut(len - 1) {
                push(queue, next, meter)?;
            }
        }
        now.list.clear();
        Ok(())
    }

    /// Consumes one character at a place; how long it is, and the place behind it.
    fn advance(&self, place: Place, at: usize) -> Option<(usize, Place)> {
        let pc = place.pc;
        let next = Place {
            pc: pc + 1,
            count: 0,
            ..place
        };
        match self.program.insts.get(pc as usize)? {
            Inst::Byte(byte) => (self.text.get(at) == Some(byte)).then_some((1, next)),
            Inst::Class(set) => {
                let end = self.program.sets.get(*set as usize)?.step(self.text, at)?;
                Some((end - at, next))
            }
            Inst::Run { set, min, max, .. } if place.count < *max => {
                let end = self.program.sets.get(*set as usize)?.step(self.text, at)?;
                let mut count = place.count + 1;
                if *max == u32::MAX {
                    count = u32::min(count, *min);
                }
                Some((end - at, Place { count, ..place }))
            }
            _ => None,
        }
    }

    /// Follows what consumes nothing, from better places before worse ones.
    fn close(
        &self,
        now: &mut Places,
        here: &[Place],
        at: usize,
        prefer: Prefer,
        best: &mut Option<(usize, usize)>,
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        for place in here {
            if best.is_some_and(|(from, _)| place.from > from) {
                break;
            }
            push(&mut now.pending, *place, meter)?;
            while let Some(place) = now.pending.pop() {
                meter.steps(1)?;
                let matched = self.visit(now, place, at, meter)?;
                if !matched {
                    continue;
                }
                let better = best.is_none_or(|(from, to)| {
                    prefer == Prefer::First || place.from < from || at > to
                });
                if better {
                    *best = Some((place.from, at));
                }
                if prefer == Prefer::First {
                    // Whatever is still waiting here is worse.
                    now.pending.clear();
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Notes a place, and what it leads to without consuming; tells whether it is a match.
    fn visit(
        &self,
        now: &mut Places,
        place: Place,
        at: usize,
        meter: &mut Meter<'_>,
    ) -> Result<bool, MatchError> {
        let Place { pc, count, from } = place;
        let Some(inst) = self.program.insts.get(pc as usize) else {
            return Ok(false);
        };
        let counted = matches!(inst, Inst::Run { min, max, .. } if *min > 0 || *max < u32::MAX);
        if counted {
            if !now.counts.insert((pc, count)) {
                return Ok(false);
            }
        } else if let Some(seen) = now.seen.get_mut(pc as usize) {
            if *seen {
                return Ok(false);
            }
            *seen = true;
        }
        push(&mut now.list, place, meter)?;
        let to = |pc: u32| Place { pc, count: 0, from };
        match inst {
            Inst::Match => return Ok(true),
            Inst::Jump(next) => push(&mut now.pending, to(*next), meter)?,
            Inst::Split { first, second, .. } => {
                push(&mut now.pending, to(*second), meter)?;
                push(&mut now.pending, to(*first), meter)?;
            }
            Inst::Save(_) | Inst::TurnStart(_) | Inst::TurnEnd { .. } => {
                push(&mut now.pending, to(pc + 1), meter)?
            }
            Inst::Look(look) if self.looks.matches(*look, self.text, at) => {
                push(&mut now.pending, to(pc + 1), meter)?;
            }
            Inst::Run { min, .. } if count >= *min => {
                push(&mut now.pending, to(pc + 1), meter)?;
            }
            _ => {}
        }
        Ok(false)
    }
}

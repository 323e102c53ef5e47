//! What only Perl patterns have: look-around, atomic groups, conditions, calls of groups.

use super::{Frame, Matcher, Pending, Scratch};
use crate::error::MatchError;
use crate::meter::{Meter, push};
use crate::program::Inst;

/// The most calls of groups in one attempt.
const MAX_CALLS: usize = 100_000;

impl Scratch {
    /// Takes back what a path had noted.
    pub(super) fn undo(&mut self, pending: Pending) {
        match pending {
            Pending::Slot { slot, old } => {
                if let Some(place) = self.slots.get_mut(slot as usize) {
                    *place = old;
                }
            }
            Pending::Turn { turn, old } => {
                if let Some(place) = self.turns.get_mut(turn as usize) {
                    *place = old;
                }
            }
            Pending::Frame { old } => self.frame = old,
            Pending::Go { .. } | Pending::Shrink { .. } | Pending::Border { .. } => {}
        }
    }

    /// Drops the choices since the last border, but not what takes notes back; where the border was.
    fn commit(&mut self, meter: &mut Meter<'_>) -> Result<usize, MatchError> {
        let border = self
            .pending
            .iter()
            .rposition(|pending| matches!(pending, Pending::Border { .. }));
        let Some(border) = border else {
            return Err(MatchError::TooManySteps);
        };
        meter.steps(self.pending.len() - border)?;
        let Some(Pending::Border { at }) = self.pending.get(border).copied() else {
            return Err(MatchError::TooManySteps);
        };
        let mut kept = border;
        for index in border + 1..self.pending.len() {
            if let Some(pending) = self.pending.get(index).copied()
                && !matches!(pending, Pending::Go { .. } | Pending::Shrink { .. })
                && let Some(place) = self.pending.get_mut(kept)
            {
                *place = pending;
                kept += 1;
            }
        }
        self.pending.truncate(kept);
        Ok(at)
    }

    /// Drops everything since the last border and the choice below it, taking the notes back.
    fn abandon(&mut self, meter: &mut Meter<'_>) -> Result<(), MatchError> {
        while let Some(pending) = self.pending.pop() {
            meter.steps(1)?;
            if matches!(pending, Pending::Border { .. }) {
                self.pending.pop();
                break;
            }
            self.undo(pending);
        }
        Ok(())
    }
}

impl Matcher<'_> {
    /// Runs an instruction of Perl's; the next place and position, `None` if the path fails.
    pub(super) fn special(
        &self,
        inst: &Inst,
        pc: u32,
        at: usize,
        scratch: &mut Scratch,
        meter: &mut Meter<'_>,
    ) -> Result<Option<(u32, usize)>, MatchError> {
        let go_on = Some((pc, at));
        Ok(match inst {
            Inst::Begin => {
                scratch.put(Pending::Border { at }, meter)?;
                go_on
            }
            Inst::Commit => {
                scratch.commit(meter)?;
                go_on
            }
            Inst::CommitBack => Some((pc, scratch.commit(meter)?)),
            Inst::BeginNot(after) => {
                scratch.put(Pending::Go { pc: *after, at }, meter)?;
                scratch.put(Pending::Border { at }, meter)?;
                go_on
            }
            Inst::Refuse => {
                scratch.abandon(meter)?;
                None
            }
            Inst::Back(chars) => self.back(*chars, at, meter)?.map(|at| (pc, at)),
            Inst::IfGroup { index, otherwise } => {
                let slot = *index as usize * 2 + 1;
                let set = scratch.slots.get(slot).copied().flatten().is_some();
                Some((if set { pc } else { *otherwise }, at))
            }
            Inst::SearchStart => go_on.filter(|_| at == self.search_start),
            Inst::LastLine => {
                let rest = self.text.get(at..).unwrap_or_default();
                go_on.filter(|_| matches!(rest, [] | [b'\n']))
            }
            Inst::Call { to, group } => {
                self.call(*group, pc, scratch, meter)?;
                Some((*to, at))
            }
            Inst::Return(group) => match scratch.frames.get(scratch.frame as usize).copied() {
                Some(frame) if frame.group == *group => {
                    self.come_back(frame, scratch, meter)?;
                    Some((frame.back, at))
                }
                // The group is met on the way, not called.
                _ => go_on,
            },
            _ => None,
        })
    }

    fn call(
        &self,
        group: u32,
        back: u32,
        scratch: &mut Scratch,
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        if scratch.frames.len() >= MAX_CALLS {
            return Err(MatchError::TooManySteps);
        }
        let before = scratch.befores.len();
        for index in 0..scratch.slots.len() {
            let slot = scratch.slots.get(index).copied().flatten();
            push(&mut scratch.befores, slot, meter)?;
        }
        meter.steps(scratch.slots.len())?;
        let outer = scratch.frame;
        let index = u32::try_from(scratch.frames.len()).unwrap_or(u32::MAX);
        let frame = Frame {
            group,
            back,
            outer,
            before,
        };
        push(&mut scratch.frames, frame, meter)?;
        scratch.frame = index;
        scratch.put(Pending::Frame { old: outer }, meter)
    }

    /// Ends a call: the groups are again what they were before it.
    fn come_back(
        &self,
        frame: Frame,
        scratch: &mut Scratch,
        meter: &mut Meter<'_>,
    ) -> Result<(), MatchError> {
        let old = std::mem::replace(&mut scratch.frame, frame.outer);
        scratch.put(Pending::Frame { old }, meter)?;
        meter.steps(scratch.slots.len())?;
        for index in 0..scratch.slots.len() {
            let before = scratch.befores.get(frame.before + index).copied().flatten();
            if let Some(place) = scratch.slots.get_mut(index)
                && *place != before
            {
                let old = std::mem::replace(place, before);
                let slot = u32::try_from(index).unwrap_or(u32::MAX);
                scratch.put(Pending::Slot { slot, old }, meter)?;
            }
        }
        Ok(())
    }

    /// Goes back by so many characters.
    fn back(
        &self,
        chars: u32,
        mut at: usize,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>, MatchError> {
        meter.steps(chars as usize)?;
        for _ in 0..chars {
            if at == 0 {
                return Ok(None);
            }
            at = self.step_back(at, 0);
        }
        Ok(Some(at))
    }
}

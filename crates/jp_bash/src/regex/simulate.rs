//! Follows all paths of a program at once, for the end of the longest match where no DFA can.

use super::backtrack::Matcher;
use super::program::Inst;

/// Places reached at one position, each once, with how far a run has counted.
#[derive(Default)]
struct Places {
    list: Vec<(u32, u32)>,
    seen: Vec<bool>,
}

impl Matcher<'_> {
    /// Returns the end of the longest match at `from`. Takes time in the product of program and text.
    pub(super) fn longest_end(&self, from: usize) -> Option<usize> {
        let size = self.program.insts.len();
        let mut now = Places {
            list: Vec::new(),
            seen: vec![false; size],
        };
        // A character may be up to four bytes: places wait for the position they reach.
        let mut ahead: [Vec<(u32, u32)>; 4] = Default::default();
        let mut pending = vec![(0, 0)];
        let mut best = None;
        for at in from..=self.text.len() {
            self.close(&mut now, &mut pending, at, &mut best);
            for (pc, count) in now.list.drain(..) {
                if let Some(seen) = now.seen.get_mut(pc as usize) {
                    *seen = false;
                }
                let Some((len, next)) = self.advance(pc, count, at) else {
                    continue;
                };
                if let Some(queue) = ahead.get_mut(len - 1) {
                    queue.push(next);
                }
            }
            pending = std::mem::take(&mut ahead[0]);
            ahead.rotate_left(1);
            if pending.is_empty() && ahead.iter().all(Vec::is_empty) {
                break;
            }
        }
        best
    }

    /// Consumes one character at a place; how long it is, and the place behind it.
    fn advance(&self, pc: u32, count: u32, at: usize) -> Option<(usize, (u32, u32))> {
        match self.program.insts.get(pc as usize)? {
            Inst::Byte(byte) => (self.text.get(at) == Some(byte)).then_some((1, (pc + 1, 0))),
            Inst::Class(set) => {
                let end = self.program.sets.get(*set as usize)?.step(self.text, at)?;
                Some((end - at, (pc + 1, 0)))
            }
            Inst::Run { set, max, .. } if count < *max => {
                let end = self.program.sets.get(*set as usize)?.step(self.text, at)?;
                Some((end - at, (pc, count + 1)))
            }
            _ => None,
        }
    }

    /// Follows what consumes nothing.
    fn close(
        &self,
        now: &mut Places,
        pending: &mut Vec<(u32, u32)>,
        at: usize,
        best: &mut Option<usize>,
    ) {
        while let Some((pc, count)) = pending.pop() {
            let Some(inst) = self.program.insts.get(pc as usize) else {
                continue;
            };
            // A counted run is at several counts at once, so it is not "seen" by its place alone.
            let counted = matches!(inst, Inst::Run { min, max, .. } if *min > 0 || *max < u32::MAX);
            if counted {
                if now.list.contains(&(pc, count)) {
                    continue;
                }
            } else if let Some(seen) = now.seen.get_mut(pc as usize) {
                if *seen {
                    continue;
                }
                *seen = true;
            }
            now.list.push((pc, count));
            match inst {
                Inst::Match => *best = Some(at),
                Inst::Jump(to) => pending.push((*to, 0)),
                Inst::Split { first, second, .. } => {
                    pending.push((*second, 0));
                    pending.push((*first, 0));
                }
                Inst::Save(_) | Inst::TurnStart(_) | Inst::TurnEnd(_) => pending.push((pc + 1, 0)),
                Inst::Look(look) => {
                    if self.looks.matches(*look, self.text, at) {
                        pending.push((pc + 1, 0));
                    }
                }
                Inst::Run { min, .. } => {
                    if count >= *min {
                        pending.push((pc + 1, 0));
                    }
                }
                Inst::Byte(_) | Inst::Class(_) | Inst::BackRef(_) => {}
            }
        }
    }
}

//! Appending steps: constants, jumps and their targets, and the few pairs of steps that are made one.

use super::super::op::{Leave, Op, Place, Target};
use super::super::value::Value;
use super::{Parser, Section};

impl Parser<'_> {
    /// Appends a step and returns its index.
    pub(super) fn emit(&mut self, op: Op) -> usize {
        let at = self.program.ops.len();
        self.program.ops.push(op);
        // The token before the current one is the last that was read.
        let line = self
            .tokens
            .get(self.at.saturating_sub(1))
            .map_or(1, |token| token.line);
        self.program.lines.push(line);
        at
    }

    /// Inserts a step before others; jumps across it must not exist.
    pub(super) fn insert(&mut self, at: usize, op: Op) {
        let line = self.program.lines.get(at).copied().unwrap_or(1);
        self.program.ops.insert(at, op);
        self.program.lines.insert(at, line);
        // Function entries and bare arguments behind the place move too.
        for bare in &mut self.bare {
            bare.at += usize::from(bare.at >= at);
        }
        self.barrier = self.program.ops.len();
    }

    /// Says that something jumps to what comes next.
    pub(super) fn label(&mut self) {
        self.barrier = self.program.ops.len();
    }

    /// Returns the last step, if it may be replaced.
    fn last(&mut self) -> Option<&mut Op> {
        if self.barrier >= self.program.ops.len() {
            return None;
        }
        self.program.ops.last_mut()
    }

    fn drop_last(&mut self) {
        self.program.ops.pop();
        self.program.lines.pop();
    }

    /// Sets the jump at `from` to go to `to`.
    pub(super) fn patch_to(&mut self, from: usize, to: usize, make: fn(i32) -> Op) {
        let distance = distance(from, to);
        if let Some(op) = self.program.ops.get_mut(from) {
            *op = make(distance);
        }
    }

    /// Sets the jump at `from` to go to what comes next.
    pub(super) fn patch_here(&mut self, from: usize) {
        self.label();
        let to = self.program.ops.len();
        self.patch(from, to);
    }

    /// Sets the jump at `from` to go to `to`.
    pub(super) fn patch(&mut self, from: usize, to: usize) {
        let new = distance(from, to);
        if let Some(
            Op::Jump(old)
            | Op::JumpIf(old)
            | Op::JumpUnless(old)
            | Op::JumpCmp(_, _, old)
            | Op::JumpGlobalConst { by: old, .. }
            | Op::IterNext(old)
            | Op::RangeOpen(_, old),
        ) = self.program.ops.get_mut(from)
        {
            *old = new;
        }
    }

    pub(super) fn jump_to(&mut self, to: usize) {
        let from = self.emit(Op::Jump(0));
        self.patch(from, to);
    }

    /// Appends a jump taken if the value on the stack is false; a comparison before it is taken in.
    pub(super) fn jump_unless(&mut self) -> usize {
        self.jump_when(false)
    }

    /// Appends a jump taken if the value on the stack is `when`.
    pub(super) fn jump_when(&mut self, when: bool) -> usize {
        let mut when = when;
        if let Some(Op::Not) = self.last() {
            self.drop_last();
            when = !when;
        }
        if let Some(Op::Cmp(cmp)) = self.last() {
            let cmp = *cmp;
            self.drop_last();
            let tail = self.program.ops.get(self.barrier..).unwrap_or_default();
            if let [.., Op::Global(global), Op::Const(constant)] = *tail {
                self.drop_last();
                self.drop_last();
                let by = 0;
                return self.emit(Op::JumpGlobalConst {
                    cmp,
                    when,
                    global,
                    constant,
                    by,
                });
            }
            return self.emit(Op::JumpCmp(cmp, when, 0));
        }
        self.emit(if when {
            Op::JumpIf(0)
        } else {
            Op::JumpUnless(0)
        })
    }

    /// Drops the value of an expression statement, or makes the step before not leave one.
    pub(super) fn discard(&mut self) {
        let tail = self.program.ops.get(self.barrier..).unwrap_or_default();
        if let [.., Op::Global(from), Op::AugGlobal(to, arith, true)] = *tail {
            self.drop_last();
            self.drop_last();
            self.emit(Op::AugGlobalGlobal(to, from, arith));
            return;
        }
        match self.last() {
            Some(
                Op::SetGlobal(_, keep)
                | Op::SetLocal(_, keep)
                | Op::Set(_, keep)
                | Op::AugGlobal(_, _, keep)
                | Op::AugLocal(_, _, keep)
                | Op::Aug(_, _, keep)
                | Op::Append(_, keep),
            ) => *keep = false,
            Some(
                Op::StepGlobal(_, _, leave) | Op::StepLocal(_, _, leave) | Op::Step(_, _, leave),
            ) => {
                *leave = Leave::Nothing;
            }
            _ => {
                self.emit(Op::Pop);
            }
        }
    }

    /// Cuts steps out, to be put back behind what follows.
    pub(super) fn cut(&mut self, from: usize) -> (Vec<Op>, Vec<u32>) {
        self.label();
        let ops = self
            .program
            .ops
            .split_off(usize::min(from, self.program.ops.len()));
        let lines = self
            .program
            .lines
            .split_off(usize::min(from, self.program.lines.len()));
        self.barrier = self.program.ops.len();
        (ops, lines)
    }

    /// Puts steps back that [`Parser::cut`] took from `from`.
    pub(super) fn paste(
        &mut self,
        from: usize,
        (ops, lines): (Vec<Op>, Vec<u32>),
        bare: std::ops::Range<usize>,
    ) {
        let to = self.program.ops.len();
        for bare in self.bare.get_mut(bare).unwrap_or_default() {
            bare.at = bare.at - from + to;
        }
        self.program.ops.extend(ops);
        self.program.lines.extend(lines);
    }

    pub(super) fn number(&mut self, num: f64) {
        let next = self.program.consts.len();
        let slot = *self
            .numbers
            .entry(num.to_bits())
            .or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        if slot as usize == next {
            self.program.consts.push(Value::Num(num));
        }
        self.emit(Op::Const(slot));
    }

    pub(super) fn uninit(&mut self) {
        self.constant(Value::Uninit);
    }

    pub(super) fn constant(&mut self, value: Value) {
        let slot = u32::try_from(self.program.consts.len()).unwrap_or(u32::MAX);
        self.program.consts.push(value);
        self.emit(Op::Const(slot));
    }

    /// Keeps a regex constant and returns its index.
    pub(super) fn regex(&mut self, text: Vec<u8>) -> u32 {
        let slot = u32::try_from(self.program.regexes.len()).unwrap_or(u32::MAX);
        self.program.regexes.push(text);
        slot
    }

    /// Appends the step that loads a target.
    pub(super) fn load(&mut self, target: Target) {
        let op = match target {
            Target::Global(slot) => Op::Global(slot),
            Target::Local(slot) => Op::Local(slot),
            Target::Special(special) => Op::Special(special),
            Target::Field => {
                // `$1`: a constant index needs no value on the stack.
                if let Some(Op::Const(slot)) = self.last() {
                    let slot = *slot;
                    if let Some(index) = self.small_const(slot) {
                        self.drop_last();
                        self.emit(Op::FieldConst(index));
                        return;
                    }
                }
                Op::Field
            }
            Target::Elem(place) => Op::Elem(place),
        };
        self.emit(op);
    }

    fn small_const(&self, slot: u32) -> Option<u32> {
        match self.program.consts.get(slot as usize)? {
            Value::Num(num) => {
                super::super::number::integer(*num).and_then(|int| u32::try_from(int).ok())
            }
            _ => None,
        }
    }

    pub(super) fn store(&mut self, target: Target) {
        self.emit(match target {
            Target::Global(slot) => Op::SetGlobal(slot, true),
            Target::Local(slot) => Op::SetLocal(slot, true),
            other => Op::Set(other, true),
        });
    }

    /// Remembers that a name is an array.
    pub(super) fn array(&mut self, place: Place) {
        if let (Place::Local(slot), Some(function)) = (place, self.function)
            && let Some(known) = self
                .array_params
                .get_mut(function as usize)
                .and_then(|params| params.get_mut(slot as usize))
        {
            *known = true;
        }
    }

    pub(super) fn in_function(&self) -> bool {
        self.section == Section::Function
    }
}

fn distance(from: usize, to: usize) -> i32 {
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let to = i64::try_from(to).unwrap_or(i64::MAX);
    // A program whose code is longer than that does not fit the memory limit.
    i32::try_from(to - from).unwrap_or(0)
}

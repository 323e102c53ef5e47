//! The inner loop: the steps that programs spend their time in. Everything else is handed on.

use jp_bash_system::{Limit, Stop};

use super::super::number;
use super::super::op::{Arith, Leave, Op, Place};
use super::super::value::Value;
use super::compare::holds_num;
use super::{Done, Frame, Ran, Vm};

/// Moves by a relative jump; the step itself is already behind us.
fn jump(pc: usize, by: i32) -> usize {
    let by = isize::try_from(by).unwrap_or(0);
    (pc - 1).wrapping_add_signed(by)
}

impl Vm<'_> {
    /// Runs from an entry to its end.
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each hot step: calls would cost more than the work"
    )]
    pub(super) fn run(&mut self, entry: usize) -> Ran<Done> {
        let program = self.program;
        let ops = program.ops.as_slice();
        let mut pc = entry;
        macro_rules! ok {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => {
                        self.pc = pc.wrapping_sub(1);
                        return Err(error.into());
                    }
                }
            };
        }
        while let Some(op) = ops.get(pc) {
            pc += 1;
            match *op {
                Op::Const(slot) => match program.consts.get(slot as usize) {
                    Some(Value::Num(num)) => self.stack.push(Value::Num(*num)),
                    other => self.stack.push(other.cloned().unwrap_or_default()),
                },
                Op::Global(slot) => match self.globals.get(slot as usize) {
                    Some(Value::Num(num)) => {
                        let num = *num;
                        self.stack.push(Value::Num(num));
                    }
                    Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(slot))),
                    Some(value) => self.stack.push(value.clone()),
                    None => self.stack.push(Value::Uninit),
                },
                Op::Local(slot) => match self.stack.get(self.base + slot as usize) {
                    Some(Value::Num(num)) => {
                        let num = *num;
                        self.stack.push(Value::Num(num));
                    }
                    Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Local(slot))),
                    Some(value) => {
                        let value = value.clone();
                        self.stack.push(value);
                    }
                    None => self.stack.push(Value::Uninit),
                },
                Op::FieldConst(index) => {
                    let value = ok!(self.field(index as usize));
                    self.stack.push(value);
                }
                Op::SetGlobal(slot, keep) => {
                    let value = self.stored(keep);
                    match self.globals.get_mut(slot as usize) {
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(slot))),
                        Some(global) => *global = value,
                        None => {}
                    }
                }
                Op::SetLocal(slot, keep) => {
                    let value = self.stored(keep);
                    match self.stack.get_mut(self.base + slot as usize) {
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Local(slot))),
                        Some(local) => *local = value,
                        None => {}
                    }
                }
                Op::AugGlobal(slot, arith, keep) => {
                    let right = self.pop_num();
                    let left = match self.globals.get(slot as usize) {
                        Some(Value::Num(num)) => *num,
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(slot))),
                        Some(value) => value.num(),
                        None => 0.0,
                    };
                    let new = ok!(compute(arith, left, right, true));
                    match self.globals.get_mut(slot as usize) {
                        Some(Value::Num(num)) => *num = new,
                        Some(global) => *global = Value::Num(new),
                        None => {}
                    }
                    if keep {
                        self.stack.push(Value::Num(new));
                    }
                }
                Op::AugLocal(slot, arith, keep) => {
                    let right = self.pop_num();
                    let at = self.base + slot as usize;
                    let left = match self.stack.get(at) {
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Local(slot))),
                        Some(value) => value.num(),
                        None => 0.0,
                    };
                    let value = Value::Num(ok!(compute(arith, left, right, true)));
                    if let Some(local) = self.stack.get_mut(at) {
                        *local = value.clone();
                    }
                    if keep {
                        self.stack.push(value);
                    }
                }
                Op::StepGlobal(slot, by, leave) => {
                    let old = match self.globals.get_mut(slot as usize) {
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(slot))),
                        Some(Value::Num(num)) => {
                            *num += f64::from(by);
                            *num - f64::from(by)
                        }
                        Some(global) => {
                            let old = global.num();
                            *global = Value::Num(old + f64::from(by));
                            old
                        }
                        None => 0.0,
                    };
                    self.leave(leave, old, old + f64::from(by));
                }
                Op::StepLocal(slot, by, leave) => {
                    let old = match self.stack.get_mut(self.base + slot as usize) {
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Local(slot))),
                        Some(Value::Num(num)) => {
                            *num += f64::from(by);
                            *num - f64::from(by)
                        }
                        Some(local) => {
                            let old = local.num();
                            *local = Value::Num(old + f64::from(by));
                            old
                        }
                        None => 0.0,
                    };
                    self.leave(leave, old, old + f64::from(by));
                }
                Op::Pop => {
                    self.stack.pop();
                }
                Op::Arith(arith) => {
                    let right = self.pop_num();
                    let left = self.pop_num();
                    let value = ok!(compute(arith, left, right, false));
                    self.stack.push(Value::Num(value));
                }
                Op::Cmp(cmp) => {
                    let truth = self.compare_top(cmp);
                    self.push_truth(truth);
                }
                Op::JumpCmp(cmp, when, by) => {
                    if self.compare_top(cmp) == when {
                        pc = jump(pc, by);
                    }
                }
                Op::JumpGlobalConst {
                    cmp,
                    when,
                    global,
                    constant,
                    by,
                } => {
                    let left = self.globals.get(global as usize);
                    let right = program.consts.get(constant as usize);
                    let result = match (left, right) {
                        (Some(Value::Num(left)), Some(Value::Num(right))) => {
                            holds_num(cmp, *left, *right)
                        }
                        (Some(Value::Array(_)), _) => {
                            ok!(self.array_in_scalar(Place::Global(global)))
                        }
                        (Some(left), Some(right)) => self.compare(cmp, left, right),
                        _ => false,
                    };
                    if result == when {
                        pc = jump(pc, by);
                    }
                }
                Op::AugGlobalGlobal(to, from, arith) => {
                    let right = match self.globals.get(from as usize) {
                        Some(Value::Num(num)) => *num,
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(from))),
                        Some(value) => value.num(),
                        None => 0.0,
                    };
                    let left = match self.globals.get(to as usize) {
                        Some(Value::Num(num)) => *num,
                        Some(Value::Array(_)) => ok!(self.array_in_scalar(Place::Global(to))),
                        Some(value) => value.num(),
                        None => 0.0,
                    };
                    let new = ok!(compute(arith, left, right, true));
                    if let Some(global) = self.globals.get_mut(to as usize) {
                        *global = Value::Num(new);
                    }
                }
                Op::Jump(by) => pc = jump(pc, by),
                Op::JumpIf(by) => {
                    if self.pop_truth() {
                        pc = jump(pc, by);
                    }
                }
                Op::JumpUnless(by) => {
                    if !self.pop_truth() {
                        pc = jump(pc, by);
                    }
                }
                Op::Turn => {
                    ok!(self.sys.turns(1));
                    ok!(self.claim(0));
                }
                Op::Not => {
                    let truth = self.pop_truth();
                    self.push_truth(!truth);
                }
                Op::Truth => {
                    let truth = self.pop_truth();
                    self.push_truth(truth);
                }
                Op::Neg => {
                    let num = self.pop_num();
                    self.stack.push(Value::Num(-num));
                }
                Op::Plus => {
                    let num = self.pop_num();
                    self.stack.push(Value::Num(num));
                }
                Op::MatchRecord(index) => {
                    let regex = ok!(self.regex_const(index));
                    ok!(self.fresh_record());
                    let found = ok!(regex.is_match_at(self.sys, self.record.text(), 0));
                    self.push_truth(found);
                }
                Op::IterNext(by) => match self.iters.last_mut().and_then(|iter| iter.keys.pop()) {
                    Some(key) => {
                        let value = key.value(&self.meter);
                        self.stack.push(value);
                    }
                    None => {
                        self.iters.pop();
                        pc = jump(pc, by);
                    }
                },
                Op::RangeOpen(id, by) => {
                    if self.ranges.get(id as usize).copied().unwrap_or(false) {
                        pc = jump(pc, by);
                    }
                }
                Op::Builtin(func, args) => ok!(self.builtin(func, args as usize)),
                Op::SubstrField(field, length) => ok!(self.substr_field(field as usize, length)),
                Op::Print(count, dest) => ok!(self.print(count as usize, dest)),
                Op::Substitute(target, global) => ok!(self.substitute(target, global)),
                Op::OutField(index) => ok!(self.out_field(index as usize)),
                Op::OutOrs => ok!(self.out_ors()),
                Op::Call(function, args) => pc = ok!(self.call(function, args, pc)),
                Op::Return => {
                    let value = self.pop();
                    self.stack.truncate(self.base);
                    let Some(frame) = self.frames.pop() else {
                        return Ok(Done::End);
                    };
                    self.base = frame.base;
                    self.iters.truncate(frame.iters);
                    self.stack.push(value);
                    pc = frame.back;
                }
                Op::End => return Ok(Done::End),
                Op::Next => return Ok(Done::Next),
                Op::NextFile => return Ok(Done::NextFile),
                Op::Exit(given) => {
                    if given {
                        self.status = exit_status(self.pop_num());
                    }
                    return Ok(Done::Exit);
                }
                other => ok!(self.cold(other)),
            }
        }
        Ok(Done::End)
    }

    /// Takes the value to store; leaves a copy if it is wanted.
    #[inline]
    fn stored(&mut self, keep: bool) -> Value {
        if keep {
            self.stack.last().cloned().unwrap_or_default()
        } else {
            self.pop()
        }
    }

    #[inline]
    pub(super) fn leave(&mut self, leave: Leave, old: f64, new: f64) {
        match leave {
            Leave::Nothing => {}
            Leave::Old => self.stack.push(Value::Num(old)),
            Leave::New => self.stack.push(Value::Num(new)),
        }
    }

    /// Enters a function; returns where it starts.
    fn call(&mut self, function: u32, args: u32, back: usize) -> Ran<usize> {
        self.sys.turns(1)?;
        if self.frames.len() >= self.max_depth {
            return Err(Stop::Limit(Limit::Depth).into());
        }
        let program = self.program;
        let Some(called) = program.functions.get(function as usize) else {
            return self.fatal(&[b"function not defined"]);
        };
        let missing = called.locals.saturating_sub(args) as usize;
        self.claim(missing * size_of::<Value>())?;
        self.stack.resize(self.stack.len() + missing, Value::Uninit);
        self.frames.push(Frame {
            back,
            base: self.base,
            iters: self.iters.len(),
        });
        self.base = self.stack.len() - usize::max(called.locals as usize, args as usize);
        Ok(called.entry)
    }
}

/// Computes; dividing by zero is the one thing that fails.
#[inline]
pub(super) fn compute(arith: Arith, left: f64, right: f64, assigns: bool) -> Ran<f64> {
    Ok(match arith {
        Arith::Add => left + right,
        Arith::Sub => left - right,
        Arith::Mul => left * right,
        Arith::Div if right == 0.0 => return by_zero(if assigns { " in `/='" } else { "" }),
        Arith::Div => left / right,
        Arith::Mod if right == 0.0 => return by_zero(if assigns { " in `%='" } else { " in `%'" }),
        Arith::Mod => left % right,
        Arith::Pow => power(left, right),
    })
}

#[cold]
fn by_zero(what: &str) -> Ran<f64> {
    Err(super::Fault::Fatal(
        format!("division by zero attempted{what}").into_bytes(),
    ))
}

/// Raises to a power; whole exponents by multiplying, as gawk does, so that results are exact where they can be.
fn power(base: f64, exponent: f64) -> f64 {
    match number::integer(exponent) {
        Some(whole) if whole.unsigned_abs() <= 1024 => {
            let mut result = 1.0;
            let mut square = base;
            let mut left = whole.unsigned_abs();
            while left > 0 {
                if left & 1 == 1 {
                    result *= square;
                }
                square *= square;
                left >>= 1;
            }
            if whole < 0 { 1.0 / result } else { result }
        }
        _ => base.powf(exponent),
    }
}

/// Returns the status that a process shows for a number.
fn exit_status(num: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
    let status = num as i64;
    i32::try_from(status & 255).unwrap_or(0)
}

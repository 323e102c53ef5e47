//! Steps outside the inner loop: fields, elements, strings, printing, streams.

use std::rc::Rc;

use jp_bash_system::PIECE;

use super::super::lex::Func;
use super::super::op::{Arith, Op, Place, Target};
use super::super::record::FIELDS;
use super::super::value::Value;
use super::output::push_output;
use super::steps::compute;
use super::{Iter, Ran, Vm};

/// Fields beyond this one are refused before anything is allocated.
const MOST_FIELDS: usize = 1 << 24;

impl Vm<'_> {
    pub(super) fn cold(&mut self, op: Op) -> Ran<()> {
        match op {
            Op::Regex(index) => self.stack.push(Value::Regex(index)),
            Op::Special(special) => {
                let value = self.special(special)?;
                self.stack.push(value);
            }
            Op::Field => {
                let index = self.pop_num();
                let number = self.field_number(index)?;
                let value = self.field(number)?;
                self.stack.push(value);
            }
            Op::Elem(place) => {
                let array = self.array(place)?;
                let key = self.pop();
                let key = self.key(&key);
                let value = array.borrow_mut().slot(key).clone();
                self.claim(0)?;
                self.stack.push(value);
            }
            Op::Arg(place) => {
                let value = match place {
                    Place::Global(slot) => self.globals.get(slot as usize).cloned(),
                    Place::Local(slot) => self.stack.get(self.base + slot as usize).cloned(),
                };
                self.stack.push(value.unwrap_or_default());
            }
            Op::ArrayArg(place) => {
                let array = self.array(place)?;
                self.stack.push(Value::Array(array));
            }
            Op::Set(target, keep) => {
                let value = self.pop();
                if keep {
                    self.set_below(target, value.clone())?;
                    self.stack.push(value);
                } else {
                    self.set_below(target, value)?;
                }
            }
            Op::Aug(target, arith, keep) => self.augment(target, arith, keep)?,
            Op::Step(target, by, leave) => {
                let index = self.index_of(target);
                let (old, new) = self.change(target, &index, |old| Ok(old + f64::from(by)))?;
                self.leave(leave, old, new);
            }
            Op::Append(place, keep) => self.append(place, keep)?,
            Op::Concat(count) => self.concat(count as usize)?,
            Op::MatchConst(index, negated) => {
                let regex = self.regex_const(index)?;
                let value = self.pop();
                let text = self.text(&value);
                let found = regex.is_match_at(self.sys, &text, 0)?;
                self.push_truth(found != negated);
            }
            Op::Match(negated) => {
                let pattern = self.pop();
                let value = self.pop();
                let regex = self.regex(&pattern)?;
                let text = self.text(&value);
                let found = regex.is_match_at(self.sys, &text, 0)?;
                self.push_truth(found != negated);
            }
            Op::Key(count) => self.join_key(count as usize)?,
            Op::In(place) => {
                let array = self.array(place)?;
                let key = self.pop();
                let found = array.borrow().contains(&self.key(&key));
                self.push_truth(found);
            }
            Op::Delete(place) => {
                let array = self.array(place)?;
                let key = self.pop();
                array.borrow_mut().remove(&self.key(&key));
            }
            Op::DeleteAll(place) => self.array(place)?.borrow_mut().clear(),
            Op::Iter(place) => {
                let array = self.array(place)?;
                let mut keys = self.loop_keys(&array)?;
                keys.reverse();
                self.iters.push(Iter { keys });
            }
            Op::IterEnd => {
                self.iters.pop();
            }
            Op::RangeSet(id, open) => {
                if let Some(range) = self.ranges.get_mut(id as usize) {
                    *range = open;
                }
            }
            other => self.colder(other)?,
        }
        Ok(())
    }

    fn colder(&mut self, op: Op) -> Ran<()> {
        match op {
            Op::Split {
                pattern,
                array,
                seps,
                regex,
            } => self.split_into(pattern, array, seps, regex),
            Op::MatchArray(place) => self.match_array(place),
            Op::Sort {
                indices,
                from,
                to,
                by,
            } => self.sort(indices, from, to, by),
            Op::About(func, place) => self.about(func, place),
            Op::TypeofElem(place) => {
                let array = self.array(place)?;
                let key = self.pop();
                let kind = array
                    .borrow()
                    .get(&self.key(&key))
                    .map_or("untyped", kind_of);
                self.stack.push(Value::string(kind.as_bytes(), &self.meter));
                Ok(())
            }
            Op::Getline(source, target) => self.getline(source, target),
            Op::Printf(count, dest) => self.printf(count as usize, dest),
            Op::OutConst(slot) => {
                if let Some(value) = self.program.consts.get(slot as usize) {
                    let out = self.out.buffer();
                    push_output(out, value, &self.specials.ofmt);
                }
                Ok(())
            }
            Op::OutGlobal(slot) => {
                match self.globals.get(slot as usize) {
                    Some(Value::Array(_)) => return self.array_in_scalar(Place::Global(slot)),
                    Some(value) => push_output(self.out.buffer(), value, &self.specials.ofmt),
                    None => {}
                }
                Ok(())
            }
            Op::OutSpecial(special) => {
                let value = self.special(special)?;
                push_output(self.out.buffer(), &value, &self.specials.ofmt);
                Ok(())
            }
            Op::OutOfs => {
                self.out.buffer().extend_from_slice(&self.specials.ofs);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends the program if standard output can no longer be written.
    pub(super) fn check_stdout(&mut self) -> Ran<()> {
        if self.out.failed() {
            return self.fatal(&[b"print to \"standard output\" failed"]);
        }
        Ok(())
    }

    /// Ends a line of output.
    pub(super) fn out_ors(&mut self) -> Ran<()> {
        self.out.buffer().extend_from_slice(&self.specials.ors);
        self.out.settle(self.sys)?;
        self.check_stdout()
    }

    /// Writes a field straight out of the record.
    pub(super) fn out_field(&mut self, number: usize) -> Ran<()> {
        if number == 0 {
            self.fresh_record()?;
            self.out.put(self.sys, self.record.text())?;
            return Ok(());
        }
        if self.record.loose().is_some() {
            let value = self.field(number)?;
            push_output(self.out.buffer(), &value, &self.specials.ofmt);
            return Ok(());
        }
        self.claim_fields()?;
        if let Some(text) = self.record.bytes(self.sys, number)? {
            self.out.put(self.sys, text)?;
        }
        Ok(())
    }

    /// Makes a number an index of a field.
    pub(super) fn field_number(&mut self, index: f64) -> Ran<usize> {
        if index < 0.0 {
            let shown = format!("{index:.0}");
            return self.fatal(&[b"attempt to access field ", shown.as_bytes()]);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float cast saturates"
        )]
        let number = index as usize;
        Ok(number)
    }

    /// Returns a field; 0 is the record.
    #[inline]
    pub(super) fn field(&mut self, number: usize) -> Ran<Value> {
        if number == 0 {
            self.fresh_record()?;
            return Ok(self.record.whole(&self.meter));
        }
        self.claim_fields()?;
        Ok(self.record.field(self.sys, number, &self.meter)?)
    }

    /// Joins the record's fields, if one was changed since the text was made.
    pub(super) fn fresh_record(&mut self) -> Ran<()> {
        if !self.record.stale() {
            return Ok(());
        }
        let fields = self.record.loose().unwrap_or_default();
        let size: usize = fields
            .iter()
            .map(|value| value.text().map_or(24, <[u8]>::len))
            .sum();
        let size = size.saturating_add(fields.len().saturating_mul(self.specials.ofs.len()));
        self.meter.touch(fields.len().saturating_mul(32));
        self.claim(size)?;
        let mut text = Vec::with_capacity(size);
        for piece in self.record.loose().unwrap_or_default().chunks(FIELDS) {
            for value in piece {
                self.push_text(&mut text, value);
                text.extend_from_slice(&self.specials.ofs);
            }
            if piece.len() == FIELDS {
                self.sys.work_bytes(PIECE)?;
            }
        }
        text.truncate(text.len().saturating_sub(self.specials.ofs.len()));
        self.record.joined(text);
        self.record.recount(&self.meter);
        Ok(())
    }

    /// Asks for the memory of that many fields.
    pub(super) fn reach_fields(&mut self, count: usize) -> Ran<()> {
        if count > MOST_FIELDS {
            return self.fatal(&[b"attempt to use more than 16777216 fields"]);
        }
        self.claim_fields()?;
        let have = self.record.count(self.sys)?;
        // The first field that is assigned makes values of all of them.
        let most = usize::max(count, have);
        let new = match self.record.loose() {
            Some(_) => most - have,
            None => most,
        };
        if new > 0 {
            self.meter.touch(new);
            self.claim(new.saturating_mul(size_of::<Value>()))?;
        }
        Ok(())
    }

    fn set_field(&mut self, number: usize, value: Value) -> Ran<()> {
        if number == 0 {
            let value = self.to_string(&value);
            let text = value.text().unwrap_or_default();
            self.claim(text.len())?;
            self.record.set_counted(text, &self.splitter, &self.meter);
            return Ok(());
        }
        self.reach_fields(number)?;
        let meter = self.meter.clone();
        if let Some(slot) = self
            .record
            .loosen(self.sys, number, &meter)?
            .get_mut(number - 1)
        {
            *slot = value;
        }
        self.record.recount(&meter);
        Ok(())
    }

    /// Takes a target's index from the stack.
    pub(super) fn index_of(&mut self, target: Target) -> Value {
        match target {
            Target::Field | Target::Elem(_) => self.pop(),
            _ => Value::Uninit,
        }
    }

    fn set_below(&mut self, target: Target, value: Value) -> Ran<()> {
        let index = self.index_of(target);
        self.set(target, &index, value)
    }

    /// Stores a value.
    pub(super) fn set(&mut self, target: Target, index: &Value, value: Value) -> Ran<()> {
        match target {
            Target::Global(slot) => {
                if let Some(Value::Array(_)) = self.globals.get(slot as usize) {
                    return self.array_in_scalar(Place::Global(slot));
                }
                if let Some(global) = self.globals.get_mut(slot as usize) {
                    *global = value;
                }
            }
            Target::Local(slot) => {
                let at = self.base + slot as usize;
                if let Some(Value::Array(_)) = self.stack.get(at) {
                    return self.array_in_scalar(Place::Local(slot));
                }
                if let Some(local) = self.stack.get_mut(at) {
                    *local = value;
                }
            }
            Target::Special(special) => self.set_special(special, value)?,
            Target::Field => {
                let number = self.field_number(index.num())?;
                self.set_field(number, value)?;
            }
            Target::Elem(place) => {
                let array = self.array(place)?;
                array.borrow_mut().set(self.key(index), value);
                self.claim(0)?;
            }
        }
        Ok(())
    }

    /// Loads a value.
    pub(super) fn get(&mut self, target: Target, index: &Value) -> Ran<Value> {
        Ok(match target {
            Target::Global(slot) => match self.globals.get(slot as usize) {
                Some(Value::Array(_)) => return self.array_in_scalar(Place::Global(slot)),
                other => other.cloned().unwrap_or_default(),
            },
            Target::Local(slot) => match self.stack.get(self.base + slot as usize) {
                Some(Value::Array(_)) => return self.array_in_scalar(Place::Local(slot)),
                other => other.cloned().unwrap_or_default(),
            },
            Target::Special(special) => self.special(special)?,
            Target::Field => {
                let number = self.field_number(index.num())?;
                self.field(number)?
            }
            Target::Elem(place) => {
                let array = self.array(place)?;
                let key = self.key(index);
                array.borrow_mut().slot(key).clone()
            }
        })
    }

    /// Changes a number in place; returns it before and after.
    fn change(
        &mut self,
        target: Target,
        index: &Value,
        by: impl FnOnce(f64) -> Ran<f64>,
    ) -> Ran<(f64, f64)> {
        if let Target::Elem(place) = target {
            let array = self.array(place)?;
            let mut array = array.borrow_mut();
            let slot = array.slot(self.key(index));
            let old = slot.num();
            let new = by(old)?;
            *slot = Value::Num(new);
            drop(array);
            self.claim(0)?;
            return Ok((old, new));
        }
        let old = self.get(target, index)?.num();
        let new = by(old)?;
        self.set(target, index, Value::Num(new))?;
        Ok((old, new))
    }

    fn augment(&mut self, target: Target, arith: Arith, keep: bool) -> Ran<()> {
        let right = self.pop_num();
        let index = self.index_of(target);
        let (_, new) = self.change(target, &index, |old| compute(arith, old, right, true))?;
        if keep {
            self.stack.push(Value::Num(new));
        }
        Ok(())
    }

    /// Appends to a variable, in place if nobody else holds its text.
    fn append(&mut self, place: Place, keep: bool) -> Ran<()> {
        let more = self.pop();
        let more = self.to_string(&more);
        let target = match place {
            Place::Global(slot) => Target::Global(slot),
            Place::Local(slot) => Target::Local(slot),
        };
        let length = more.text().map_or(0, <[u8]>::len);
        let mut old = self.get(target, &Value::Uninit)?;
        // Growing may double the buffer.
        let have = old.text().map_or(0, <[u8]>::len);
        if have + length > 64 {
            self.claim(usize::max(have, length))?;
        }
        self.set(target, &Value::Uninit, Value::Uninit)?;
        let appended = match &mut old {
            Value::Long(long) => {
                Rc::get_mut(long).map(|long| long.append(more.text().unwrap_or_default()))
            }
            _ => None,
        };
        let new = if appended.is_some() {
            old
        } else {
            let mut text = Vec::with_capacity(have + length + 24);
            self.push_text(&mut text, &old);
            text.extend_from_slice(more.text().unwrap_or_default());
            Value::owned(text, &self.meter)
        };
        if keep {
            self.stack.push(new.clone());
        }
        self.set(target, &Value::Uninit, new)
    }

    fn concat(&mut self, count: usize) -> Ran<()> {
        let from = self.stack.len().saturating_sub(count);
        let total: usize = self
            .stack
            .get(from..)
            .unwrap_or_default()
            .iter()
            .map(|value| value.text().map_or(24, <[u8]>::len))
            .sum();
        self.claim(total)?;
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        for value in self.stack.get(from..).unwrap_or_default() {
            self.push_text(&mut text, value);
        }
        self.stack.truncate(from);
        let value = if text.len() > 4096 {
            Value::owned(std::mem::take(&mut text), &self.meter)
        } else {
            Value::string(&text, &self.meter)
        };
        self.scratch = text;
        self.stack.push(value);
        Ok(())
    }

    fn join_key(&mut self, count: usize) -> Ran<()> {
        let from = self.stack.len().saturating_sub(count);
        let mut text = Vec::new();
        for (index, value) in self
            .stack
            .get(from..)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            if index > 0 {
                text.extend_from_slice(&self.specials.subsep);
            }
            self.push_text(&mut text, value);
        }
        self.claim(text.len())?;
        self.stack.truncate(from);
        self.stack.push(Value::owned(text, &self.meter));
        Ok(())
    }

    fn about(&mut self, func: Func, place: Place) -> Ran<()> {
        let value = match place {
            Place::Global(slot) => self.globals.get(slot as usize),
            Place::Local(slot) => self.stack.get(self.base + slot as usize),
        };
        let value = value.cloned().unwrap_or_default();
        let result = match (func, &value) {
            #[expect(clippy::cast_precision_loss, reason = "no array has 2^53 elements")]
            (Func::Length, Value::Array(array)) => Value::Num(array.borrow().len() as f64),
            (Func::Length, value) => self.length(value),
            (Func::Isarray, value) => Value::truth_value(matches!(value, Value::Array(_))),
            (_, value) => Value::string(kind_of(value).as_bytes(), &self.meter),
        };
        self.stack.push(result);
        Ok(())
    }
}

/// Returns what `typeof` says.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Uninit => "untyped",
        Value::Num(_) => "number",
        Value::Short(_) | Value::Long(_) => "string",
        Value::ShortInput(_) | Value::LongInput(_) => {
            if super::super::number::whole(value.text().unwrap_or_default()).is_some() {
                "strnum"
            } else {
                "string"
            }
        }
        Value::Regex(_) => "regexp",
        Value::Array(_) => "array",
    }
}

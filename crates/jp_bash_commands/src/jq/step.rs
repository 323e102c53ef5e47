//! What each instruction does.

use std::sync::Arc;

use super::code::{Op, Slot};
use super::fail::{self, Fail};
use super::machine::{Done, Kind, Machine, Tracked};
use super::value::{Array, Object, Value};
use super::world::World;
use super::{format, native, ops, paths, print};

impl Machine<'_> {
    /// Runs one instruction.
    #[inline]
    pub(super) fn step(&mut self, world: &mut World<'_>, op: Op) -> Result<Done, Fail> {
        match op {
            Op::Fork(to) => self.push_fork(world, Kind::To(to))?,
            Op::Jump(to) => self.pc = to,
            Op::JumpFalse(to) => {
                let input = self.pop();
                let test = self.pop().truthy();
                self.push(world, input)?;
                if !test {
                    self.pc = to;
                }
            }
            Op::JumpFalsy(to) => {
                if !self.top().truthy() {
                    self.pc = to;
                }
            }
            Op::JumpIfVar(slot, to) => {
                if self.variable(slot).is_some_and(|value| value.truthy()) {
                    self.pc = to;
                }
            }
            Op::Backtrack => return Ok(Done::Back),
            Op::TryBegin(to) => self.push_fork(world, Kind::Try(to))?,
            Op::TryEnd => self.push_fork(world, Kind::TryEnd)?,
            Op::AltBegin(to) => self.push_fork(world, Kind::Alternative(to))?,
            Op::Call(call) => {
                let program = self.program;
                if let Some(call) = program.calls.get(call as usize) {
                    self.call(world, call)?;
                }
            }
            Op::Ret => return self.ret(world),
            Op::Label(slot) => {
                self.labels = self.labels.wrapping_add(1);
                let number = self.labels;
                self.set(slot, Value::Number(f64::from(number)));
                self.push_fork(world, Kind::Label(number))?;
            }
            Op::Break(slot) => {
                self.break_to(slot)?;
                return Ok(Done::Back);
            }
            Op::Mark(slot, to) => {
                self.push_fork(world, Kind::To(to))?;
                let fork = self.newest_fork();
                self.set(slot, Value::Number(f64::from(fork)));
            }
            Op::Cut(slot) => {
                let value = self.pop();
                let fork = self.variable(slot).and_then(|value| value.number());
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the number was made from a u32"
                )]
                self.cut(fork.unwrap_or(0.0) as u32);
                self.push(world, value)?;
            }
            Op::Append(slot) => {
                let value = self.pop();
                if let Some(Value::Array(array)) = self.variable(slot) {
                    Array::edit(array, |items| items.push(value));
                }
                return Ok(Done::Back);
            }
            Op::SetPath(state, path) => {
                self.set_path(world, state, path)?;
                return Ok(Done::Back);
            }
            Op::Error => {
                let value = self.pop();
                return Err(Fail::Error(value));
            }
            Op::Range(from, to) => return self.range(world, from, to),
            Op::Each => return self.begin_each(world),
            _ => self.compute(world, op)?,
        }
        Ok(Done::On)
    }

    /// Runs an instruction that only replaces values.
    #[inline]
    fn compute(&mut self, world: &mut World<'_>, op: Op) -> Result<(), Fail> {
        let result = match op {
            Op::Const(at) => {
                self.discard();
                self.constant(at)
            }
            Op::SubConst(at) => {
                let constant = self.constant(at);
                return self.under(world, constant);
            }
            Op::Dup => self.top().clone(),
            Op::Pop => {
                self.discard();
                return Ok(());
            }
            Op::Load(slot) => {
                self.discard();
                self.get(slot)
            }
            Op::SubLoad(slot) => {
                let value = self.get(slot);
                return self.under(world, value);
            }
            Op::Take(slot) => {
                self.discard();
                self.variable(slot).map(std::mem::take).unwrap_or_default()
            }
            Op::Store(slot) => {
                let value = self.pop();
                self.set(slot, value);
                return Ok(());
            }
            Op::SetBool(slot, value) => {
                self.set(slot, Value::Bool(value));
                return Ok(());
            }
            Op::SubBegin => {
                if let Some(path) = &mut self.path {
                    Arc::make_mut(path).beside += 1;
                }
                self.top().clone()
            }
            Op::SubEnd => {
                if let Some(path) = &mut self.path {
                    let path = Arc::make_mut(path);
                    path.beside = path.beside.saturating_sub(1);
                }
                let (result, input) = (self.pop(), self.pop());
                self.push(world, result)?;
                input
            }
            Op::Field(_) | Op::Index | Op::Pick | Op::Slice => self.follow(world, op)?,
            Op::PathBegin | Op::PathEnd | Op::GetPath => self.path_op(world, op)?,
            Op::Native(id, count) => {
                let mut args: smallvec::SmallVec<[Value; 4]> = smallvec::SmallVec::new();
                for _ in 0..=count {
                    args.push(self.pop());
                }
                native::call(world, id, &mut args)?
            }
            Op::Binary(binary) => {
                self.discard();
                let (left, right) = (self.pop(), self.pop());
                ops::binary(&mut world.fuel, binary, left, right)?
            }
            Op::BinaryTop(binary) => {
                let (left, right) = (self.pop(), self.pop());
                ops::binary(&mut world.fuel, binary, left, right)?
            }
            Op::Negate => {
                let value = self.pop();
                ops::negate(&mut world.fuel, &value)?
            }
            Op::Insert => return self.insert(world),
            Op::Push(list, item) => {
                let item = self.get(item);
                if let Some(Value::Array(list)) = self.variable(list) {
                    Array::edit(list, |list| list.push(item));
                }
                return Ok(());
            }
            Op::DeletePaths(slot) => {
                let gone = self.get(slot);
                let value = self.pop();
                match &gone {
                    Value::Array(list) if list.is_empty() => value,
                    _ => paths::delete(&mut world.fuel, value, &gone)?,
                }
            }
            Op::Format(name) => {
                let name = self.constant(name);
                let value = self.pop();
                format::apply(&mut world.fuel, name.text().unwrap_or_default(), value)?
            }
            Op::Concat(count) => {
                self.discard();
                let mut text = Vec::new();
                for _ in 0..count {
                    let part = self.pop();
                    let part = part.text().unwrap_or_default();
                    world.fuel.room(text.len() + part.len())?;
                    text.extend_from_slice(part);
                }
                Value::owned(text)
            }
            _ => return Ok(()),
        };
        self.push(world, result)
    }

    fn constant(&self, at: u32) -> Value {
        self.program
            .consts
            .get(at as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn get(&mut self, slot: Slot) -> Value {
        self.variable(slot).cloned().unwrap_or_default()
    }

    fn set(&mut self, slot: Slot, value: Value) {
        if let Some(variable) = self.variable(slot) {
            *variable = value;
        }
    }

    /// Puts a value under the top.
    fn under(&mut self, world: &mut World<'_>, value: Value) -> Result<(), Fail> {
        let top = self.pop();
        self.push(world, value)?;
        self.push(world, top)
    }

    fn break_to(&mut self, slot: Slot) -> Result<(), Fail> {
        let label = self.variable(slot).and_then(|value| value.number());
        while let Some(kind) = self.pop_fork() {
            if let Kind::Label(number) = kind
                && Some(f64::from(number)) == label
            {
                return Ok(());
            }
        }
        Err(fail::error("break"))
    }

    fn set_path(&mut self, world: &mut World<'_>, state: Slot, path: Slot) -> Result<(), Fail> {
        let value = self.pop();
        let path = self.get(path);
        let held = self.variable(state).map(std::mem::take).unwrap_or_default();
        let changed = paths::set(&mut world.fuel, held, &path, value)?;
        self.set(state, changed);
        Ok(())
    }

    fn range(&mut self, world: &mut World<'_>, from: Slot, to: Slot) -> Result<Done, Fail> {
        let low = self.variable(from).and_then(|value| value.number());
        let high = self.variable(to).and_then(|value| value.number());
        let (Some(low), Some(high)) = (low, high) else {
            return Err(fail::error("Range bounds must be numeric"));
        };
        if low >= high || low.is_nan() || high.is_nan() {
            return Ok(Done::Back);
        }
        if low + 1.0 < high {
            self.push_fork(world, Kind::To(self.pc - 1))?;
            self.set(from, Value::Number(low + 1.0));
        }
        self.discard();
        self.push(world, Value::Number(low))?;
        Ok(Done::On)
    }

    fn begin_each(&mut self, world: &mut World<'_>) -> Result<Done, Fail> {
        let top = self.top().clone();
        if !self.on_path(&top) {
            let shown = fail::brief(&mut world.fuel, &top)?;
            return Err(fail::error(format!(
                "Invalid path expression near attempt to iterate through {shown}"
            )));
        }
        let len = match &top {
            Value::Array(array) => array.len(),
            Value::Object(object) => object.len(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Literal(_)
            | Value::String(_) => {
                let shown = fail::brief(&mut world.fuel, &top)?;
                return Err(fail::error(format!(
                    "Cannot iterate over {} ({shown})",
                    top.kind_name()
                )));
            }
        };
        drop(top);
        if len == 0 {
            return Ok(Done::Back);
        }
        self.each(world, 0)?;
        Ok(Done::On)
    }

    /// Gives the element of that number of the container on top, with a fork for the ones behind it.
    pub(super) fn each(&mut self, world: &mut World<'_>, at: u32) -> Result<(), Fail> {
        let number = at as usize;
        let tracking = self.tracking();
        let (key, value, more) = match self.top() {
            Value::Array(array) => (
                Value::count(number),
                array.get(number).cloned(),
                number + 1 < array.len(),
            ),
            Value::Object(object) => {
                let member = object.members().get(number);
                let name = member.filter(|_| tracking).map(|(name, _)| name.clone());
                (
                    name.map(Value::String).unwrap_or_default(),
                    member.map(|(_, value)| value.clone()),
                    number + 1 < object.len(),
                )
            }
            _ => (Value::Null, None, false),
        };
        if more {
            self.push_fork(
                world,
                Kind::Each {
                    next: at + 1,
                    pc: self.pc,
                },
            )?;
        }
        self.discard();
        let value = value.unwrap_or_default();
        if tracking {
            self.extend_path(&[key], &value);
        }
        self.push(world, value)
    }

    /// `.a`, `.[k]`, `.[a:b]`.
    fn follow(&mut self, world: &mut World<'_>, op: Op) -> Result<Value, Fail> {
        let value = self.pop();
        let key = match op {
            Op::Field(name) => {
                if !self.tracking()
                    && let Value::Object(object) = &value
                    && let Some(Value::String(name)) = self.program.consts.get(name as usize)
                {
                    return Ok(object.get(name).cloned().unwrap_or_default());
                }
                self.constant(name)
            }
            Op::Slice => {
                let (to, from) = (self.pop(), self.pop());
                ops::slice_key(from, to)
            }
            _ => self.pop(),
        };
        if matches!(op, Op::Pick) {
            return ops::index(&mut world.fuel, &value, &key);
        }
        if !self.on_path(&value) {
            return Err(off_path(world, &key, &value));
        }
        let result = ops::index(&mut world.fuel, &value, &key)?;
        self.extend_path(&[key], &result);
        Ok(result)
    }

    fn path_op(&mut self, world: &mut World<'_>, op: Op) -> Result<Value, Fail> {
        match op {
            Op::PathBegin => {
                let value = self.pop();
                // The outer path waits on the stack: nesting must not be a chain that drops recursively.
                let outer = self.path.take();
                let (path, at, beside) = match outer.as_deref() {
                    Some(outer) => (
                        outer.path.clone(),
                        outer.value.clone(),
                        Value::Number(f64::from(outer.beside)),
                    ),
                    None => Default::default(),
                };
                self.push(world, path)?;
                self.push(world, at)?;
                self.push(world, beside)?;
                self.path = Some(Arc::new(Tracked {
                    path: Value::array(Vec::new()),
                    value: value.clone(),
                    beside: 0,
                }));
                Ok(value)
            }
            Op::PathEnd => {
                let value = self.pop();
                if !self.on_path(&value) {
                    let shown = fail::brief(&mut world.fuel, &value)?;
                    return Err(fail::error(format!(
                        "Invalid path expression with result {shown}"
                    )));
                }
                let found = self.path.take().map(|path| path.path.clone());
                let (beside, value, path) = (self.pop(), self.pop(), self.pop());
                if matches!(path, Value::Array(_)) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "the number was made from a u32"
                    )]
                    let beside = beside.number().unwrap_or(0.0) as u32;
                    self.path = Some(Arc::new(Tracked {
                        path,
                        value,
                        beside,
                    }));
                }
                Ok(found.unwrap_or_default())
            }
            _ => {
                let (value, path) = (self.pop(), self.pop());
                if self.tracking() && !self.on_path(&value) {
                    return Err(off_path(world, &path, &value));
                }
                let result = paths::get(&mut world.fuel, &value, &path)?;
                if let Value::Array(keys) = &path {
                    self.extend_path(keys, &result);
                }
                Ok(result)
            }
        }
    }

    /// Adds a member to an object that is being built.
    fn insert(&mut self, world: &mut World<'_>) -> Result<(), Fail> {
        let input = self.pop();
        let (value, name, object) = (self.pop(), self.pop(), self.pop());
        let (Value::Object(mut object), Value::String(name)) = (object, name.clone()) else {
            let shown = fail::brief(&mut world.fuel, &name)?;
            return Err(fail::error(format!(
                "Cannot use {} ({shown}) as object key",
                name.kind_name()
            )));
        };
        Object::set(&mut object, name, value);
        self.push(world, Value::Object(object))?;
        self.push(world, input)
    }
}

fn off_path(world: &mut World<'_>, key: &Value, value: &Value) -> Fail {
    let shown = (|| {
        Ok::<_, Fail>((
            print::to_json(&mut world.fuel, key)?,
            fail::brief(&mut world.fuel, value)?,
        ))
    })();
    match shown {
        Ok((key, value)) => fail::error(format!(
            "Invalid path expression near attempt to access element {} of {value}",
            String::from_utf8_lossy(&key)
        )),
        Err(fail) => fail,
    }
}

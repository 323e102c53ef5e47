//! Runs code with backtracking, on one list of blocks instead of the machine stack.
//!
//! Values, frames and fork points lie interleaved in one vector, each kind a linked list through it. What
//! is popped is freed only if nothing lies above it; the rest stays for the fork point that will need it.
//! Going back to a fork point is cutting the vector there. So recursion costs memory that is counted, and
//! a call in tail position under no fork costs none.

use std::sync::Arc;

use super::code::{Call, Program, Slot, Target};
use super::fail;
use super::fail::Fail;
use super::value::{Array, Value};
use super::world::World;

/// A place in the list of blocks, one too high: 0 is none.
type At = u32;

enum Block {
    Value {
        value: Value,
        next: At,
    },
    /// A variable of a frame; lies under the frame.
    Variable(Value),
    /// A parameter of a frame; lies under its variables.
    Closure {
        function: u32,
        env: At,
    },
    Frame {
        function: u32,
        env: At,
        ret: u32,
        next: At,
    },
    Fork(Fork),
}

struct Fork {
    kind: Kind,
    values: At,
    frame: At,
    next: At,
    path: Option<Arc<Tracked>>,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Goes on there.
    To(u32),
    /// Goes on there when an error comes, with the error as input.
    Try(u32),
    /// The guarded part is over: an error from behind it is not for the [`Kind::Try`] below.
    TryEnd,
    /// Goes on there when an error comes, with the old input.
    Alternative(u32),
    /// `label`, by its number.
    Label(u32),
    /// The next element of the container on the stack, and the instruction after.
    Each { next: u32, pc: u32 },
}

/// The path that led to the current value, inside `path(…)`.
#[derive(Clone)]
pub(super) struct Tracked {
    pub(super) path: Value,
    pub(super) value: Value,
    /// Inside so many parts that are evaluated beside the path.
    pub(super) beside: u32,
}

/// The machine, at rest between two results.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    blocks: Vec<Block>,
    values: At,
    frame: At,
    fork: At,
    pub(super) pc: u32,
    pub(super) path: Option<Arc<Tracked>>,
    pub(super) labels: u32,
    /// Whether a result was given, so that the next one is found by going back.
    running: bool,
}

/// A frame's return address that ends the program.
const HALT: u32 = u32::MAX;

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            blocks: Vec::new(),
            values: 0,
            frame: 0,
            fork: 0,
            pc: 0,
            path: None,
            labels: 0,
            running: false,
        }
    }

    /// Starts the program on a value.
    pub(super) fn start(&mut self, world: &mut World<'_>, input: Value) -> Result<(), Fail> {
        self.blocks.clear();
        (self.values, self.frame, self.fork) = (0, 0, 0);
        self.path = None;
        self.running = false;
        self.push_frame(world, 0, 0, HALT, 0, &[])?;
        self.push(world, input)
    }

    /// Returns the next result; after the last one, or after an error, the run is over.
    pub(super) fn next(&mut self, world: &mut World<'_>) -> Result<Option<Value>, Fail> {
        if self.running && !self.back(world)? {
            return Ok(None);
        }
        self.running = true;
        loop {
            world.fuel.step()?;
            let Some(op) = self.program.code.get(self.pc as usize) else {
                return Ok(None);
            };
            self.pc += 1;
            match self.step(world, *op) {
                Ok(Done::On) => {}
                Ok(Done::Back) => {
                    if !self.back(world)? {
                        return Ok(None);
                    }
                }
                Ok(Done::Result(value)) => return Ok(Some(value)),
                Err(Fail::Error(error)) => self.raise(world, error)?,
                Err(other) => return Err(other),
            }
        }
    }

    #[cold]
    fn grow(&mut self, world: &mut World<'_>) -> Result<(), Fail> {
        let more = usize::max(self.blocks.capacity(), 64);
        world.fuel.room(more * 2 * size_of::<Block>())?;
        self.blocks
            .try_reserve_exact(more)
            .map_err(|_| fail::memory())?;
        Ok(())
    }

    #[inline]
    fn block(&mut self, world: &mut World<'_>, block: Block) -> Result<At, Fail> {
        if self.blocks.len() == self.blocks.capacity() {
            self.grow(world)?;
        }
        self.blocks.push(block);
        u32::try_from(self.blocks.len()).map_err(|_| fail::memory())
    }

    #[inline]
    pub(super) fn push(&mut self, world: &mut World<'_>, value: Value) -> Result<(), Fail> {
        let next = self.values;
        self.values = self.block(world, Block::Value { value, next })?;
        Ok(())
    }

    #[inline]
    fn is_last(&self, at: At) -> bool {
        at as usize == self.blocks.len()
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Value {
        let at = self.values;
        if self.is_last(at) {
            if let Some(Block::Value { value, next }) = self.blocks.pop() {
                self.values = next;
                return value;
            }
        } else if let Some(Block::Value { value, next }) = self.blocks.get(place(at)) {
            let value = value.clone();
            self.values = *next;
            return value;
        }
        Value::Null
    }

    /// Drops the top without copying it.
    #[inline]
    pub(super) fn discard(&mut self) {
        let at = self.values;
        if self.is_last(at) {
            self.pop();
        } else if let Some(Block::Value { next, .. }) = self.blocks.get(place(at)) {
            self.values = *next;
        }
    }

    #[inline]
    pub(super) fn top(&self) -> &Value {
        match self.blocks.get(place(self.values)) {
            Some(Block::Value { value, .. }) => value,
            _ => &Value::Null,
        }
    }

    #[inline]
    pub(super) fn push_fork(&mut self, world: &mut World<'_>, kind: Kind) -> Result<(), Fail> {
        let fork = Fork {
            kind,
            values: self.values,
            frame: self.frame,
            next: self.fork,
            path: self.path.clone(),
        };
        self.fork = self.block(world, Block::Fork(fork))?;
        Ok(())
    }

    /// Cuts back to the newest fork point and removes it.
    #[inline]
    pub(super) fn pop_fork(&mut self) -> Option<Kind> {
        if self.fork == 0 {
            return None;
        }
        self.blocks.truncate(self.fork as usize);
        let Some(Block::Fork(fork)) = self.blocks.pop() else {
            return None;
        };
        self.values = fork.values;
        self.frame = fork.frame;
        self.fork = fork.next;
        self.path = fork.path;
        Some(fork.kind)
    }

    /// Goes back to the newest fork point that has more to give.
    fn back(&mut self, world: &mut World<'_>) -> Result<bool, Fail> {
        loop {
            match self.pop_fork() {
                None => return Ok(false),
                Some(Kind::To(pc)) => {
                    self.pc = pc;
                    return Ok(true);
                }
                Some(Kind::Each { pc, next }) => {
                    self.pc = pc;
                    return self.each(world, next).map(|()| true);
                }
                Some(Kind::Try(_) | Kind::TryEnd | Kind::Alternative(_) | Kind::Label(_)) => {}
            }
        }
    }

    /// Goes back to the handler of an error.
    fn raise(&mut self, world: &mut World<'_>, error: Value) -> Result<(), Fail> {
        let mut skip = 0_u64;
        loop {
            match self.pop_fork() {
                None => return Err(Fail::Error(error)),
                Some(Kind::TryEnd) => skip += 1,
                Some(Kind::Try(_)) if skip > 0 => skip -= 1,
                Some(Kind::Try(pc)) => {
                    self.pc = pc;
                    self.pop();
                    return self.push(world, error);
                }
                Some(Kind::Alternative(pc)) => {
                    self.pc = pc;
                    return Ok(());
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the frame that many levels out.
    #[inline]
    fn env(&self, level: u32) -> At {
        let mut at = self.frame;
        for _ in 0..level {
            match self.blocks.get(place(at)) {
                Some(Block::Frame { env, .. }) => at = *env,
                _ => return 0,
            }
        }
        at
    }

    #[inline]
    pub(super) fn variable(&mut self, slot: Slot) -> Option<&mut Value> {
        let frame = self.env(slot.level);
        let at = place(frame).checked_sub(1 + slot.index as usize)?;
        match self.blocks.get_mut(at) {
            Some(Block::Variable(value)) => Some(value),
            _ => None,
        }
    }

    fn closure(&self, slot: Slot) -> (u32, At) {
        let frame = self.env(slot.level);
        let slots = match self.blocks.get(place(frame)) {
            Some(Block::Frame { function, .. }) => self
                .program
                .functions
                .get(*function as usize)
                .map_or(0, |function| function.slots),
            _ => 0,
        };
        let at = place(frame).checked_sub(1 + slots as usize + slot.index as usize);
        match at.and_then(|at| self.blocks.get(at)) {
            Some(Block::Closure { function, env }) => (*function, *env),
            _ => (0, 0),
        }
    }

    fn resolve(&self, target: Target) -> (u32, At) {
        match target {
            Target::Function(function, level) => (function, self.env(level)),
            Target::Param(slot) => self.closure(slot),
        }
    }

    fn push_frame(
        &mut self,
        world: &mut World<'_>,
        function: u32,
        env: At,
        ret: u32,
        next: At,
        args: &[(u32, At)],
    ) -> Result<(), Fail> {
        for (function, env) in args.iter().rev() {
            self.block(
                world,
                Block::Closure {
                    function: *function,
                    env: *env,
                },
            )?;
        }
        let Some(called) = self.program.functions.get(function as usize) else {
            return Ok(());
        };
        for _ in 0..called.slots {
            self.block(world, Block::Variable(Value::Null))?;
        }
        self.frame = self.block(
            world,
            Block::Frame {
                function,
                env,
                ret,
                next,
            },
        )?;
        self.pc = called.entry;
        Ok(())
    }

    /// Leaves the current frame, and frees it if nothing lies above. Returns where to go on.
    fn pop_frame(&mut self) -> (u32, At) {
        let at = self.frame;
        let Some(Block::Frame {
            function,
            ret,
            next,
            ..
        }) = self.blocks.get(place(at))
        else {
            return (HALT, 0);
        };
        let (ret, next) = (*ret, *next);
        if self.is_last(at)
            && let Some(function) = self.program.functions.get(*function as usize)
        {
            let below = 1 + function.slots as usize + function.params as usize;
            self.blocks.truncate((at as usize).saturating_sub(below));
        }
        self.frame = next;
        (ret, next)
    }

    pub(super) fn call(&mut self, world: &mut World<'_>, call: &Call) -> Result<(), Fail> {
        let input = self.pop();
        let (function, env) = self.resolve(call.target);
        let args: smallvec::SmallVec<[(u32, At); 4]> =
            call.args.iter().map(|arg| self.resolve(*arg)).collect();
        let (ret, next) = if call.tail {
            self.pop_frame()
        } else {
            (self.pc, self.frame)
        };
        self.push_frame(world, function, env, ret, next, &args)?;
        self.push(world, input)
    }

    pub(super) fn ret(&mut self, world: &mut World<'_>) -> Result<Done, Fail> {
        let value = self.pop();
        if let Some(Block::Frame { ret: HALT, .. }) = self.blocks.get(place(self.frame)) {
            return Ok(Done::Result(value));
        }
        let (ret, _) = self.pop_frame();
        self.push(world, value)?;
        self.pc = ret;
        Ok(Done::On)
    }

    /// Returns the number of the newest fork point, for [`Machine::cut`].
    pub(super) fn newest_fork(&self) -> u32 {
        self.fork
    }

    /// Drops everything down to a fork point, and the fork point; the path to the result is kept.
    pub(super) fn cut(&mut self, fork: u32) {
        if let Some(Block::Fork(_)) = self.blocks.get(place(fork)) {
            let path = self.path.take();
            self.fork = fork;
            self.pop_fork();
            self.path = path;
        }
    }

    /// Tells whether the path is being followed here.
    pub(super) fn tracking(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.beside == 0)
    }

    /// Fails if a value is not where the path has led.
    pub(super) fn on_path(&self, value: &Value) -> bool {
        self.path
            .as_ref()
            .is_none_or(|path| path.beside > 0 || path.value.same(value))
    }

    pub(super) fn extend_path(&mut self, keys: &[Value], value: &Value) {
        if !self.tracking() {
            return;
        }
        if let Some(tracked) = &mut self.path {
            let tracked = Arc::make_mut(tracked);
            tracked.value = value.clone();
            if let Value::Array(path) = &mut tracked.path {
                Array::edit(path, |path| path.extend_from_slice(keys));
            }
        }
    }
}

pub(super) enum Done {
    On,
    Back,
    Result(Value),
}

fn place(at: At) -> usize {
    (at as usize).wrapping_sub(1)
}

//! Stacks: a pool of them, and going on with a fresh one when the current one runs low.
//!
//! How deep a script may nest is the budget's business; the machine's stack must never decide it.

use std::cell::RefCell;

use corosensei::on_stack;
use corosensei::stack::{DefaultStack, Stack};

use crate::Shell;

/// How much larger frames are in debug builds, roughly.
const FRAMES: usize = if cfg!(debug_assertions) { 4 } else { 1 };

/// Size of one stack. Address space only: pages become memory when they are used.
const SIZE: usize = FRAMES << 20;

/// What must be left for the shell's own recursion.
const ROOM: usize = FRAMES * (160 << 10);

/// What must be left for one more level of something whose frames are small: an operand, an inner word.
const SMALL_ROOM: usize = FRAMES * (64 << 10);

/// What must be left for a command, whose inner language may nest, and for the parser.
const COMMAND_ROOM: usize = FRAMES * (640 << 10);

/// How many unused stacks a thread keeps.
const KEEP: usize = 16;

thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Takes a stack from the pool; `None` when the host has no address space left.
pub(super) fn take() -> Option<DefaultStack> {
    POOL.with(|pool| pool.borrow_mut().pop())
        .or_else(|| DefaultStack::new(SIZE).ok())
}

/// Gives a stack back.
pub(super) fn give(stack: DefaultStack) {
    POOL.with(|pool| {
        let mut pool = pool.borrow_mut();
        if pool.len() < KEEP {
            pool.push(stack);
        }
    });
}

/// Returns the lowest address of a stack.
pub(super) fn floor(stack: &DefaultStack) -> usize {
    stack.limit().get()
}

/// Runs `f` on a pooled stack and tells it that stack's floor.
pub(super) fn on_fresh<R>(f: impl FnOnce(usize) -> R) -> Option<R> {
    let mut stack = take()?;
    let floor = floor(&stack);
    let result = on_stack(&mut stack, || f(floor));
    give(stack);
    Some(result)
}

#[inline]
fn left(floor: usize) -> usize {
    let here = 0u8;
    (std::ptr::from_ref(&here) as usize).saturating_sub(floor)
}

impl Shell<'_> {
    /// Calls `f` with enough stack for one more level of the shell.
    #[inline]
    pub(crate) fn with_room<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        if left(self.floor) >= ROOM {
            f(self)
        } else {
            self.on_another(f)
        }
    }

    /// Tells whether there is enough stack for a few frames more.
    #[inline]
    pub(crate) fn has_small_room(&self) -> bool {
        left(self.floor) >= SMALL_ROOM
    }

    /// Returns how much stack the parser may use when it is called from here.
    pub(crate) fn parser_stack(&self) -> usize {
        left(self.floor).saturating_sub(SMALL_ROOM)
    }

    /// Calls `f` with enough stack for a command's own recursion.
    #[inline]
    pub(crate) fn with_command_room<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        if left(self.floor) >= COMMAND_ROOM {
            f(self)
        } else {
            self.on_another(f)
        }
    }

    /// Calls `f` on a fresh stack.
    #[cold]
    pub(crate) fn on_another<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let Some(mut stack) = take() else {
            // No address space: the guard page is the last resort, long before it the budget's depth.
            return f(self);
        };
        let outer = std::mem::replace(&mut self.floor, floor(&stack));
        let result = on_stack(&mut stack, || f(self));
        self.floor = outer;
        give(stack);
        result
    }
}

//! Tasks: coroutines that suspend when they must wait, and the scheduler that the first process runs.
//!
//! A suspended coroutine is never dropped: it is resumed with the reason to end, and unwinds with `?`.

use std::cmp::Reverse;
use std::time::Duration;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use jp_bash_system::{Ended, Limit, Pid, Stop};

use crate::kernel::process::Process;
use crate::kernel::{Kernel, State};
use crate::stack;

/// Why a task goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resume {
    /// Something changed; look again.
    Go,
    /// The run ends; unwind.
    End(Stop),
}

/// What a task suspends through.
pub(crate) type YieldTo = Yielder<Resume, ()>;

/// A suspended process.
pub(crate) struct Task {
    coroutine: Coroutine<Resume, (), Ended, DefaultStack>,
}

/// What a process costs: the pages of its stack that it touches, its tables.
const STACK: u64 = 24 << 10;

/// What a new process starts as.
pub(crate) struct Start {
    pub(crate) parent: Pid,
    pub(crate) pid: Pid,
    pub(crate) ignored: u128,
}

impl Kernel {
    /// Starts a process of its own; `body` gets its yielder and the floor of its stack.
    pub(crate) fn start(
        &self,
        start: Start,
        body: impl FnOnce(&YieldTo, usize) -> Ended + 'static,
    ) -> Result<(), Stop> {
        if let Some(stop) = self.ending.get() {
            return Err(stop);
        }
        self.budget.reserve(STACK)?;
        if let Err(stop) = self.count_open() {
            self.budget.release(STACK);
            return Err(stop);
        }
        let Some(stack) = stack::take() else {
            self.budget.release(STACK);
            self.open.set(self.open.get().saturating_sub(1));
            return Err(Stop::Limit(Limit::Memory));
        };
        let floor = stack::floor(&stack);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &YieldTo, first| {
            if let Resume::End(_) = first {
                // The run ended before this process had its first turn.
                return Ended::Signal(crate::signals::KILL);
            }
            // A panic must not pass through the scheduler into a process that did nothing wrong.
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(yielder, floor)))
                .unwrap_or(Ended::Exit(1))
        });
        let group = self.group(start.parent);
        let mut process = Process::new(start.parent, start.pid, group);
        process.ignored = start.ignored;
        self.add_process(start.pid, process);
        self.tasks
            .borrow_mut()
            .insert(start.pid, Task { coroutine });
        self.ready.push(start.pid);
        Ok(())
    }

    /// Tells whether any process runs beside the first one.
    pub(crate) fn has_tasks(&self) -> bool {
        !self.tasks.borrow().is_empty()
    }

    /// Runs others until the first process is woken.
    pub(crate) fn run_until_woken(&self) -> Result<(), Stop> {
        loop {
            self.budget.work(1)?;
            if let Some(stop) = self.ending.get() {
                return Err(stop);
            }
            match self.ready.pop() {
                Some(pid) if pid == self.root() => return Ok(()),
                Some(pid) => self.resume(pid, Resume::Go),
                None => self.wait_for_timer()?,
            }
            self.fire_timers();
        }
    }

    /// Lets everyone run who can, once.
    pub(crate) fn run_others(&self) -> Result<(), Stop> {
        self.fire_timers();
        for _ in 0..self.ready.len() {
            match self.ready.pop() {
                Some(pid) if pid == self.root() => {}
                Some(pid) => self.resume(pid, Resume::Go),
                None => break,
            }
            if let Some(stop) = self.ending.get() {
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Wakes a process at a moment of the monotonic clock.
    pub(crate) fn add_timer(&self, at: Duration, task: Pid) {
        self.timers.borrow_mut().push(Reverse((at, task)));
    }

    /// Tells whether anyone but the first process could go on now.
    pub(crate) fn others_ready(&self) -> bool {
        self.ready.len() > 0 || !self.timers.borrow().is_empty()
    }

    /// Ends everyone who is left: each is resumed with the reason and unwinds.
    pub(crate) fn end_all(&self, stop: Stop) {
        self.ending.set(Some(stop));
        loop {
            let next = self.tasks.borrow().keys().next().copied();
            let Some(pid) = next else { break };
            self.resume(pid, Resume::End(stop));
        }
        self.timers.borrow_mut().clear();
        while self.ready.pop().is_some() {}
    }

    /// Notes a process of `>( )`.
    pub(crate) fn add_consumer(&self, pid: Pid) {
        let mut list = self.consumers.borrow_mut();
        list.retain(|known| matches!(self.state(*known), Some(State::Running | State::Stopped(_))));
        list.push(pid);
    }

    /// Lets the processes of `>( )` read to the end of what the script wrote. Whatever else still runs is
    /// killed first: it would end with the call anyway, and may hold the other end of their pipes.
    pub(crate) fn finish_consumers(&self) -> Result<(), Stop> {
        let consumers = self.consumers.take();
        if consumers.is_empty() {
            return Ok(());
        }
        let others: Vec<Pid> = self.tasks.borrow().keys().copied().collect();
        for pid in others {
            if !self.descends(pid, &consumers) {
                self.signal(pid, crate::signals::KILL);
            }
        }
        for pid in consumers {
            while matches!(self.state(pid), Some(State::Running)) {
                self.wait_on(pid, self.root());
                self.run_until_woken()?;
            }
        }
        Ok(())
    }

    fn descends(&self, pid: Pid, from: &[Pid]) -> bool {
        let mut at = Some(pid);
        while let Some(pid) = at {
            if from.contains(&pid) {
                return true;
            }
            at = self.parent(pid);
        }
        false
    }

    fn resume(&self, pid: Pid, how: Resume) {
        if matches!(how, Resume::Go) && matches!(self.state(pid), Some(State::Stopped(_))) {
            // It looks again when SIGCONT comes; SIGKILL ends it even so.
            if self.pending(pid) & ((1 << 9) | (1 << 18)) == 0 {
                return;
            }
            self.set_state(pid, State::Running);
        }
        let Some(mut task) = self.tasks.borrow_mut().remove(&pid) else {
            return;
        };
        match task.coroutine.resume(how) {
            CoroutineResult::Yield(()) => {
                self.tasks.borrow_mut().insert(pid, task);
            }
            CoroutineResult::Return(ended) => {
                stack::give(task.coroutine.into_stack());
                self.budget.release(STACK);
                self.open.set(self.open.get().saturating_sub(1));
                self.process_ended(pid, ended);
            }
        }
    }

    fn fire_timers(&self) {
        if self.timers.borrow().is_empty() {
            return;
        }
        let now = self.monotonic();
        let mut timers = self.timers.borrow_mut();
        while timers.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            if let Some(Reverse((_, pid))) = timers.pop() {
                self.ready.push(pid);
            }
        }
    }

    /// Parks the thread until the next timer; without one, nobody will ever go on.
    fn wait_for_timer(&self) -> Result<(), Stop> {
        let next = self.timers.borrow().peek().map(|Reverse((at, _))| *at);
        let Some(at) = next else {
            return Err(Stop::Deadlock);
        };
        self.budget.look()?;
        let until = Duration::min(at, self.budget.deadline());
        let time = until.saturating_sub(self.monotonic());
        if !time.is_zero() {
            (self.host.park)(time);
        }
        self.budget.look()
    }
}

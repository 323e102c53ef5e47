//! Waiting: suspending a task, letting others run, signals that come meanwhile.

use std::time::Duration;

use jp_bash_system::{Ended, Fd, Pid, Stop};

use crate::Shell;
use crate::kernel::file::Object;
use crate::kernel::{Resume, State};
use crate::signals;
use crate::traps::Action;

/// Units of work between two turns of others.
const QUANTUM: u32 = 2048;

impl Shell<'_> {
    /// Suspends until someone wakes this task; whoever calls has put itself on a list and looks again.
    pub(crate) fn block(&mut self) -> Result<(), Stop> {
        if let Some(stop) = self.kernel.ending.get() {
            return Err(stop);
        }
        match self.task {
            Some(yielder) => {
                if let Resume::End(stop) = yielder.suspend(()) {
                    return Err(stop);
                }
            }
            None => self.kernel.run_until_woken()?,
        }
        self.quantum = QUANTUM;
        self.default_signals()
    }

    /// Counts work; now and then lets others run.
    #[inline]
    pub(crate) fn tick(&mut self, units: u32) -> Result<(), Stop> {
        match self.quantum.checked_sub(units) {
            Some(left) => {
                self.quantum = left;
                Ok(())
            }
            None => self.give_turn(),
        }
    }

    /// Lets everyone run who can.
    #[cold]
    pub(crate) fn give_turn(&mut self) -> Result<(), Stop> {
        self.quantum = QUANTUM;
        if let Some(stop) = self.kernel.ending.get() {
            return Err(stop);
        }
        match self.task {
            Some(_) => {
                self.kernel.ready.push(self.task_pid);
                self.block()
            }
            None if self.kernel.others_ready() => {
                self.kernel.run_others()?;
                self.default_signals()
            }
            None => Ok(()),
        }
    }

    /// Does what signals without a trap do: end this process, stop it, or nothing.
    #[inline]
    pub(crate) fn default_signals(&mut self) -> Result<(), Stop> {
        if self.kernel.signals.get() == 0 {
            return Ok(());
        }
        self.default_waiting_signals()
    }

    fn default_waiting_signals(&mut self) -> Result<(), Stop> {
        if self.pid != self.task_pid && !self.dying {
            // Whoever waits for this process was killed: it ends too, as a process group does.
            let outside = self.kernel.pending_outside(self.pid);
            if outside != 0
                && let Some(signal) = (1..65).find(|signal| {
                    outside >> signal & 1 != 0
                        && signals::is_fatal(*signal)
                        && !signals::stops(*signal)
                })
            {
                return Err(Stop::Signal(signal));
            }
        }
        let pending = self.kernel.pending(self.pid);
        if pending == 0 {
            return Ok(());
        }
        for signal in 1..65 {
            if pending >> signal & 1 == 0 {
                continue;
            }
            match self.traps.get(signal) {
                Some(Action::Run(_)) if signal != signals::KILL && signal != signals::STOP => {}
                Some(Action::Ignore) => self.kernel.delivered(self.pid, signal),
                _ if signals::stops(signal) => {
                    self.kernel.delivered(self.pid, signal);
                    if self.task.is_some() {
                        self.kernel.set_state(self.pid, State::Stopped(signal));
                        self.block()?;
                    }
                }
                // Stays pending: what is run inline ends first, then the process itself.
                _ if signals::is_fatal(signal) => return Err(Stop::Signal(signal)),
                _ => self.kernel.delivered(self.pid, signal),
            }
        }
        Ok(())
    }

    /// Tells whether a signal with a trap waits to be handled.
    pub(crate) fn trapped_signal(&self) -> Option<u8> {
        let pending = self.kernel.pending(self.pid);
        if pending == 0 {
            return None;
        }
        (1..65).find(|signal| {
            pending >> signal & 1 != 0 && matches!(self.traps.get(*signal), Some(Action::Run(_)))
        })
    }

    /// Waits until a moment of the monotonic clock.
    pub(crate) fn wait_until(&mut self, at: Duration) -> Result<(), Stop> {
        while self.kernel.monotonic() < at {
            self.kernel.add_timer(at, self.task_pid);
            self.block()?;
        }
        Ok(())
    }

    /// Waits until a descriptor has something to read (or has ended), at most until then; tells whether it has.
    pub(crate) fn wait_readable(&mut self, fd: Fd, until: Duration) -> Result<bool, Stop> {
        loop {
            let Some(file) = self.fds.get(fd).cloned() else {
                return Ok(true);
            };
            let Object::Pipe(pipe) = &file.object else {
                return Ok(true);
            };
            if pipe.readable() {
                return Ok(true);
            }
            if self.kernel.monotonic() >= until {
                return Ok(false);
            }
            pipe.waiters.add(self.task_pid);
            self.kernel.add_timer(until, self.task_pid);
            self.block()?;
        }
    }

    /// Waits for a process to end and forgets it; `None` if there is none.
    pub(crate) fn wait_process(&mut self, pid: Pid) -> Result<Option<Ended>, Stop> {
        loop {
            match self.kernel.state(pid) {
                None => return Ok(None),
                Some(State::Ended(how)) => {
                    self.kernel.reap(pid);
                    return Ok(Some(how));
                }
                Some(_) => {
                    self.kernel.wait_on(pid, self.task_pid);
                    self.block()?;
                }
            }
        }
    }
}

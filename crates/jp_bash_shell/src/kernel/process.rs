//! The table of processes: who is whose child, how each ended, which signals wait for it.

use jp_bash_system::{Ended, Pid};

use crate::kernel::Kernel;
use crate::kernel::pipe::Waiters;

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// By SIGSTOP or SIGTSTP; goes on with SIGCONT.
    Stopped(u8),
    Ended(Ended),
}

/// Whom a signal is sent to.
#[derive(Clone, Copy)]
enum To {
    Process,
    Group,
}

/// One process.
pub(crate) struct Process {
    pub(crate) parent: Pid,
    /// The task it runs in: its own, or that of the shell that runs it inline.
    pub(crate) task: Pid,
    pub(crate) state: State,
    /// Signals that wait, one bit each.
    pub(crate) pending: u128,
    pub(crate) waiters: Waiters,
    /// Signals it ignores.
    pub(crate) ignored: u128,
    /// Signals it has a trap for.
    caught: u128,
    /// Signals that came to it with its whole group: its own traps deal with those, whoever else they end.
    with_group: u128,
    /// The group that `kill 0` and `kill -- -PID` mean.
    group: Pid,
}

impl Process {
    pub(crate) fn new(parent: Pid, task: Pid, group: Pid) -> Self {
        Self {
            parent,
            task,
            state: State::Running,
            pending: 0,
            waiters: Waiters::default(),
            ignored: 0,
            caught: 0,
            with_group: 0,
            group,
        }
    }
}

impl Kernel {
    /// Adds a process that runs inline in the task of its parent.
    pub(crate) fn enter_process(&self, parent: Pid, ignored: u128) -> Pid {
        let pid = self.new_pid();
        let mut table = self.processes.borrow_mut();
        let (task, group) = table
            .get(&parent)
            .map_or((parent, parent), |process| (process.task, process.group));
        let mut process = Process::new(parent, task, group);
        process.ignored = ignored;
        table.insert(pid, process);
        pid
    }

    /// Removes a process that ran inline.
    pub(crate) fn leave_process(&self, pid: Pid) {
        let removed = self.processes.borrow_mut().remove(&pid);
        if let Some(process) = removed {
            self.forget_signals(process.pending);
            process.waiters.wake(&self.ready);
        }
    }

    pub(super) fn add_process(&self, pid: Pid, process: Process) {
        self.processes.borrow_mut().insert(pid, process);
    }

    /// Marks a process as ended and wakes who waits for it.
    pub(crate) fn process_ended(&self, pid: Pid, how: Ended) {
        let mut table = self.processes.borrow_mut();
        let mut parent = None;
        if let Some(process) = table.get_mut(&pid) {
            process.state = State::Ended(how);
            self.forget_signals(std::mem::take(&mut process.pending));
            process.waiters.wake(&self.ready);
            parent = Some(process.parent);
        }
        if let Some(parent) = parent.and_then(|pid| table.get(&pid)) {
            parent.waiters.wake(&self.ready);
        }
    }

    /// Returns what a process is doing; `None` if there is none.
    pub(crate) fn state(&self, pid: Pid) -> Option<State> {
        self.processes
            .borrow()
            .get(&pid)
            .map(|process| process.state)
    }

    /// Returns the parent of a process.
    pub(crate) fn parent(&self, pid: Pid) -> Option<Pid> {
        self.processes
            .borrow()
            .get(&pid)
            .map(|process| process.parent)
    }

    /// Forgets a process that has ended.
    pub(crate) fn reap(&self, pid: Pid) {
        self.processes.borrow_mut().remove(&pid);
    }

    /// Puts the caller on the list of those woken when the process changes.
    pub(crate) fn wait_on(&self, pid: Pid, task: Pid) {
        if let Some(process) = self.processes.borrow().get(&pid) {
            process.waiters.add(task);
        }
    }

    /// Returns the group of a process.
    pub(crate) fn group(&self, pid: Pid) -> Pid {
        let table = self.processes.borrow();
        table.get(&pid).map_or(pid, |process| process.group)
    }

    /// Makes a process the first of a group of its own: what it starts belongs to it.
    pub(crate) fn lead_group(&self, pid: Pid) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&pid) {
            process.group = pid;
        }
    }

    /// Sends a signal to all processes of a group; `false` if there is none.
    pub(crate) fn signal_group(&self, group: Pid, signal: u8) -> bool {
        let table = self.processes.borrow();
        let live = |process: &Process| !matches!(process.state, State::Ended(_));
        let mut members: Vec<Pid> = table
            .iter()
            .filter(|(_, process)| process.group == group && live(process))
            .map(|(pid, _)| *pid)
            .collect();
        drop(table);
        // In the order in which they were started, whatever the table's is.
        members.sort_unstable();
        for pid in &members {
            self.post(*pid, signal, To::Group);
        }
        !members.is_empty()
    }

    /// Sends a signal; `false` if there is no such process.
    pub(crate) fn signal(&self, pid: Pid, signal: u8) -> bool {
        self.post(pid, signal, To::Process)
    }

    fn post(&self, pid: Pid, signal: u8, to: To) -> bool {
        let mut table = self.processes.borrow_mut();
        let Some(process) = table.get_mut(&pid) else {
            return false;
        };
        if matches!(process.state, State::Ended(_)) {
            return true;
        }
        let bit = 1u128 << (signal & 127);
        if signal == 0 {
            return true;
        }
        let task = process.task;
        match to {
            To::Group => process.with_group |= bit,
            To::Process => {
                for other in table.values_mut().filter(|other| other.task == task) {
                    other.with_group &= !bit;
                }
            }
        }
        let Some(process) = table.get_mut(&pid) else {
            return false;
        };
        if process.ignored & bit != 0 {
            return true;
        }
        if process.pending & bit == 0 {
            process.pending |= bit;
            self.signals.set(self.signals.get() + 1);
        }
        self.ready.push(task);
        true
    }

    /// Returns the signals that wait for a process.
    pub(crate) fn pending(&self, pid: Pid) -> u128 {
        if self.signals.get() == 0 {
            return 0;
        }
        self.processes
            .borrow()
            .get(&pid)
            .map_or(0, |process| process.pending)
    }

    /// Takes one waiting signal off the list.
    pub(crate) fn delivered(&self, pid: Pid, signal: u8) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&pid) {
            let bit = 1u128 << (signal & 127);
            if process.pending & bit != 0 {
                process.pending &= !bit;
                self.forget_signals(bit);
            }
        }
    }

    /// Says which signals a process ignores, and which it has a trap for.
    pub(crate) fn set_handled(&self, pid: Pid, ignored: u128, caught: u128) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&pid) {
            process.ignored = ignored;
            process.caught = caught;
        }
    }

    /// Keeps signals from a process that is about to end: how it ends is settled.
    pub(crate) fn deafen(&self, pid: Pid) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&pid) {
            process.ignored = u128::MAX;
            self.forget_signals(std::mem::take(&mut process.pending));
        }
    }

    /// Returns the signals that wait for the processes in whose task this one runs inline, less those they
    /// have a trap for and those that this one was sent too. While it runs they cannot look for themselves.
    pub(crate) fn pending_outside(&self, pid: Pid) -> u128 {
        if self.signals.get() == 0 {
            return 0;
        }
        let table = self.processes.borrow();
        let Some(mut process) = table.get(&pid) else {
            return 0;
        };
        let (task, own) = (process.task, process.with_group);
        let mut pending = 0;
        while let Some(outer) = table
            .get(&process.parent)
            .filter(|outer| outer.task == task)
        {
            pending |= outer.pending & !outer.caught;
            process = outer;
        }
        pending & !own
    }

    /// Marks a process as stopped or running again.
    pub(crate) fn set_state(&self, pid: Pid, state: State) {
        if let Some(process) = self.processes.borrow_mut().get_mut(&pid) {
            process.state = state;
            process.waiters.wake(&self.ready);
        }
    }

    fn forget_signals(&self, pending: u128) {
        self.signals
            .set(self.signals.get().saturating_sub(pending.count_ones()));
    }
}

//! What all processes of a run share: files, pipes, tasks, budget, names, output.
//!
//! Lives for one run, on one thread. Knows nothing of the shell language.

pub(crate) mod file;
pub(crate) mod pipe;
mod process;
pub(crate) mod sink;
mod tasks;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

pub(crate) use process::{Process, State};
use tasks::Task;
pub(crate) use tasks::{Resume, Start, YieldTo};

use jp_bash_syntax::names::Names;
use jp_bash_system::{Budget, Limit, Pid, Programs, Stop};

use crate::custom::Builtins;
use crate::host::Host;
use crate::vfs::{Caller, Node, Vfs};
use pipe::{Pipe, Ready};
use sink::Sinks;

/// Who the script believes to be.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) user: Arc<[u8]>,
    pub(crate) host: Arc<[u8]>,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// One run.
pub(crate) struct Kernel {
    pub(crate) vfs: Rc<RefCell<Vfs>>,
    pub(crate) names: RefCell<Names>,
    pub(crate) budget: Rc<Budget>,
    pub(crate) host: Host,
    pub(crate) identity: Identity,
    pub(crate) programs: &'static Programs,
    pub(crate) custom: Builtins,
    pub(crate) sinks: Rc<Sinks>,
    /// When the run began, on the monotonic clock.
    pub(crate) started: Duration,
    pub(crate) ready: Rc<Ready>,
    /// Open-file descriptions and processes at the moment (limit `files`).
    pub(crate) open: Rc<Cell<u64>>,
    /// FIFOs that someone has open, by device and inode.
    pub(crate) fifos: RefCell<FxHashMap<(u64, u64), std::rc::Weak<Pipe>>>,
    pub(crate) patterns: crate::pattern::cache::Cache,
    processes: RefCell<FxHashMap<Pid, Process>>,
    tasks: RefCell<FxHashMap<Pid, Task>>,
    timers: RefCell<std::collections::BinaryHeap<std::cmp::Reverse<(Duration, Pid)>>>,
    next_pid: Cell<Pid>,
    /// Signals sent and not yet looked at by their process.
    pub(crate) signals: Cell<u32>,
    /// Set when the run ends early: whoever is resumed then unwinds.
    pub(crate) ending: Cell<Option<Stop>>,
    /// Processes of `>( )`: the run waits for them, so that nothing they were given is lost.
    consumers: RefCell<Vec<Pid>>,
    /// Missing commands that were explained; `None` where errors are bash's alone.
    explained: Option<RefCell<Vec<Box<[u8]>>>>,
    root: Pid,
}

/// The number of the first process; small numbers are taken on real machines too.
const FIRST_PID: Pid = 100;

/// What a run is made from.
pub(crate) struct Parts {
    pub(crate) vfs: Vfs,
    pub(crate) names: Names,
    pub(crate) budget: Budget,
    pub(crate) host: Host,
    pub(crate) identity: Identity,
    pub(crate) programs: &'static Programs,
    pub(crate) custom: Builtins,
    pub(crate) sinks: Rc<Sinks>,
    /// Nothing is added to what bash prints.
    pub(crate) plain_errors: bool,
}

impl Kernel {
    /// Starts a run.
    pub(crate) fn new(parts: Parts) -> Rc<Self> {
        let started = (parts.host.monotonic)();
        let kernel = Self {
            vfs: Rc::new(RefCell::new(parts.vfs)),
            names: RefCell::new(parts.names),
            budget: Rc::new(parts.budget),
            host: parts.host,
            identity: parts.identity,
            programs: parts.programs,
            custom: parts.custom,
            sinks: parts.sinks,
            started,
            ready: Rc::default(),
            open: Rc::default(),
            fifos: RefCell::default(),
            patterns: crate::pattern::cache::Cache::default(),
            processes: RefCell::default(),
            tasks: RefCell::default(),
            timers: RefCell::default(),
            next_pid: Cell::new(FIRST_PID + 1),
            signals: Cell::new(0),
            ending: Cell::new(None),
            consumers: RefCell::default(),
            explained: (!parts.plain_errors).then(RefCell::default),
            root: FIRST_PID,
        };
        kernel
            .processes
            .borrow_mut()
            .insert(FIRST_PID, Process::new(1, FIRST_PID, FIRST_PID));
        Rc::new(kernel)
    }

    /// Ends a run and gives back what persists.
    pub(crate) fn finish(self: Rc<Self>) -> Option<(Vfs, Names)> {
        let kernel = Rc::into_inner(self)?;
        let vfs = Rc::into_inner(kernel.vfs)?;
        Some((vfs.into_inner(), kernel.names.into_inner()))
    }

    /// Tells whether a missing command is to be explained: each once, and only so many.
    pub(crate) fn explains(&self, name: &[u8], most: usize) -> bool {
        let Some(explained) = &self.explained else {
            return false;
        };
        let mut list = explained.borrow_mut();
        let new = list.len() < most && !list.iter().any(|known| **known == *name);
        if new {
            list.push(name.into());
        }
        new
    }

    /// Returns the number of the first process (`$$`).
    pub(crate) fn root(&self) -> Pid {
        self.root
    }

    /// Returns a number that no process has.
    pub(crate) fn new_pid(&self) -> Pid {
        let pid = self.next_pid.get();
        self.next_pid
            .set(pid.checked_add(1).unwrap_or(FIRST_PID + 1));
        pid
    }

    /// Counts one more open description or process against the limit `files`.
    pub(crate) fn count_open(&self) -> Result<(), Stop> {
        let open = self.open.get() + 1;
        if open > self.budget.bounds().files {
            return Err(Stop::Limit(Limit::Files));
        }
        self.open.set(open);
        Ok(())
    }

    /// Returns who makes a call on files: a process in that directory, now.
    pub(crate) fn caller(&self, cwd: Node) -> Caller<'_> {
        Caller {
            cwd,
            now: self.host.now(),
            quota: &*self.budget,
        }
    }

    /// Returns the time on the monotonic clock.
    pub(crate) fn monotonic(&self) -> Duration {
        (self.host.monotonic)()
    }
}

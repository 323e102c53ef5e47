//! Processes of the shell itself: subshells inline by mark and unwind, forks for what runs beside.

use std::rc::Rc;
use std::sync::Arc;

use jp_bash_system::{Ended, Fd, Pid, Stop};

use crate::args::Args;
use crate::fds::Fds;
use crate::flow::Flow;
use crate::jobs::{self, Jobs};
use crate::kernel::Start;
use crate::kernel::file::OpenFile;
use crate::options::{Opt, Options};
use crate::signals;
use crate::traps::Traps;
use crate::vars::Mark;
use crate::{Aliases, Cwd, Functions, Hashed, Shell};

/// What a subshell may change and gets back when it ends.
struct Saved {
    mark: Mark,
    pid: Pid,
    last_background: Option<Pid>,
    options: Options,
    functions: Functions,
    aliases: Aliases,
    args: Args,
    arg0: Arc<[u8]>,
    fds: Fds,
    cwd: Cwd,
    umask: u32,
    traps: Arc<Traps>,
    jobs: Jobs,
    dir_stack: Arc<Vec<Arc<[u8]>>>,
    hashed: Hashed,
    disabled: Arc<Vec<Box<[u8]>>>,
    completions: crate::Completions,
    history: Arc<crate::builtins::history::History>,
    loops: u32,
    tolerant: u32,
    in_trap: u128,
    children: u32,
    command_text: Arc<[u8]>,
    line: u32,
    temporary_fds: Vec<Fd>,
    computed: crate::vars::dynamic::Computed,
    kept: u64,
    alone: bool,
    hands_on: bool,
}

impl Shell<'_> {
    /// Opens something at a descriptor of this process.
    pub(crate) fn put_fd(&mut self, fd: Fd, file: Rc<OpenFile>) -> Result<(), Flow> {
        let _closed = self.fds.set(fd, Some(file));
        Ok(())
    }

    /// Runs `body` as a subshell of this process: nothing it changes stays, and it cannot leave but by its status.
    pub(crate) fn subshell(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<i32, Flow>,
    ) -> Result<i32, Flow> {
        self.kernel.budget.enter()?;
        let saved = self.enter_subshell();
        let result = self.with_room(|shell| {
            let result = body(shell);
            let ended = shell.end_process(result)?;
            // What it left in the background runs on; it has had time to start.
            if !shell.jobs.list.is_empty() {
                shell.give_turn()?;
            }
            Ok(ended)
        });
        self.leave_subshell(saved);
        self.kernel.budget.leave();
        let result: Result<Ended, Stop> = result;
        let ended = result?;
        self.child_ended();
        self.killed_by = match ended {
            Ended::Signal(signal) => Some(signal),
            Ended::Exit(_) => None,
        };
        let status = jobs::status(ended);
        self.status = status;
        // Someone may have asked for this process while the subshell ran.
        self.default_signals()?;
        Ok(status)
    }

    fn enter_subshell(&mut self) -> Saved {
        let traps = self.subshell_traps();
        let ignored = traps.ignored();
        let pid = self.kernel.enter_process(self.pid, ignored);
        let saved = Saved {
            mark: self.vars.mark(),
            pid: std::mem::replace(&mut self.pid, pid),
            last_background: self.last_background,
            options: self.options,
            functions: Arc::clone(&self.functions),
            aliases: Arc::clone(&self.aliases),
            args: self.args.clone(),
            arg0: Arc::clone(&self.arg0),
            fds: self.fds.clone(),
            cwd: self.cwd.clone(),
            umask: self.umask,
            traps: std::mem::replace(&mut self.traps, traps),
            jobs: {
                let inside = self.jobs.for_subshell();
                std::mem::replace(&mut self.jobs, inside)
            },
            dir_stack: Arc::clone(&self.dir_stack),
            hashed: Arc::clone(&self.hashed),
            disabled: Arc::clone(&self.disabled),
            completions: Arc::clone(&self.completions),
            history: Arc::clone(&self.history),
            loops: std::mem::replace(&mut self.loops, 0),
            tolerant: self.tolerant,
            in_trap: self.in_trap,
            children: std::mem::take(&mut self.children),
            command_text: Arc::clone(&self.command_text),
            line: self.line,
            temporary_fds: std::mem::take(&mut self.temporary_fds),
            computed: self.vars.computed.clone(),
            kept: self.kept,
            alone: std::mem::take(&mut self.alone),
            hands_on: std::mem::take(&mut self.hands_on),
        };
        // Two subshells must not draw the same `RANDOM`.
        self.vars.computed.seed(pid);
        self.subshell += 1;
        saved
    }

    fn subshell_traps(&self) -> Arc<Traps> {
        if self.traps.is_empty() {
            return Arc::clone(&self.traps);
        }
        Arc::new(self.traps.for_subshell(
            self.options.has(Opt::FuncTrace),
            self.options.has(Opt::ErrTrace),
        ))
    }

    fn leave_subshell(&mut self, saved: Saved) {
        self.kernel.leave_process(self.pid);
        self.vars.unwind(&self.kernel.budget, saved.mark);
        self.pid = saved.pid;
        self.last_background = saved.last_background;
        self.options = saved.options;
        self.functions = saved.functions;
        self.aliases = saved.aliases;
        self.args = saved.args;
        self.arg0 = saved.arg0;
        self.fds = saved.fds;
        self.cwd = saved.cwd;
        self.umask = saved.umask;
        self.traps = saved.traps;
        self.jobs = saved.jobs;
        self.dir_stack = saved.dir_stack;
        self.hashed = saved.hashed;
        self.disabled = saved.disabled;
        self.completions = saved.completions;
        self.history = saved.history;
        self.loops = saved.loops;
        self.tolerant = saved.tolerant;
        self.in_trap = saved.in_trap;
        self.children = saved.children;
        self.command_text = saved.command_text;
        self.line = saved.line;
        self.temporary_fds = saved.temporary_fds;
        self.vars.computed = saved.computed;
        self.alone = saved.alone;
        self.hands_on = saved.hands_on;
        self.forget(self.kept.saturating_sub(saved.kept));
        self.subshell = self.subshell.saturating_sub(1);
    }

    /// Copies this shell for a process that runs beside it.
    pub(crate) fn fork(&self) -> Shell<'static> {
        Shell {
            kernel: Rc::clone(&self.kernel),
            task: None,
            task_pid: 0,
            floor: 0,
            quantum: 64,
            pid: 0,
            shell_pid: self.shell_pid,
            parent_pid: self.parent_pid,
            last_background: self.last_background,
            status: self.status,
            pipe_status: self.pipe_status.clone(),
            subshell: self.subshell + 1,
            vars: self.vars.fork(),
            options: self.options,
            functions: Arc::clone(&self.functions),
            aliases: Arc::clone(&self.aliases),
            args: self.args.clone(),
            arg0: Arc::clone(&self.arg0),
            source: self.source,
            frames: self.frames.clone(),
            line: self.line,
            fds: self.fds.clone(),
            cwd: self.cwd.clone(),
            umask: self.umask,
            traps: self.subshell_traps(),
            jobs: self.jobs.for_subshell(),
            dir_stack: Arc::clone(&self.dir_stack),
            hashed: Arc::clone(&self.hashed),
            disabled: Arc::clone(&self.disabled),
            completions: Arc::clone(&self.completions),
            history: Arc::clone(&self.history),
            loops: 0,
            tolerant: self.tolerant,
            command_text: Arc::clone(&self.command_text),
            trace_level: self.trace_level,
            substitution_status: None,
            temporary_fds: Vec::new(),
            in_trap: self.in_trap,
            children: 0,
            killed_by: None,
            debug_done: false,
            line_shift: self.line_shift,
            trace_not: false,
            shows_command: self.shows_command,
            alone: false,
            dying: false,
            locked: self.locked,
            hands_on: false,
            reserved: 0,
            kept: 0,
        }
    }

    /// Starts a process that runs `body` in a copy of this shell.
    pub(crate) fn start_child(
        &mut self,
        mut child: Shell<'static>,
        body: impl FnOnce(&mut Shell<'_>) -> Result<i32, Flow> + 'static,
    ) -> Result<Pid, Flow> {
        if !self.kernel.has_tasks() {
            self.vars.settle_lent(&self.kernel.budget);
        }
        child.vars.count_copy(&self.kernel.budget)?;
        self.kernel.budget.enter()?;
        let pid = self.kernel.new_pid();
        child.pid = pid;
        child.task_pid = pid;
        child.vars.computed.seed(pid);
        let start = Start {
            parent: self.pid,
            pid,
            ignored: child.traps.ignored(),
        };
        let kernel = Rc::clone(&self.kernel);
        let started = kernel.start(start, move |yielder, floor| {
            let mut shell: Shell<'_> = child;
            shell.task = Some(yielder);
            shell.floor = floor;
            let result = body(&mut shell);
            let ended = shell.end_process(result);
            shell.vars.discard(&shell.kernel.budget);
            shell.forget(shell.kept);
            shell.kernel.budget.release(shell.reserved);
            shell.kernel.budget.leave();
            match ended {
                Ok(how) => how,
                Err(stop) => {
                    // A limit ends the whole run, wherever it was reached.
                    if shell.kernel.ending.get().is_none() {
                        shell.kernel.ending.set(Some(stop));
                        shell.kernel.ready.push(shell.kernel.root());
                    }
                    Ended::Signal(signals::KILL)
                }
            }
        });
        if let Err(stop) = started {
            self.kernel.budget.leave();
            return Err(stop.into());
        }
        Ok(pid)
    }

    /// Ends a process: runs its EXIT trap and tells how it ended. Only what ends the run is an error.
    pub(crate) fn end_process(&mut self, result: Result<i32, Flow>) -> Result<Ended, Stop> {
        // Signals that came during the last command have their traps too.
        let result = result.and_then(|status| {
            self.status = status;
            self.handle_signals()?;
            Ok(status)
        });
        let (status, killed) = match result {
            Ok(status) | Err(Flow::Exit(status) | Flow::Return(status) | Flow::Abandon(status)) => {
                (status, None)
            }
            Err(Flow::Break(_) | Flow::Continue(_)) => (self.status, None),
            Err(Flow::Stop(Stop::Signal(signal))) => (128 + i32::from(signal), Some(signal)),
            Err(Flow::Stop(stop)) => return Err(stop),
        };
        self.status = status;
        if let Some(signal) = killed {
            self.kernel.delivered(self.pid, signal);
        }
        if killed == Some(signals::KILL) {
            return Ok(Ended::Signal(signals::KILL));
        }
        let outer = self.dying;
        self.dying |= killed.is_some();
        let result = self.run_exit_trap(status);
        self.dying = outer;
        let status = match result {
            Ok(status) => status,
            Err(Flow::Stop(Stop::Signal(signal))) => return Ok(Ended::Signal(signal)),
            Err(Flow::Stop(stop)) => return Err(stop),
            Err(_) => status,
        };
        Ok(match killed {
            Some(signal) => Ended::Signal(signal),
            None => Ended::Exit(status & 255),
        })
    }
}

//! Running traps: signals, EXIT, ERR, DEBUG, RETURN.

use std::sync::Arc;

use jp_bash_syntax::ast::{Command, CommandKind};
use jp_bash_syntax::print;
use jp_bash_system::Stop;

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::signals;
use crate::traps::Action;

/// Returns a signal as a bit of `in_trap`.
fn bit(signal: u8) -> u128 {
    1 << (signal & 127)
}

impl Shell<'_> {
    /// Handles the signals that came: runs their traps, or ends the process.
    #[inline]
    pub(crate) fn handle_signals(&mut self) -> Result<(), Flow> {
        if self.kernel.signals.get() == 0 {
            return Ok(());
        }
        self.handle_waiting_signals()
    }

    #[cold]
    fn handle_waiting_signals(&mut self) -> Result<(), Flow> {
        self.default_signals()?;
        while let Some(signal) = self.trapped_signal() {
            self.kernel.delivered(self.pid, signal);
            if let Some(Action::Run(text)) = self.traps.get(signal).cloned() {
                self.run_trap_text(signal, &text)?;
            }
        }
        Ok(())
    }

    /// Runs the text of a trap; `$?` is afterwards what it was before.
    pub(super) fn run_trap_text(&mut self, signal: u8, text: &Arc<[u8]>) -> Result<(), Flow> {
        let (status, line) = (self.status, self.line);
        let pipe_status = self.pipe_status.clone();
        let command = Arc::clone(&self.command_text);
        let outer = self.in_trap;
        self.in_trap |= bit(signal);
        let substitution = self.substitution_status.take();
        self.kernel.budget.enter()?;
        let result = self.eval_text(text);
        self.kernel.budget.leave();
        self.in_trap = outer;
        self.substitution_status = substitution;
        self.command_text = command;
        result?;
        self.status = status;
        self.pipe_status = pipe_status;
        self.line = line;
        Ok(())
    }

    /// Runs the EXIT trap of a process that ends, once, and returns its final status.
    pub(crate) fn run_exit_trap(&mut self, status: i32) -> Result<i32, Flow> {
        let Some(Action::Run(text)) = self.traps.get(signals::EXIT).cloned() else {
            return Ok(status);
        };
        Arc::make_mut(&mut self.traps).set(signals::EXIT, None);
        self.status = status;
        self.loops = 0;
        self.in_trap |= bit(signals::EXIT);
        self.line = 1;
        // Under `set -x` the trap of the script itself counts as part of it.
        let level = self.trace_level;
        if self.subshell == 0 {
            self.trace_level = level.wrapping_sub(1);
        }
        let result = self.eval_text(&text);
        self.trace_level = level;
        self.in_trap = 0;
        // One that the trap itself has set does not run.
        Arc::make_mut(&mut self.traps).set(signals::EXIT, None);
        match result {
            Ok(_) => Ok(status),
            Err(Flow::Exit(status)) => Ok(status),
            Err(Flow::Return(_) | Flow::Abandon(_) | Flow::Break(_) | Flow::Continue(_)) => {
                Ok(status)
            }
            Err(flow) => Err(flow),
        }
    }

    pub(super) fn run_err_trap(&mut self, status: i32) -> Result<(), Flow> {
        if self.in_trap & bit(signals::ERR) != 0 {
            return Ok(());
        }
        let Some(Action::Run(text)) = self.traps.get(signals::ERR).cloned() else {
            return Ok(());
        };
        self.status = status;
        self.run_trap_text(signals::ERR, &text)
    }

    /// Runs the DEBUG trap for a stage of a pipeline, before its process starts.
    pub(super) fn announce_stage(&mut self, command: &Command) -> Result<bool, Flow> {
        if !self.has_debug_trap() || !matches!(command.kind, CommandKind::Simple(_)) {
            return Ok(false);
        }
        self.run_debug_trap(command)?;
        Ok(true)
    }

    /// Leaves a text in `BASH_COMMAND`, where traps can see it.
    pub(super) fn show_command(&mut self, text: impl FnOnce(&Self) -> Vec<u8>) {
        if self.has_debug_trap() && self.in_trap == 0 {
            self.command_text = text(self).into();
        }
    }

    /// Tells whether each command is announced to a DEBUG trap.
    #[inline]
    pub(super) fn has_debug_trap(&self) -> bool {
        self.shows_command || self.traps.has_texts()
    }

    /// Runs the DEBUG trap before a command; `false` if the command is to be skipped (`extdebug`).
    pub(super) fn run_debug_trap(&mut self, command: &Command) -> Result<bool, Flow> {
        if std::mem::take(&mut self.debug_done) {
            return Ok(true);
        }
        if self.in_trap == 0 {
            // ERR and EXIT traps see it too.
            let mut text = print::print_command(command, &self.kernel.names.borrow());
            // Loops and `case` show only their first line.
            if matches!(
                command.kind,
                CommandKind::For { .. } | CommandKind::Case { .. } | CommandKind::Select { .. }
            ) {
                let end = memchr::memchr(b'\n', &text).unwrap_or(text.len());
                text.truncate(end);
                if text.last() == Some(&b';') {
                    text.pop();
                }
            }
            self.command_text = text.into();
        }
        let line = self.line;
        if matches!(command.kind, CommandKind::Simple(_) | CommandKind::Arith(_)) {
            self.line = self.line_of(command);
        }
        let result = self.run_debug_text();
        self.line = line;
        result
    }

    /// Runs the DEBUG trap for the command in `BASH_COMMAND`.
    pub(super) fn run_debug_text(&mut self) -> Result<bool, Flow> {
        if self.in_trap & bit(signals::DEBUG) != 0 {
            return Ok(true);
        }
        let Some(Action::Run(text)) = self.traps.get(signals::DEBUG).cloned() else {
            return Ok(true);
        };
        let line = self.line;
        if !self.options.has(Opt::ExtDebug) {
            self.run_trap_text(signals::DEBUG, &text)?;
            return Ok(true);
        }
        let (status, pipe_status) = (self.status, self.pipe_status.clone());
        let outer = self.in_trap;
        self.in_trap |= bit(signals::DEBUG);
        let result = self.eval_text(&text);
        self.in_trap = outer;
        let answer = result?;
        self.status = status;
        self.pipe_status = pipe_status;
        self.line = line;
        if answer == 2 && (self.vars.function_scope().is_some()) {
            return Err(Flow::Return(self.status));
        }
        Ok(answer == 0)
    }

    pub(crate) fn run_return_trap(&mut self) -> Result<(), Flow> {
        if self.in_trap & bit(signals::RETURN) != 0 {
            return Ok(());
        }
        if let Some(Action::Run(text)) = self.traps.get(signals::RETURN).cloned() {
            self.run_trap_text(signals::RETURN, &text)?;
        }
        Ok(())
    }

    /// Sends a signal to this very process and handles it at once.
    pub(crate) fn raise(&mut self, signal: u8) -> Result<(), Flow> {
        self.kernel.signal(self.pid, signal);
        if signal == signals::KILL {
            return Err(Flow::Stop(Stop::Signal(signal)));
        }
        self.handle_signals()
    }
}

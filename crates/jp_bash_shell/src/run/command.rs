//! One command of any kind, with its redirections.

use jp_bash_syntax::ast::{Command, CommandKind, List};
use jp_bash_syntax::print;

use crate::Shell;
use crate::flow::Flow;
use crate::options::Opt;
use crate::signals;

impl Shell<'_> {
    /// Runs one command and returns its status, which is also left in `$?`.
    pub(crate) fn run_command(&mut self, command: &Command) -> Result<i32, Flow> {
        let alone = std::mem::take(&mut self.alone);
        self.handle_signals()?;
        match &command.kind {
            CommandKind::Simple(simple) => {
                self.line = self.line_of(command);
                self.run_simple(command, simple, alone)
            }
            CommandKind::Function(function) => {
                self.line = self.line_of(command);
                self.kernel.budget.command()?;
                let status = self.define_function(function)?;
                self.leave_status(status)
            }
            _ if self.options.has(Opt::NoExec) => Ok(0),
            CommandKind::Subshell(list) if alone => self.run_alone(command, list),
            _ if command.redirects.is_empty() => self.with_room(|shell| shell.run_kind(command)),
            _ => self.with_room(|shell| shell.run_redirected(command)),
        }
    }

    /// Returns the line of a command as `LINENO` counts it.
    #[inline]
    pub(super) fn line_of(&self, command: &Command) -> u32 {
        command.line.wrapping_add(self.line_shift)
    }

    /// Runs `( )` in a process that was started for nothing else, which therefore is the subshell.
    #[cold]
    fn run_alone(&mut self, command: &Command, list: &List) -> Result<i32, Flow> {
        self.with_room(|shell| {
            shell.line = shell.line_of(command);
            shell.show_command(|shell| print::print_command(command, &shell.kernel.names.borrow()));
            if shell.redirect(&command.redirects)?.is_none() {
                return Ok(1);
            }
            shell.run_list(list)
        })
    }

    fn run_redirected(&mut self, command: &Command) -> Result<i32, Flow> {
        if matches!(
            command.kind,
            CommandKind::Subshell(_) | CommandKind::Coproc { .. }
        ) {
            // Their redirections are their own: applied inside.
            return self.run_kind(command);
        }
        self.line = self.line_of(command);
        let temporary = self.temporary_fds.len();
        let Some(saved) = self.redirect(&command.redirects)? else {
            self.close_temporary(temporary);
            return self.finish_checked(1);
        };
        let result = self.run_kind(command);
        self.restore(saved);
        self.close_temporary(temporary);
        result
    }

    fn run_kind(&mut self, command: &Command) -> Result<i32, Flow> {
        match &command.kind {
            CommandKind::Group(list) => self.run_list(list),
            CommandKind::If(choice) => self.run_if(choice),
            CommandKind::While {
                until,
                condition,
                body,
            } => self.run_while(*until, condition, body),
            CommandKind::For {
                name, words, body, ..
            } => self.run_for(command, *name, words.as_deref(), body),
            CommandKind::ForArith {
                init,
                test,
                step,
                body,
            } => {
                let parts = [init.as_deref(), test.as_deref(), step.as_deref()];
                self.run_for_arith(command, parts, body)
            }
            CommandKind::Case { subject, arms } => self.run_case(command, subject, arms),
            CommandKind::Select { name, words, body } => {
                self.run_select(command, *name, words.as_deref(), body)
            }
            CommandKind::Subshell(list) => {
                self.line = self.line_of(command);
                self.show_command(|shell| {
                    print::print_command(command, &shell.kernel.names.borrow())
                });
                let status = self.subshell(|shell| {
                    if shell.redirect(&command.redirects)?.is_none() {
                        return Ok(1);
                    }
                    shell.run_list(list)
                })?;
                self.after_process(command)?;
                self.finish_checked(status)
            }
            CommandKind::Arith(arith) => self.run_arith(command, arith),
            CommandKind::Test(test) => self.run_test(command, test),
            CommandKind::Coproc { name, body } => {
                let status = self.run_coproc(*name, body)?;
                self.leave_status(status)
            }
            CommandKind::Simple(_) | CommandKind::Function(_) => Ok(self.status),
        }
    }

    /// Leaves a status in `$?` and `PIPESTATUS`.
    #[inline]
    pub(super) fn leave_status(&mut self, status: i32) -> Result<i32, Flow> {
        self.status = status;
        self.pipe_status.clear();
        self.pipe_status.push(status);
        Ok(status)
    }

    /// The same, and a failure counts: ERR trap, `set -e`.
    #[inline]
    pub(super) fn finish_checked(&mut self, status: i32) -> Result<i32, Flow> {
        self.leave_status(status)?;
        if status != 0 {
            self.after_failure(status)?;
        }
        Ok(status)
    }

    /// Does what a failed command brings, unless a condition asked for its answer.
    pub(super) fn after_failure(&mut self, status: i32) -> Result<(), Flow> {
        if status == 0 || self.tolerant > 0 {
            return Ok(());
        }
        if self.traps.get(signals::ERR).is_some() {
            self.run_err_trap(status)?;
        }
        if self.options.has(Opt::ErrExit) {
            return Err(Flow::Exit(status));
        }
        Ok(())
    }
}

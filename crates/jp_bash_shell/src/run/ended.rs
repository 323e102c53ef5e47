//! What follows when a child process has ended: the line about a signal that killed it, the CHLD trap, and
//! the jobs that are gone. Does not wait for anything.

use jp_bash_syntax::ast::Command;
use jp_bash_syntax::print;
use jp_bash_system::{Ended, Pid};

use crate::Shell;
use crate::flow::Flow;
use crate::signals;
use crate::traps::Action;

impl Shell<'_> {
    /// Notes that a child has ended, for the CHLD trap.
    pub(crate) fn child_ended(&mut self) {
        self.children = self.children.saturating_add(1);
    }

    /// Does what the end of a command in the foreground brings, if it was a process.
    #[inline]
    pub(super) fn after_process(&mut self, command: &Command) -> Result<(), Flow> {
        if self.children == 0 {
            return Ok(());
        }
        if let Some(signal) = self.killed_by.take()
            && self.subshell == 0
        {
            self.tell_death(signal, command)?;
        }
        if !self.jobs.list.is_empty() {
            self.notify_jobs()?;
        }
        self.tell_children()
    }

    /// Runs the CHLD trap, once for each child that has ended.
    pub(crate) fn tell_children(&mut self) -> Result<(), Flow> {
        let count = std::mem::take(&mut self.children);
        // Children of the trap itself bring no further ones.
        if self.in_trap >> signals::CHLD & 1 != 0 {
            return Ok(());
        }
        let Some(Action::Run(text)) = self.traps.get(signals::CHLD).cloned() else {
            return Ok(());
        };
        for _ in 0..count {
            self.run_trap_text(signals::CHLD, &text)?;
        }
        Ok(())
    }

    /// Prints that a signal ended a command in the foreground.
    fn tell_death(&mut self, signal: u8, command: &Command) -> Result<(), Flow> {
        if matches!(signal, signals::INT | signals::PIPE) {
            return Ok(());
        }
        // Plain where the shell itself expects the signal; Debian's bash does the same for SIGTERM.
        if signal == signals::TERM || self.traps.get(signal).is_some() {
            return self.print_error(format!("{}\n", signals::text(signal)).as_bytes());
        }
        let text = print::print_command(command, &self.kernel.names.borrow());
        let pid = self.kernel.new_pid();
        self.print_death(pid, signal, &text)
    }

    fn print_death(&mut self, pid: Pid, signal: u8, command: &[u8]) -> Result<(), Flow> {
        let mut line = self.error_prefix();
        let what = signals::text(signal);
        line.extend_from_slice(format!("{pid:>5} {what:<23} ").as_bytes());
        line.extend_from_slice(command);
        line.push(b'\n');
        self.print_error(&line)
    }

    /// Tells of jobs that a signal ended, and forgets them.
    fn notify_jobs(&mut self) -> Result<(), Flow> {
        self.collect_jobs();
        let killed = |job: &&crate::jobs::Job| {
            job.done()
                && !job.hidden
                && !job.foreign
                && matches!(job.result(), Some(Ended::Signal(_)))
        };
        let dead: Vec<u32> = self
            .jobs
            .list
            .iter()
            .filter(killed)
            .map(|job| job.number)
            .collect();
        for number in dead {
            self.tell_job(number)?;
            self.jobs.remove(number);
        }
        Ok(())
    }

    /// Prints that a signal ended a job, unless that is no news.
    pub(crate) fn tell_job(&mut self, number: u32) -> Result<(), Flow> {
        let Some(job) = self
            .jobs
            .get(number)
            .filter(|job| !job.hidden && !job.foreign)
        else {
            return Ok(());
        };
        let Some(Ended::Signal(signal)) = job.result() else {
            return Ok(());
        };
        let quiet = matches!(signal, signals::INT | signals::PIPE | signals::TERM);
        if quiet || self.traps.get(signal).is_some() {
            return Ok(());
        }
        let (pid, command) = (job.leader(), job.command.clone());
        self.print_death(pid, signal, &command)
    }
}

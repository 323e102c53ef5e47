//! Pipelines: all stages at once, the last one inline.

use std::sync::Arc;
use std::time::Duration;

use jp_bash_syntax::ast::{CommandKind, Pipeline, Timed};
use jp_bash_system::{Ended, Pid};
use smallvec::SmallVec;

use crate::Shell;
use crate::flow::Flow;
use crate::jobs;
use crate::options::Opt;
use crate::signals;
use crate::vars::known;

impl Shell<'_> {
    /// Runs a pipeline and returns its status.
    pub(super) fn run_pipeline(&mut self, pipeline: &Arc<Pipeline>) -> Result<i32, Flow> {
        if pipeline.timed.is_none()
            && !pipeline.negated
            && let [command] = pipeline.commands.as_slice()
        {
            return self.run_command(command);
        }
        if pipeline.timed.is_some() || pipeline.negated {
            self.alone = false;
        }
        let Some(timed) = pipeline.timed else {
            return self.run_stages(pipeline);
        };
        let start = self.kernel.monotonic();
        let result = self.run_stages(pipeline);
        let took = self.kernel.monotonic().saturating_sub(start);
        if !matches!(result, Err(Flow::Stop(_))) {
            self.report_time(timed, took)?;
        }
        result
    }

    fn run_stages(&mut self, pipeline: &Arc<Pipeline>) -> Result<i32, Flow> {
        self.tolerant += u32::from(pipeline.negated);
        let result = match pipeline.commands.as_slice() {
            [] => Ok(0),
            [command] => self.run_command(command),
            _ => self.run_joined(pipeline),
        };
        self.tolerant -= u32::from(pipeline.negated);
        let status = result?;
        if !pipeline.negated {
            return Ok(status);
        }
        self.status = i32::from(status == 0);
        Ok(self.status)
    }

    fn run_joined(&mut self, pipeline: &Arc<Pipeline>) -> Result<i32, Flow> {
        let last = pipeline.commands.len() - 1;
        let alone = std::mem::take(&mut self.alone);
        let mut pids: SmallVec<[Pid; 4]> = SmallVec::new();
        let mut input = None;
        for at in 0..last {
            let announced = match pipeline.commands.get(at) {
                Some(command) => self.announce_stage(command)?,
                None => false,
            };
            let (read, write) = self.kernel.pipe()?;
            let mut child = self.fork();
            child.debug_done = announced;
            if let Some(input) = input.replace(read) {
                child.put_fd(0, input)?;
            }
            child.put_fd(1, write)?;
            let pipeline = Arc::clone(pipeline);
            pids.push(self.start_child(child, move |shell| {
                shell.alone = true;
                shell.run_stage(&pipeline, at)
            })?);
        }
        // Stages start from left to right, as processes do: each gets a turn before the last one runs.
        self.give_turn()?;
        self.alone = alone;
        let status = self.run_last(pipeline, last, input)?;
        let mut statuses: SmallVec<[i32; 4]> = SmallVec::new();
        for pid in pids {
            let how = self.wait_process(pid)?.unwrap_or(Ended::Exit(127));
            self.child_ended();
            statuses.push(jobs::status(how));
        }
        statuses.push(status);
        let mut status = status;
        if self.options.has(Opt::PipeFail) {
            status = statuses
                .iter()
                .rev()
                .find(|status| **status != 0)
                .copied()
                .unwrap_or(0);
        }
        self.status = status;
        self.pipe_status = statuses;
        self.killed_by = None;
        self.tell_children()?;
        if let Some(command) = pipeline.commands.last() {
            self.line = self.line_of(command);
        }
        self.after_failure(status)?;
        Ok(status)
    }

    /// Runs the stage of a pipeline in its own process.
    pub(super) fn run_stage(&mut self, pipeline: &Pipeline, at: usize) -> Result<i32, Flow> {
        let Some(command) = pipeline.commands.get(at) else {
            return Ok(0);
        };
        let status = self.run_command(command)?;
        // A loop or condition as a stage ends without the EXIT trap that was set in it.
        let forgets = matches!(
            command.kind,
            CommandKind::While { .. }
                | CommandKind::For { .. }
                | CommandKind::ForArith { .. }
                | CommandKind::Case { .. }
                | CommandKind::If(_)
        );
        if forgets && self.traps.get(signals::EXIT).is_some() && self.subshell > 0 {
            Arc::make_mut(&mut self.traps).set(signals::EXIT, None);
        }
        Ok(status)
    }

    fn run_last(
        &mut self,
        pipeline: &Arc<Pipeline>,
        at: usize,
        input: Option<std::rc::Rc<crate::kernel::file::OpenFile>>,
    ) -> Result<i32, Flow> {
        let Some(input) = input else { return Ok(0) };
        // In a process that was started for this pipeline the last stage is that process.
        let alone = std::mem::take(&mut self.alone);
        if alone || self.options.has(Opt::LastPipe) && !self.options.has(Opt::Monitor) {
            let old = self.fds.set(0, Some(input)).unwrap_or_default();
            self.tolerant += 1;
            self.alone = alone;
            let result = self.run_stage(pipeline, at);
            self.tolerant -= 1;
            let _closed = self.fds.set(0, old);
            return result;
        }
        let announced = match pipeline.commands.get(at) {
            Some(command) => self.announce_stage(command)?,
            None => false,
        };
        self.subshell(|shell| {
            shell.put_fd(0, input)?;
            shell.debug_done = announced;
            shell.tolerant += 1;
            shell.alone = true;
            let result = shell.run_stage(pipeline, at);
            shell.tolerant -= 1;
            result
        })
    }

    fn report_time(&mut self, timed: Timed, took: Duration) -> Result<(), Flow> {
        let format = match timed {
            Timed::Posix => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            Timed::Plain => match self.var_text(known::TIMEFORMAT)? {
                Some(format) => format.as_slice().to_vec(),
                None => b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec(),
            },
        };
        if format.is_empty() {
            return Ok(());
        }
        let mut text = time_text(&format, took);
        text.push(b'\n');
        self.print_error(&text)
    }
}

/// Fills in a time format; a virtual machine has no times but the elapsed one.
fn time_text(format: &[u8], took: Duration) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digits = 3;
        if let Some(digit) = rest.next_if(u8::is_ascii_digit) {
            digits = usize::min(usize::from(digit - b'0'), 3);
        }
        let long = rest.next_if_eq(&b'l').is_some();
        let time = match rest.next() {
            Some(b'%') => {
                out.push(b'%');
                continue;
            }
            Some(b'R') => took,
            Some(b'U' | b'S') => Duration::ZERO,
            Some(b'P') => {
                out.extend_from_slice(b"0.00");
                continue;
            }
            Some(other) => {
                out.extend_from_slice(&[b'%', other]);
                continue;
            }
            None => {
                out.push(b'%');
                break;
            }
        };
        push_time(&mut out, time, digits, long);
    }
    out
}

fn push_time(out: &mut Vec<u8>, time: Duration, digits: usize, long: bool) {
    let millis = format!("{:03}", time.subsec_millis());
    let fraction = millis.get(..digits).unwrap_or_default();
    let secs = time.as_secs();
    let mut text = if long {
        format!("{}m{}", secs / 60, secs % 60)
    } else {
        secs.to_string()
    };
    if digits > 0 {
        text.push('.');
        text.push_str(fraction);
    }
    if long {
        text.push('s');
    }
    out.extend_from_slice(text.as_bytes());
}

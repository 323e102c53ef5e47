//! `wait`.

use std::rc::Rc;

use jp_bash_system::Pid;

use super::args::{Getopt, number};
use crate::Shell;
use crate::flow::Flow;
use crate::jobs::status;
use crate::kernel::State;
use crate::vars::Attrs;
use crate::vars::Bytes;

const USAGE: &str = "wait [-fn] [-p var] [id ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut next, mut variable) = (false, None);
    let mut options = Getopt::new(args, "fnp:");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'n' => next = true,
                b'p' => variable = given.value.map(<[u8]>::to_vec),
                _ => {}
            },
            Err(bad) => return shell.bad_option(b"wait", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if let Some(variable) = &variable {
        if crate::vars::subscript::split_target(variable).is_none() {
            let text = [b"`", variable.as_slice(), b"': not a valid identifier"].concat();
            shell.complain_as(b"wait", &text)?;
            return Ok(1);
        }
        let name = shell.intern(variable)?;
        if shell.vars.attrs(name).has(Attrs::READONLY) {
            let text = [variable, &b": cannot unset: readonly variable"[..]].concat();
            shell.complain_as(b"wait", &text)?;
            return Ok(1);
        }
        let kernel = Rc::clone(&shell.kernel);
        shell.vars.unset(&kernel.budget, name)?;
    }
    let waited = if next {
        shell.wait_next(rest)?
    } else if rest.is_empty() {
        return shell.wait_all();
    } else {
        let mut last = (0, None);
        for target in rest {
            last = shell.wait_target(target)?;
        }
        last
    };
    if let (Some(variable), (_, Some(pid))) = (variable, waited) {
        let _refused = shell.set_target(&variable, Bytes::from(pid.to_string().into_bytes()))?;
    }
    Ok(waited.0)
}

/// The status, and who it came from.
type Waited = (i32, Option<Pid>);

impl Shell<'_> {
    fn wait_all(&mut self) -> Result<i32, Flow> {
        loop {
            self.collect_jobs();
            let last = self.last_background;
            let next = self.unfinished_pids().into_iter().find(|pid| {
                Some(*pid) == last || self.jobs.of_pid(*pid).is_some_and(|job| !job.hidden)
            });
            let Some(pid) = next else {
                break;
            };
            self.kernel.wait_on(pid, self.task_pid);
            self.block()?;
            if let Some(signal) = self.trapped_signal() {
                self.handle_signals()?;
                return Ok(128 + i32::from(signal));
            }
        }
        let done: Vec<u32> = self
            .jobs
            .list
            .iter()
            .filter(|job| job.done())
            .map(|job| job.number)
            .collect();
        for number in done {
            self.tell_job(number)?;
            self.jobs.remove(number);
        }
        self.tell_children()?;
        Ok(0)
    }

    /// Waits for one process or job.
    fn wait_target(&mut self, target: &[u8]) -> Result<Waited, Flow> {
        let pid = if let Some(spec) = target.strip_prefix(b"%") {
            match self.jobs.find(spec) {
                Ok(number) => self.jobs.get(number).map_or(0, |job| job.leader()),
                Err(why) => {
                    let text = [target, b": ", why.as_bytes()].concat();
                    self.complain_as(b"wait", &text)?;
                    return Ok((127, None));
                }
            }
        } else {
            match number(target).and_then(|n| Pid::try_from(n).ok()) {
                Some(pid) => pid,
                None => {
                    let text = [target, b": not a pid or valid job spec"].concat();
                    self.complain_as(b"wait", &text.replace_pid_text())?;
                    return Ok((1, None));
                }
            }
        };
        self.wait_pid(pid)
    }

    fn wait_pid(&mut self, pid: Pid) -> Result<Waited, Flow> {
        loop {
            self.collect_jobs();
            let mine = |job: &&crate::jobs::Job| !job.foreign && job.pids.contains(&pid);
            if let Some(job) = self.jobs.list.iter().find(mine) {
                let at = job.pids.iter().position(|known| *known == pid).unwrap_or(0);
                if let Some(Some(how)) = job.ended.get(at).copied() {
                    let number = job.number;
                    if job.done() {
                        self.tell_job(number)?;
                        self.jobs.remove(number);
                    }
                    self.tell_children()?;
                    return Ok((status(how), Some(pid)));
                }
            } else if let Some((_, status)) =
                self.jobs.past.iter().rev().find(|(known, _)| *known == pid)
            {
                return Ok((*status, Some(pid)));
            } else {
                let text = format!("pid {pid} is not a child of this shell");
                self.complain_as(b"wait", text.as_bytes())?;
                return Ok((127, None));
            }
            self.kernel.wait_on(pid, self.task_pid);
            self.block()?;
            if let Some(signal) = self.trapped_signal() {
                self.handle_signals()?;
                return Ok((128 + i32::from(signal), None));
            }
        }
    }

    /// `wait -n`: whichever of these ends first.
    fn wait_next(&mut self, targets: &[Vec<u8>]) -> Result<Waited, Flow> {
        let mut wanted: Vec<Pid> = Vec::new();
        for target in targets {
            if let Some(spec) = target.strip_prefix(b"%") {
                if let Ok(number) = self.jobs.find(spec) {
                    wanted.extend(self.jobs.get(number).map(|job| job.leader()));
                }
            } else {
                wanted.extend(number(target).and_then(|n| Pid::try_from(n).ok()));
            }
        }
        loop {
            self.collect_jobs();
            let ours = |pid: &Pid| targets.is_empty() || wanted.contains(pid);
            let done = self
                .jobs
                .list
                .iter()
                .filter(|job| job.done() && !job.hidden && ours(&job.leader()))
                .min_by_key(|job| job.number)
                .map(|job| (job.number, job.leader(), job.result()));
            if let Some((number, pid, how)) = done {
                self.tell_job(number)?;
                self.jobs.remove(number);
                self.tell_children()?;
                return Ok((how.map_or(0, status), Some(pid)));
            }
            let running: Vec<Pid> = self
                .unfinished_pids()
                .into_iter()
                .filter(|pid| ours(pid))
                .collect();
            if running.is_empty() {
                return Ok((127, None));
            }
            for pid in running {
                self.kernel.wait_on(pid, self.task_pid);
            }
            self.block()?;
            if let Some(signal) = self.trapped_signal() {
                self.handle_signals()?;
                return Ok((128 + i32::from(signal), None));
            }
        }
    }

    fn unfinished_pids(&self) -> Vec<Pid> {
        self.jobs
            .list
            .iter()
            .filter(|job| !job.foreign)
            .flat_map(|job| job.pids.iter().zip(&job.ended))
            .filter(|(_, ended)| ended.is_none())
            .map(|(pid, _)| *pid)
            .collect()
    }

    /// Writes down which processes of jobs have ended.
    pub(crate) fn collect_jobs(&mut self) {
        for pid in self.unfinished_pids() {
            match self.kernel.state(pid) {
                Some(State::Ended(how)) => {
                    self.kernel.reap(pid);
                    self.jobs.note(pid, how);
                    self.child_ended();
                }
                Some(State::Stopped(signal)) => {
                    for job in &mut self.jobs.list {
                        if job.pids.contains(&pid) {
                            job.stopped = Some(signal);
                        }
                    }
                }
                Some(State::Running) => {
                    for job in &mut self.jobs.list {
                        if job.pids.contains(&pid) {
                            job.stopped = None;
                        }
                    }
                }
                None => self.jobs.note(pid, jp_bash_system::Ended::Exit(127)),
            }
        }
    }
}

/// bash quotes the bad operand of `wait`.
trait Quoted {
    fn replace_pid_text(&self) -> Vec<u8>;
}

impl Quoted for Vec<u8> {
    fn replace_pid_text(&self) -> Vec<u8> {
        let at = memchr::memmem::find(self, b": not a pid").unwrap_or(self.len());
        let (word, rest) = self.split_at(at);
        [b"`", word, b"'", rest].concat()
    }
}

//! The jobs of a shell: what `&` started, and how each ended.

use jp_bash_system::{Ended, Pid};

/// One job.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) number: u32,
    /// The processes of its pipeline; the last one is `$!`.
    pub(crate) pids: Vec<Pid>,
    /// How each ended, as far as that is known.
    pub(crate) ended: Vec<Option<Ended>>,
    /// As written, for `jobs`.
    pub(crate) command: Vec<u8>,
    pub(crate) stopped: Option<u8>,
    /// A process substitution: `wait` knows it, `jobs` does not show it.
    pub(crate) hidden: bool,
    /// A job of the shell that this subshell came from: shown, not waited for.
    pub(crate) foreign: bool,
    /// `disown -h`
    pub(crate) no_hup: bool,
    /// The shell has told about its present state.
    pub(crate) notified: bool,
}

impl Job {
    /// Tells whether all of it has ended.
    pub(crate) fn done(&self) -> bool {
        self.ended.iter().all(Option::is_some)
    }

    /// Returns the process that `$!` names.
    pub(crate) fn leader(&self) -> Pid {
        self.pids.last().copied().unwrap_or(0)
    }

    /// Returns how the last process ended.
    pub(crate) fn result(&self) -> Option<Ended> {
        self.ended.last().copied().flatten()
    }
}

/// The table. Empty in a new subshell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jobs {
    pub(crate) list: Vec<Job>,
    /// Statuses of background processes whose job is gone: `wait PID` still answers.
    pub(crate) past: Vec<(Pid, i32)>,
    /// `%+` first, `%-` second.
    recent: Vec<u32>,
}

/// How many ended processes are remembered (bash: at least CHILD_MAX).
const REMEMBER: usize = 4096;

impl Jobs {
    /// Adds a job and makes it the current one.
    pub(crate) fn add(&mut self, pids: Vec<Pid>, command: Vec<u8>) -> u32 {
        let number = self.list.iter().map(|job| job.number).max().unwrap_or(0) + 1;
        self.push(number, pids, command, false);
        self.recent.insert(0, number);
        number
    }

    /// Adds a process substitution; only the last one counts.
    pub(crate) fn add_hidden(&mut self, pid: Pid) {
        self.list.retain(|job| !job.hidden);
        self.push(0, vec![pid], Vec::new(), true);
    }

    /// Returns what a subshell sees of these jobs.
    pub(crate) fn for_subshell(&self) -> Self {
        if self.list.is_empty() {
            return Self::default();
        }
        let mut jobs = self.clone();
        jobs.past.clear();
        jobs.list.retain(|job| !job.hidden);
        for job in &mut jobs.list {
            job.foreign = true;
        }
        jobs
    }

    /// Forgets the jobs of the shell outside: the first job of its own makes a subshell do so.
    pub(crate) fn forget_foreign(&mut self) {
        self.list.retain(|job| !job.foreign);
        let known: Vec<u32> = self.list.iter().map(|job| job.number).collect();
        self.recent.retain(|number| known.contains(number));
    }

    fn push(&mut self, number: u32, pids: Vec<Pid>, command: Vec<u8>, hidden: bool) {
        self.list.push(Job {
            number,
            ended: vec![None; pids.len()],
            pids,
            command,
            stopped: None,
            no_hup: false,
            notified: false,
            hidden,
            foreign: false,
        });
    }

    /// Returns a job by number.
    pub(crate) fn get(&self, number: u32) -> Option<&Job> {
        self.list.iter().find(|job| job.number == number)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Job> {
        self.list.iter_mut().find(|job| job.number == number)
    }

    /// Returns the job that has the process.
    pub(crate) fn of_pid(&self, pid: Pid) -> Option<&Job> {
        self.list.iter().find(|job| job.pids.contains(&pid))
    }

    /// Writes down how a process ended.
    pub(crate) fn note(&mut self, pid: Pid, how: Ended) {
        for job in &mut self.list {
            for (known, ended) in job.pids.iter().zip(&mut job.ended) {
                if *known == pid {
                    *ended = Some(how);
                    job.notified = false;
                }
            }
        }
    }

    /// Forgets a job; its status stays known to `wait PID`.
    pub(crate) fn remove(&mut self, number: u32) {
        if let Some(at) = self.list.iter().position(|job| job.number == number) {
            let job = self.list.remove(at);
            if let Some(how) = job.result() {
                self.remember(job.leader(), status(how));
            }
        }
        self.recent.retain(|known| *known != number);
    }

    /// Keeps the status of an ended process.
    pub(crate) fn remember(&mut self, pid: Pid, status: i32) {
        if self.past.len() >= REMEMBER {
            self.past.remove(0);
        }
        self.past.push((pid, status));
    }

    /// Returns `%+`: a stopped job before others.
    pub(crate) fn current(&self) -> Option<u32> {
        self.ordered().next()
    }

    /// Returns `%-`; with one job only, that one.
    pub(crate) fn previous(&self) -> Option<u32> {
        self.ordered().nth(1).or_else(|| self.current())
    }

    fn ordered(&self) -> impl Iterator<Item = u32> + '_ {
        let stopped = |number: &u32| self.get(*number).is_some_and(|job| job.stopped.is_some());
        let live = |number: &u32| self.get(*number).is_some();
        self.recent
            .iter()
            .copied()
            .filter(move |number| stopped(number))
            .chain(
                self.recent
                    .iter()
                    .copied()
                    .filter(move |number| live(number) && !stopped(number)),
            )
    }

    /// Finds a job by what stands behind `%`.
    pub(crate) fn find(&self, spec: &[u8]) -> Result<u32, &'static str> {
        match spec {
            b"" | b"%" | b"+" => return self.current().ok_or("current: no such job"),
            b"-" => return self.previous().ok_or("no such job"),
            _ => {}
        }
        if let Some(number) = std::str::from_utf8(spec).ok().and_then(|s| s.parse().ok()) {
            return self.get(number).map(|job| job.number).ok_or("no such job");
        }
        let found: Vec<u32> = self
            .list
            .iter()
            .filter(|job| match spec.strip_prefix(b"?") {
                Some(part) => memchr::memmem::find(&job.command, part).is_some(),
                None => job.command.starts_with(spec),
            })
            .map(|job| job.number)
            .collect();
        match found.as_slice() {
            [] => Err("no such job"),
            [one] => Ok(*one),
            _ => Err("ambiguous job spec"),
        }
    }
}

/// Returns `$?` for how a process ended.
pub(crate) fn status(how: Ended) -> i32 {
    match how {
        Ended::Exit(code) => code,
        Ended::Signal(signal) => 128 + i32::from(signal),
    }
}

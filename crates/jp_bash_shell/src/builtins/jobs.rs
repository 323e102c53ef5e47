//! `jobs`, `fg`, `bg`, `disown`.

use jp_bash_system::{Ended, Pid};

use super::args::{Getopt, number};
use crate::Shell;
use crate::flow::Flow;
use crate::jobs::{Job, status};
use crate::options::Opt;
use crate::signals;

const USAGE: &str = "jobs [-lnprs] [jobspec ...] or jobs -x command [args]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut long, mut changed, mut pids) = (false, false, false);
    let (mut running, mut stopped) = (false, false);
    let mut options = Getopt::new(args, "lnprsx");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'l' => long = true,
                b'n' => changed = true,
                b'p' => pids = true,
                b'r' => running = true,
                b's' => stopped = true,
                _ => return run_with_pids(shell, options.rest()),
            },
            Err(bad) => return shell.bad_option(b"jobs", &bad, USAGE),
        }
    }
    shell.collect_jobs();
    let mut wanted = Vec::new();
    let mut failed = false;
    for spec in options.rest() {
        let name = spec.strip_prefix(b"%").unwrap_or(spec);
        match shell.jobs.find(name) {
            Ok(number) => wanted.push(number),
            Err(why) => {
                shell.complain_as(b"jobs", &[spec, &b": "[..], why.as_bytes()].concat())?;
                failed = true;
            }
        }
    }
    let all = options.rest().is_empty();
    let mut out = Vec::new();
    let (current, previous) = (shell.jobs.current(), shell.jobs.previous());
    let mut shown = Vec::new();
    for job in &shell.jobs.list {
        let fits = !job.hidden
            && (all || wanted.contains(&job.number))
            && (!running || (!job.done() && job.stopped.is_none()))
            && (!stopped || job.stopped.is_some())
            && (!changed || !job.notified);
        if !fits {
            continue;
        }
        shown.push(job.number);
        if pids {
            let first = job.pids.first().copied().unwrap_or(0);
            out.extend_from_slice(format!("{first}\n").as_bytes());
        } else {
            out.extend_from_slice(&line(job, current, previous, long));
        }
    }
    for number in shown {
        if shell.jobs.get(number).is_some_and(Job::done) {
            shell.jobs.remove(number);
        } else if let Some(job) = shell.jobs.get_mut(number) {
            job.notified = true;
        }
    }
    let printed = shell.print(b"jobs", &out)?;
    Ok(i32::max(printed, i32::from(failed)))
}

/// `jobs -x`: runs a command with the processes of jobs in place of their names.
fn run_with_pids(shell: &mut Shell<'_>, words: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut call = Vec::with_capacity(words.len());
    for word in words {
        let job = word
            .strip_prefix(b"%")
            .and_then(|spec| shell.jobs.find(spec).ok())
            .and_then(|number| shell.jobs.get(number));
        call.push(match job {
            Some(job) => job.leader().to_string().into_bytes(),
            None => word.clone(),
        });
    }
    let Some(name) = call.first() else {
        return Ok(0);
    };
    let found = shell.find_command(name)?;
    shell.dispatch(call, found)
}

fn line(job: &Job, current: Option<u32>, previous: Option<u32>, long: bool) -> Vec<u8> {
    let mark = if Some(job.number) == current {
        '+'
    } else if Some(job.number) == previous {
        '-'
    } else {
        ' '
    };
    let state = match (job.stopped, job.result()) {
        (Some(_), None) => "Stopped".to_owned(),
        (None, None) => "Running".to_owned(),
        (_, Some(Ended::Exit(0))) => "Done".to_owned(),
        (_, Some(Ended::Exit(code))) => format!("Exit {code}"),
        (_, Some(Ended::Signal(signal))) => signals::text(signal),
    };
    let pid = if long {
        format!("{} ", job.leader())
    } else {
        String::new()
    };
    let head = if long {
        format!("[{}]{mark} {pid}{state:<23} ", job.number)
    } else {
        format!("[{}]{mark}  {state:<23} ", job.number)
    };
    let end: &[u8] = if job.done() || job.stopped.is_some() {
        b""
    } else {
        b" &"
    };
    [head.as_bytes(), &job.command, end, b"\n"].concat()
}

fn no_control(shell: &mut Shell<'_>, name: &[u8]) -> Result<Option<i32>, Flow> {
    if shell.options.has(Opt::Monitor) {
        return Ok(None);
    }
    shell.complain_as(name, b"no job control")?;
    Ok(Some(1))
}

fn job_of(shell: &mut Shell<'_>, name: &[u8], spec: Option<&Vec<u8>>) -> Result<Option<u32>, Flow> {
    shell.collect_jobs();
    let text = spec.map_or(&b""[..], Vec::as_slice);
    let bare = text.strip_prefix(b"%").unwrap_or(text);
    match shell.jobs.find(bare) {
        Ok(number) => Ok(Some(number)),
        Err(why) => {
            let text = if text.is_empty() {
                why.as_bytes().to_vec()
            } else {
                [text, b": no such job"].concat()
            };
            shell.complain_as(name, &text)?;
            Ok(None)
        }
    }
}

pub(super) fn fg(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    if let Some(status) = no_control(shell, b"fg")? {
        return Ok(status);
    }
    let Some(number) = job_of(shell, b"fg", args.get(1))? else {
        return Ok(1);
    };
    let Some(job) = shell.jobs.get(number).cloned() else {
        return Ok(1);
    };
    shell.print(b"fg", &[&job.command, &b"\n"[..]].concat())?;
    for pid in &job.pids {
        shell.kernel.signal(*pid, signals::CONT);
    }
    let mut last = 0;
    for pid in &job.pids {
        if let Some(how) = shell.wait_process(*pid)? {
            shell.jobs.note(*pid, how);
            last = status(how);
        } else if let Some(how) = job.result() {
            last = status(how);
        }
    }
    shell.jobs.remove(number);
    Ok(last)
}

pub(super) fn bg(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    if let Some(status) = no_control(shell, b"bg")? {
        return Ok(status);
    }
    let Some(number) = job_of(shell, b"bg", args.get(1))? else {
        return Ok(1);
    };
    let Some(job) = shell.jobs.get_mut(number) else {
        return Ok(1);
    };
    if job.stopped.is_none() {
        let text = format!("job {number} already in background");
        shell.complain_as(b"bg", text.as_bytes())?;
        return Ok(0);
    }
    job.stopped = None;
    let (pids, command) = (job.pids.clone(), job.command.clone());
    for pid in pids {
        shell.kernel.signal(pid, signals::CONT);
    }
    let mark = if shell.jobs.current() == Some(number) {
        "+"
    } else {
        "-"
    };
    let text = [format!("[{number}]{mark} ").as_bytes(), &command, b" &\n"].concat();
    shell.print(b"bg", &text)
}

pub(super) fn disown(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut all, mut keep, mut running) = (false, false, false);
    let mut options = Getopt::new(args, "ahr");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'a' => all = true,
                b'h' => keep = true,
                _ => running = true,
            },
            Err(bad) => {
                return shell.bad_option(
                    b"disown",
                    &bad,
                    "disown [-h] [-ar] [jobspec ... | pid ...]",
                );
            }
        }
    }
    shell.collect_jobs();
    let mut wanted: Vec<u32> = Vec::new();
    let mut failed = false;
    let rest = options.rest();
    if rest.is_empty() && (all || running) {
        wanted.extend(
            shell
                .jobs
                .list
                .iter()
                .filter(|job| !running || (!job.done() && job.stopped.is_none()))
                .map(|job| job.number),
        );
    } else if rest.is_empty() {
        match shell.jobs.current() {
            Some(number) => wanted.push(number),
            None => {
                shell.complain_as(b"disown", b"current: no such job")?;
                return Ok(1);
            }
        }
    }
    for spec in rest {
        let found = match spec.strip_prefix(b"%") {
            Some(name) => shell.jobs.find(name).ok(),
            None => number(spec)
                .and_then(|n| Pid::try_from(n).ok())
                .and_then(|pid| shell.jobs.of_pid(pid).map(|job| job.number)),
        };
        match found {
            Some(number) => wanted.push(number),
            None => {
                shell.complain_as(b"disown", &[spec, &b": no such job"[..]].concat())?;
                failed = true;
            }
        }
    }
    for number in wanted {
        if keep {
            if let Some(job) = shell.jobs.get_mut(number) {
                job.no_hup = true;
            }
        } else {
            shell.jobs.remove(number);
        }
    }
    Ok(i32::from(failed))
}

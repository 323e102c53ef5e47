//! Process 1 inside: builds the walls around itself, runs the program, collects every orphan, and
//! ends when the program does, whereupon the kernel kills whatever is left.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::{fd::RawFd, unix::process::CommandExt},
    process::{Command, ExitCode},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        prctl::{set_dumpable, set_no_new_privs, set_pdeathsig},
        signal::Signal,
        stat::{Mode, umask},
        wait::{WaitStatus, waitpid},
    },
    unistd::{Pid, getegid, getpid, sethostname, setsid},
};

use super::{drop_streams, inside, lock, outer, places, root, setup, step};
use crate::{
    EXIT_NOT_CONFINED, Ended, MemoryScope,
    wire::{Cause, Failure, MAX_MESSAGE, Order, Verdict},
};

/// Carries out the order that comes through one descriptor and answers through the other.
pub(super) fn run(order: &OsStr, verdict: &OsStr) -> ExitCode {
    // Only the outer process starts it, in a namespace where it is the first.
    if getpid() != Pid::from_raw(1) {
        return ExitCode::from(EXIT_NOT_CONFINED);
    }
    let opened = reopen(verdict, File::options().write(true))
        .and_then(|verdict| Ok((verdict, reopen(order, File::options().read(true))?)));
    let Ok((mut answer, lifeline)) = opened else {
        return ExitCode::from(EXIT_NOT_CONFINED);
    };
    let started = start(lifeline);
    let verdict = match &started {
        Ok(_) => Verdict::Ready,
        Err(failure) => Verdict::Failed(failure.clone()),
    };
    if outer::send(&mut answer, &verdict).is_err() {
        return ExitCode::from(EXIT_NOT_CONFINED);
    }
    match started {
        Ok(Some(program)) => collect(program, &mut answer),
        Ok(None) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(EXIT_NOT_CONFINED),
    }
}

/// Takes over a descriptor by its number, in a way that the compiler can check.
fn reopen(number: &OsStr, options: &std::fs::OpenOptions) -> io::Result<File> {
    let number = number
        .to_str()
        .and_then(|number| number.parse::<RawFd>().ok());
    let number = number.ok_or(io::ErrorKind::InvalidInput)?;
    let file = options.open(format!("/proc/self/fd/{number}"))?;
    nix::unistd::close(number)?;
    Ok(file)
}

/// Builds the walls and starts the program in them, if there is one.
fn start(mut lifeline: File) -> Result<Option<Pid>, Failure> {
    set_pdeathsig(Signal::SIGKILL).map_err(step("bind the init to its launcher"))?;
    // Without a terminal of its own, the program can put nothing into the user's.
    setsid().map_err(step("start a session"))?;
    umask(Mode::S_IWGRP | Mode::S_IWOTH);
    let order = read_order(&mut lifeline).map_err(step("read the order"))?;
    let limits = &order.confinement.limits;
    let plan = places::plan(&order.confinement)?;
    inside::limit_process_numbers(limits)?;
    inside::forbid_user_namespaces();
    sethostname("confined").map_err(step("hide the host name"))?;
    root::enter(&plan, limits)?;
    set_no_new_privs().map_err(step("forbid new privileges"))?;
    lock::restrict_to(&plan.places)?;
    drop(plan);
    inside::drop_capabilities().map_err(step("drop capabilities"))?;
    let memory = match order.group {
        Some(_) => MemoryScope::AllProcesses,
        None => MemoryScope::EachProcess,
    };
    inside::limit_resources(limits, memory)?;
    // The program has the same user, and must not trace the process that watches over it.
    set_dumpable(false).map_err(step("hide the init"))?;
    // Had the launcher died before the death signal was set, nobody would ever stop the program.
    if hung_up(&lifeline).map_err(step("look for the launcher"))? {
        return Err(setup("the launcher is gone", "start the tool again"));
    }
    order
        .argv
        .split_first()
        .map(|(program, args)| spawn(&order, program, args))
        .transpose()
}

fn read_order(pipe: &mut File) -> io::Result<Order> {
    let mut length = [0; 8];
    pipe.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_MESSAGE as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = Vec::new();
    pipe.take(length).read_to_end(&mut message)?;
    Order::decode(&message).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn hung_up(pipe: &File) -> nix::Result<bool> {
    use std::os::fd::AsFd;
    let mut ends = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    poll(&mut ends, PollTimeout::ZERO)?;
    let [end] = ends;
    Ok(end.any().unwrap_or(true))
}

fn spawn(order: &Order, program: &OsStr, args: &[std::ffi::OsString]) -> Result<Pid, Failure> {
    let confinement = &order.confinement;
    let failed = |problem: String| Failure {
        cause: Cause::Start,
        subject: program.to_owned(),
        problem,
        hint: String::new(),
    };
    std::env::set_current_dir(&confinement.cwd).map_err(|error| {
        failed(format!(
            "the working directory `{}` cannot be used inside ({error}); grant it or use /tmp",
            confinement.cwd.display()
        ))
    })?;
    let env = confinement.env.iter().map(|(name, value)| (name, value));
    let spawned = Command::new(program)
        .args(args)
        .env_clear()
        .envs(env)
        // Changes nothing, but makes this a fork. The quicker way maps a stack first, and this process
        // may have more memory mapped by then than the program is allowed: its allocator reserves some.
        .gid(getegid().as_raw())
        .spawn();
    let child = spawned.map_err(|error| {
        failed(match error.kind() {
            io::ErrorKind::NotFound => {
                "it is not there; it must be in a system directory or under a granted path"
                    .to_owned()
            }
            _ => error.to_string(),
        })
    })?;
    i32::try_from(child.id())
        .map(Pid::from_raw)
        .map_err(|error| failed(error.to_string()))
}

/// Collects every child until the program has ended, says how it did, and returns its status.
fn collect(program: Pid, answer: &mut File) -> ExitCode {
    if drop_streams().is_err() {
        return ExitCode::from(EXIT_NOT_CONFINED);
    }
    loop {
        let ended = match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == program => Ended::Exited(code & 0xff),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => {
                Ended::Killed(signal as i32)
            }
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(_) => return ExitCode::from(EXIT_NOT_CONFINED),
        };
        // A host that hears nothing still has the status.
        let _ = outer::send(answer, &Verdict::Ended(ended));
        return ExitCode::from(outer::code(ended));
    }
}

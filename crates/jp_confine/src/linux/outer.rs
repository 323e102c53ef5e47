//! The process that the host waits for: takes the order, makes the namespaces, starts the init, and
//! passes its status on. It builds no file system and never runs the program itself.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd, RawFd},
        unix::{
            fs::{FileExt, MetadataExt, OpenOptionsExt},
            process::CommandExt,
        },
    },
    process::{Child, Command, ExitCode, ExitStatus},
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sched::{CloneFlags, unshare},
    unistd::{Pid, getegid, geteuid, getppid, pipe2},
};
use rustix::process::{PidfdFlags, pidfd_open};

use super::{ENTER_INIT, NAMESPACE_HINT, drop_streams, inside, namespace_step, setup, step};
use crate::{
    EXIT_NOT_CONFINED, Ended, Network, group,
    wire::{Failure, MAX_MESSAGE, Order, Verdict},
};

/// Carries out the order left at `path` and returns the status to end with.
pub(super) fn run(path: &OsStr) -> ExitCode {
    let taken = close_inherited()
        .map_err(step("close inherited descriptors"))
        .and_then(|()| take_order(path).map_err(step("take the order")));
    let (file, message) = match taken {
        Ok(taken) => taken,
        // Without the file there is no way to report it; the host sees its order untouched.
        Err(_) => return ExitCode::from(EXIT_NOT_CONFINED),
    };
    lead(&file, &message).unwrap_or_else(|failure| {
        tell(&file, &Verdict::Failed(failure));
        ExitCode::from(EXIT_NOT_CONFINED)
    })
}

/// Closes whatever the host let slip: it could be a way out for the program.
fn close_inherited() -> io::Result<()> {
    let names = fs::read_dir("/proc/self/fd")?.map(|entry| entry.map(|entry| entry.file_name()));
    for name in names.collect::<io::Result<Vec<_>>>()? {
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            // The descriptor of the listing itself is closed already.
            let _ = nix::unistd::close(number);
        }
    }
    Ok(())
}

/// Reads the order and leaves no trace of it: an environment may hold secrets.
fn take_order(path: &OsStr) -> io::Result<(File, Vec<u8>)> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let mut file = File::options()
        .read(true)
        .write(true)
        .custom_flags(flags.bits())
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != geteuid().as_raw() || found.len() > MAX_MESSAGE as u64 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    fs::remove_file(path)?;
    let mut message = Vec::new();
    file.read_to_end(&mut message)?;
    file.set_len(0)?;
    Ok((file, message))
}

fn tell(file: &File, verdict: &Verdict) {
    // If this fails, the host finds no verdict, which is a failure too.
    let _ = file.write_all_at(&verdict.encode(), 0);
}

fn lead(file: &File, message: &[u8]) -> Result<ExitCode, Failure> {
    let order =
        Order::decode(message).ok_or_else(|| setup("the order is not readable", "update jp"))?;
    let host = watch_host(order.host)?;
    if let Some(path) = &order.group {
        group::join(path).map_err(step("enter the control group"))?;
    }
    enter_namespaces(order.confinement.network)?;
    inside::keep_capabilities().map_err(step("keep capabilities for the init"))?;
    let Started {
        mut init,
        mut verdict,
        lifeline,
    } = start_init(message).map_err(step("start the init"))?;
    drop_streams().map_err(step("let go of the streams"))?;
    match receive(&mut verdict) {
        Some(Verdict::Ready) => tell(file, &Verdict::Ready),
        Some(Verdict::Failed(failure)) => {
            let _ = init.wait();
            return Err(failure);
        }
        Some(Verdict::Ended(_)) | None => {
            let _ = init.wait();
            return Err(setup(
                "the init ended early",
                "check memory and process limits of the host",
            ));
        }
    }
    let status = wait(&mut init, &host).map_err(step("wait for the program"))?;
    drop(lifeline);
    let Some(status) = status else {
        return Ok(ExitCode::from(EXIT_NOT_CONFINED));
    };
    // An init that was killed, as the kernel does when memory is short, has reported nothing.
    if let Some(ended @ Verdict::Ended(_)) = receive(&mut verdict) {
        tell(file, &ended);
    }
    Ok(ExitCode::from(
        Ended::of(status).map_or(EXIT_NOT_CONFINED, code),
    ))
}

/// Makes sure that the host is still there, and returns what shows when it is gone.
///
/// A death signal would fire when the *thread* that spawned us ends, which is not a reason to stop.
fn watch_host(host: u32) -> Result<OwnedFd, Failure> {
    let gone = || setup("the host is gone", "start the tool from the host itself");
    let host = i32::try_from(host).map_err(|_| gone())?;
    let pid = rustix::process::Pid::from_raw(host).ok_or_else(gone)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|_| gone())?;
    // Asked after opening: as long as it is our parent, its number was not given to another.
    if getppid() == Pid::from_raw(host) {
        Ok(pidfd)
    } else {
        Err(gone())
    }
}

fn enter_namespaces(network: Network) -> Result<(), Failure> {
    let (user, group) = (geteuid(), getegid());
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if network == Network::None {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(|error| {
        setup(
            &format!("create namespaces: {}", error.desc()),
            namespace_hint(error),
        )
    })?;
    // Hides the names of cgroups only, and some kernels lack it.
    let _ = unshare(CloneFlags::CLONE_NEWCGROUP);
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(namespace_step(&format!("write {file}")))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

fn namespace_hint(error: Errno) -> &'static str {
    match error {
        Errno::ENOSPC | Errno::EUSERS => {
            "raise the limit with `sysctl user.max_user_namespaces=10000` (and the other `user.max_*_namespaces`)"
        }
        Errno::EPERM | Errno::EACCES => NAMESPACE_HINT,
        _ => "the kernel needs user, mount, pid, ipc, uts and net namespaces",
    }
}

struct Started {
    init: Child,
    /// Where the init says how it went.
    verdict: File,
    /// Shows the init that we live; closed by the kernel when we do not.
    lifeline: File,
}

fn start_init(message: &[u8]) -> io::Result<Started> {
    let (order, lifeline) = pipe2(OFlag::O_CLOEXEC)?;
    let (verdict, answer) = pipe2(OFlag::O_CLOEXEC)?;
    // These two are for the init. No other thread exists that could spawn something meanwhile.
    for end in [&order, &answer] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    let init = Command::new("/proc/self/exe")
        .arg0("jp-confine")
        .arg(ENTER_INIT)
        .arg(order.as_raw_fd().to_string())
        .arg(answer.as_raw_fd().to_string())
        .env_clear()
        .spawn()?;
    drop((order, answer));
    let mut lifeline = File::from(lifeline);
    let length = message.len() as u64;
    match lifeline
        .write_all(&length.to_le_bytes())
        .and_then(|()| lifeline.write_all(message))
    {
        // The init has failed already, and its verdict says why.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(Started {
        init,
        verdict: File::from(verdict),
        lifeline,
    })
}

/// Writes something to a pipe that stays open, so that more can follow.
pub(super) fn send(pipe: &mut File, verdict: &Verdict) -> io::Result<()> {
    let message = verdict.encode();
    let length = message.len() as u64;
    pipe.write_all(&[&length.to_le_bytes()[..], &message].concat())
}

/// Returns the next message of a pipe; nothing when its other end is gone.
fn receive(pipe: &mut File) -> Option<Verdict> {
    let mut length = [0; 8];
    pipe.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    if length > MAX_MESSAGE as u64 {
        return None;
    }
    let mut message = Vec::new();
    pipe.take(length).read_to_end(&mut message).ok()?;
    Verdict::decode(&message)
}

/// Waits for the init; `None` if the host died first, and the program with it.
fn wait(init: &mut Child, host: &OwnedFd) -> io::Result<Option<ExitStatus>> {
    let pid = i32::try_from(init.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let pidfd = pidfd_open(pid.ok_or(io::ErrorKind::InvalidData)?, PidfdFlags::empty())?;
    let mut ends = [host.as_fd(), pidfd.as_fd()].map(|end| PollFd::new(end, PollFlags::POLLIN));
    while let Err(error) = poll(&mut ends, PollTimeout::NONE) {
        if error != Errno::EINTR {
            return Err(error.into());
        }
    }
    let [host_end, init_end] = ends.map(|end| end.any().unwrap_or(false));
    if host_end && !init_end {
        init.kill()?;
        init.wait()?;
        return Ok(None);
    }
    init.wait().map(Some)
}

/// The status a shell would show: a signal is 128 and its number.
pub(super) fn code(ended: Ended) -> u8 {
    let number = match ended {
        Ended::Exited(code) => code,
        Ended::Killed(signal) => 128 + signal,
    };
    u8::try_from(number).unwrap_or(EXIT_NOT_CONFINED)
}

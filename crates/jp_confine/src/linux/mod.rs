//! The launcher's side on Linux: two processes, the *outer* one in new namespaces that the host
//! waits for, and the *init* that is process 1 inside and runs the program. Both are single-threaded.
//! Nothing here is called in the host's own process.

mod init;
mod inside;
mod lock;
mod mounts;
mod outer;
mod places;
mod root;

use std::{
    ffi::{OsStr, OsString},
    fmt::Display,
    fs::File,
    io,
    process::ExitCode,
};

use crate::{
    EXIT_NOT_CONFINED,
    launcher::ENTER,
    wire::{Cause, Failure},
};

/// The first argument of the process that becomes process 1 inside.
const ENTER_INIT: &str = "__confine-init";

const GENERAL_HINT: &str = "see what a confined command needs in docs/features/tools.md";

/// For a kernel that has namespaces but does not let this user make or use them.
const NAMESPACE_HINT: &str = "allow unprivileged user namespaces: \
    `sysctl kernel.unprivileged_userns_clone=1` or \
    `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, its seccomp profile \
    must allow `unshare` and `mount`";

/// Becomes the launcher if this process was started as one.
pub(crate) fn enter_if_asked() -> Option<ExitCode> {
    let args: Vec<OsString> = std::env::args_os().take(5).collect();
    let words: Vec<&OsStr> = args.iter().skip(1).map(OsString::as_os_str).collect();
    match words.as_slice() {
        [first, order] if *first == ENTER => Some(outer::run(order)),
        [first, order, verdict] if *first == ENTER_INIT => Some(init::run(order, verdict)),
        [first, ..] if *first == ENTER || *first == ENTER_INIT => {
            Some(ExitCode::from(EXIT_NOT_CONFINED))
        }
        _ => None,
    }
}

/// Names the step that failed; for use with `map_err`.
fn step<E: Display>(name: &str) -> impl FnOnce(E) -> Failure {
    move |error| setup(&format!("{name}: {error}"), GENERAL_HINT)
}

/// Names a step that fails where namespaces exist in name only.
fn namespace_step<E: Display>(name: &str) -> impl FnOnce(E) -> Failure {
    move |error| setup(&format!("{name}: {error}"), NAMESPACE_HINT)
}

fn setup(problem: &str, hint: &str) -> Failure {
    Failure {
        cause: Cause::Setup,
        subject: OsString::new(),
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    }
}

/// Lets go of the caller's streams, so that they end when the program closes them.
fn drop_streams() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    nix::unistd::dup2_stderr(&null)?;
    Ok(())
}

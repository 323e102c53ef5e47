//! Confines a child process by means of the operating system: it sees the granted paths, has the
//! granted network, the given environment and limits, and nothing else; when it ends or is killed,
//! every process it started is gone.
//!
//! The host asks a [`Launcher`] for a [`std::process::Command`]. That command re-executes a program
//! which calls [`enter_if_asked`] first in `main`, and that process builds the walls around itself
//! before it runs the tool. Nothing is done between `fork` and `exec`, so no `unsafe` is needed.
//!
//! What holds on Linux (5.13 or newer with Landlock and user namespaces; elsewhere
//! [`Launcher::support`] says no and the caller must refuse):
//!
//! - **Files.** A new root holds the system directories and a few files of `/etc` read-only, a
//!   private `/tmp` in memory, a minimal `/dev`, a read-only `/proc` of the call's own processes,
//!   and the granted paths. Landlock repeats the same rules as a second wall.
//! - **Network.** Without a grant there is none: even loopback is down.
//! - **Processes.** Namespaces for processes, IPC and host name; no capabilities, no way to gain
//!   any, and no new user namespaces (except where `/proc/sys` cannot be written). When the tool
//!   ends, when the launcher is killed, or when the host dies, the kernel kills every descendant,
//!   also after `setsid` and a double fork.
//! - **Limits.** Memory holds for all processes together where this user has a control group (cgroup
//!   v2), and otherwise for each process (see [`Launcher::memory_scope`]); CPU time and open files
//!   hold for each process, the number of processes for the call: exactly for ordinary users (`RLIMIT_NPROC` in a user namespace of its
//!   own), and up to 300 more for root, for whom the bound is the namespace's `pid_max` (Linux 6.14).
//!   Root on an older kernel is refused, since nothing would hold; `processes: u64::MAX` asks for no
//!   such limit.
//!
//! What does not hold: a granted directory includes the sockets in it (until Landlock 9); without a
//! control group the memory of all processes is bounded only by `memory_bytes * processes`, and what
//! processes share (`MAP_SHARED`, memfd) is not counted; system calls are not
//! filtered; the user's kernel key rings stay reachable; a program may leave a set-user-ID file of its
//! own user in a directory that it may write to.
//!
//! This crate knows nothing of tools, policies or configuration.

mod check;
mod confinement;
mod ended;
mod error;
mod fields;
mod group;
mod launcher;
#[cfg(target_os = "linux")]
mod linux;
mod wire;

pub use confinement::{Confinement, MemoryScope, Network, ProcessLimits};
pub use ended::Ended;
pub use error::ConfineError;
pub use launcher::{Confined, Launcher, Report};

/// The exit status of a launcher that could not confine; [`Report::failure`] distinguishes it from a program
/// that ended with the same status.
pub(crate) const EXIT_NOT_CONFINED: u8 = 125;

/// Becomes the launcher if this process was started as one; call it first in `main`, before any
/// thread exists.
///
/// Returns `None` in every other process, and otherwise the status to end with at once.
#[must_use]
pub fn enter_if_asked() -> Option<std::process::ExitCode> {
    #[cfg(target_os = "linux")]
    return linux::enter_if_asked();
    #[cfg(not(target_os = "linux"))]
    std::env::args_os()
        .nth(1)
        .filter(|first| first == launcher::ENTER)
        .map(|_| std::process::ExitCode::from(EXIT_NOT_CONFINED))
}

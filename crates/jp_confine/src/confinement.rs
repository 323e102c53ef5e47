//! What a confined process may do. Plain data: it knows neither the system nor how walls are built.

use std::{ffi::OsString, fmt, path::PathBuf};

/// What the child may do; everything else is refused.
///
/// Granted paths are absolute, exist, and lead through no symbolic link: who could swap a link could
/// choose what is granted. They appear at the same path inside. A path inside another is allowed, and
/// the longer path decides.
#[derive(Clone)]
pub struct Confinement {
    /// Files and directories that can be read and executed.
    pub read: Vec<PathBuf>,
    /// Files and directories that can be read, executed and changed.
    pub write: Vec<PathBuf>,
    /// Which network it sees.
    pub network: Network,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Where it starts: a path that is visible inside, such as a granted one, `/tmp` or `/`.
    pub cwd: PathBuf,
    /// What it may use up.
    pub limits: ProcessLimits,
}

/// Which network a confined process sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// None at all, not even loopback.
    None,
    /// The host's own.
    Host,
}

/// What a confined process may use up; `u64::MAX` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory of all processes together where this user has a control group, else the memory that each
    /// process has for itself ([`MemoryScope`]); and the size of the private `/tmp` (which has at most
    /// 1 GiB).
    pub memory_bytes: u64,
    /// Processes and threads that exist at the same time.
    pub processes: u64,
    /// Open descriptors of each process.
    pub open_files: u64,
    /// The size of any file it writes.
    pub file_bytes: u64,
    /// CPU time of each process.
    pub cpu_seconds: u64,
}

/// What a limit on memory is a limit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryScope {
    /// All processes of a call together, with what they put into `/tmp`: a control group of its own.
    AllProcesses,
    /// Each process by itself: what it has mapped to write to and shares with nobody (`RLIMIT_DATA`).
    EachProcess,
}

impl fmt::Debug for Confinement {
    /// Shows the names of the environment only: its values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Confinement")
            .field("read", &self.read)
            .field("write", &self.write)
            .field("network", &self.network)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("limits", &self.limits)
            .finish()
    }
}

//! How much memory a call may use, and of whom: a guest is counted exactly, processes as the system can.

use jp_confine::MemoryScope;
use jp_policy::{Limits, Request};

use crate::Host;

/// How much memory a call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// How much; `None` where nothing holds.
    pub bytes: Option<u64>,
    /// Who may.
    pub of: MemoryOf,
}

/// Who may use so much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOf {
    /// All memories of a guest, or a script, together.
    Guest,
    /// All processes of a call together.
    AllProcesses,
    /// Each process of a call.
    EachProcess,
    /// All processes of a server together, whatever calls it serves.
    AllProcessesOfServer,
    /// Each process of a server.
    EachProcessOfServer,
    /// Nobody on this machine: the server is behind a URL.
    Elsewhere,
}

impl Host {
    /// Returns how much memory a program may use that does not say itself.
    #[must_use]
    pub fn usual_memory_of_a_program(&self) -> u64 {
        self.command_memory()
            .unwrap_or(self.policy().ceilings.memory_bytes)
    }

    /// Returns how much memory a command may use: what its tool asks for, else what programs may.
    ///
    /// The default of guests is not theirs: they bring the runtime of a language, or a compiler.
    #[must_use]
    pub fn memory_of_a_command(&self, request: &Request, limits: &Limits) -> u64 {
        let is_lowered = limits.memory_bytes < Limits::default().memory_bytes;
        match request.limits.memory {
            Some(_) => limits.memory_bytes,
            None if is_lowered => limits.memory_bytes,
            None => self.usual_memory_of_a_program(),
        }
    }

    /// Says what such a limit means for processes of this system.
    pub(super) fn memory_of_processes(&self, bytes: u64) -> Memory {
        let scope = self.launcher().map(|launcher| launcher.memory_scope());
        let (bytes, of) = match scope {
            Some(Ok(MemoryScope::AllProcesses)) => (Some(bytes), MemoryOf::AllProcesses),
            Some(Ok(MemoryScope::EachProcess)) => (Some(bytes), MemoryOf::EachProcess),
            // It runs bare or not at all, and nothing holds what runs bare.
            Some(Err(_)) | None => (None, MemoryOf::EachProcess),
        };
        Memory { bytes, of }
    }
}

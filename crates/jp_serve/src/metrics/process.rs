//! What this process uses, where the system tells.

use std::fs;

/// What this process uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    /// Bytes.
    pub(super) resident: u64,
    /// Bytes.
    pub(super) virtual_size: u64,
    pub(super) threads: u64,
    pub(super) open_files: usize,
}

impl Process {
    /// Asks the system; nothing where it has no `/proc`.
    pub(super) fn of_this() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let mut words = line.split_whitespace();
            let number: u64 = words.next()?.parse().ok()?;
            let unit = if words.next() == Some("kB") { 1024 } else { 1 };
            number.checked_mul(unit)
        };
        Some(Self {
            resident: number("VmRSS:")?,
            virtual_size: number("VmSize:")?,
            threads: number("Threads:")?,
            open_files: fs::read_dir("/proc/self/fd").ok()?.count(),
        })
    }
}

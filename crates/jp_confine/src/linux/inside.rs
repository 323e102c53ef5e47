//! What a process may still do once its root is built: capabilities and resource limits. It knows
//! nothing of files.

use std::{fs, io};

use nix::{
    sys::resource::{Resource, getrlimit, setrlimit},
    unistd::geteuid,
};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    capability_is_in_bounding_set, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_capabilities_secure_bits,
};

use super::{GENERAL_HINT, setup};
use crate::{MemoryScope, ProcessLimits, wire::Failure};

/// What the init needs to build its walls; it drops them before the program runs.
const FOR_INIT: [CapabilitySet; 3] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_RESOURCE,
    CapabilitySet::SETPCAP,
];

/// Process numbers below this one are not used again once they have all been given away.
const RESERVED_PIDS: u64 = 300;

/// Lets the capabilities of the new user namespace survive the execution of the init, which they
/// otherwise do for user 0 only.
pub(super) fn keep_capabilities() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    for capability in FOR_INIT {
        sets.inheritable |= capability;
    }
    set_capabilities(None, sets)?;
    for capability in FOR_INIT {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Drops every capability and every way to get one back, also for user 0.
pub(super) fn drop_capabilities() -> io::Result<()> {
    set_capabilities_secure_bits(
        CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    )?;
    clear_ambient_capability_set()?;
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(capability) {
            Ok(true) => remove_capability_from_bounding_set(capability)?,
            Ok(false) => {}
            // The first number that the kernel does not know ends the list.
            Err(_) => break,
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}

/// Forbids further user namespaces: in one of its own a program would be all-powerful again, and
/// much of the kernel's attack surface opens only to those who are.
///
/// Some containers keep the file from being written. The walls stand without it: Landlock refuses
/// mounts in any namespace.
pub(super) fn forbid_user_namespaces() {
    let _ = fs::write("/proc/sys/user/max_user_namespaces", "0");
}

/// Bounds the number of processes by the highest process number of the namespace, which also holds
/// for root. Must run before the root is changed.
pub(super) fn limit_process_numbers(limits: &ProcessLimits) -> Result<(), Failure> {
    if limits.processes == u64::MAX {
        return Ok(());
    }
    // Before 6.14 the file is the whole machine's, and root would write to it.
    let written = kernel_is_at_least(6, 14) && {
        let current = fs::read_to_string("/proc/sys/kernel/pid_max");
        let current = current
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(32768);
        // The init has a number too, and the highest number itself is never given.
        let highest = limits
            .processes
            .saturating_add(RESERVED_PIDS + 2)
            .min(current);
        fs::write("/proc/sys/kernel/pid_max", highest.to_string()).is_ok()
    };
    if written || !geteuid().is_root() {
        return Ok(());
    }
    Err(setup(
        "the number of processes cannot be limited for root",
        "run jp as an ordinary user, or use Linux 6.14 or newer with a writable /proc/sys",
    ))
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(found_major)), Some(Ok(found_minor))) => {
            (found_major, found_minor) >= (major, minor)
        }
        _ => false,
    }
}

/// Lowers the resource limits of this process and of all it starts.
pub(super) fn limit_resources(limits: &ProcessLimits, memory: MemoryScope) -> Result<(), Failure> {
    // The launcher and the init are counted with the program.
    let processes = limits.processes.saturating_add(2);
    let memory_bytes = match memory {
        MemoryScope::EachProcess => limits.memory_bytes,
        MemoryScope::AllProcesses => u64::MAX,
    };
    let wanted = [
        // Not the address space, of which runtimes of languages reserve far more than they use: node
        // does not start with less than a gigabyte of it, and Wasm inside it asks for ten.
        (Resource::RLIMIT_DATA, memory_bytes, "memory"),
        (Resource::RLIMIT_NPROC, processes, "processes"),
        (Resource::RLIMIT_NOFILE, limits.open_files, "open files"),
        (Resource::RLIMIT_FSIZE, limits.file_bytes, "file size"),
        (Resource::RLIMIT_CPU, limits.cpu_seconds, "CPU time"),
        (Resource::RLIMIT_CORE, 0, "core dumps"),
    ];
    for (resource, limit, name) in wanted {
        let lower = getrlimit(resource).and_then(|(_, highest)| {
            let limit = limit.min(highest);
            setrlimit(resource, limit, limit)
        });
        lower.map_err(|error| setup(&format!("limit {name}: {error}"), GENERAL_HINT))?;
    }
    Ok(())
}

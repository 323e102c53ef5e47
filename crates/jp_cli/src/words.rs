//! Grants, limits and modes in words a person can judge.

use std::time::Duration;

use jp_config::tool::{CommandConfig, RunMode};
use jp_llm::runtime::{Memory, MemoryOf};
use jp_policy::{Capabilities, Grant, LimitsRequest, NOTHING, Request};

use crate::text;

/// Says what a call may do, one thing per item; there is always one.
pub(crate) fn capabilities(capabilities: &Capabilities) -> Vec<String> {
    or_nothing(capabilities.words())
}

/// Says what a tool asks for, one thing per item; there is always one.
pub(crate) fn request(request: &Request) -> Vec<String> {
    or_nothing(request.words())
}

/// Says that nothing is asked for, where nothing is.
pub(crate) fn or_nothing(mut said: Vec<String>) -> Vec<String> {
    if said.is_empty() {
        said.push(NOTHING.to_owned());
    }
    said
}

/// Says how much a call may use.
pub(crate) fn limits(grant: &Grant, memory: Memory) -> String {
    let limits = grant.limits();
    let memory = self::memory(memory);
    let fuel = limits
        .fuel
        .map_or_else(|| "no fuel limit".to_owned(), |fuel| format!("{fuel} fuel"));
    format!(
        "{}, {memory}, {} of output, {fuel}",
        duration(limits.time),
        bytes(limits.output_bytes)
    )
}

/// Says how much memory may be used, and by whom.
pub(crate) fn memory(memory: Memory) -> String {
    let Some(most) = memory.bytes.map(bytes) else {
        return match memory.of {
            MemoryOf::Elsewhere => "no memory limit (its server runs elsewhere)",
            _ => "no memory limit (it is not confined)",
        }
        .to_owned();
    };
    match memory.of {
        MemoryOf::Elsewhere => format!("{most} of memory elsewhere"),
        MemoryOf::Guest => format!("{most} of memory"),
        MemoryOf::AllProcesses => format!("{most} of memory for all its processes (cgroup)"),
        MemoryOf::EachProcess => format!("{most} of memory for each process"),
        MemoryOf::AllProcessesOfServer => {
            format!("{most} of memory for all processes of its server (cgroup)")
        }
        MemoryOf::EachProcessOfServer => {
            format!("{most} of memory for each process of its server")
        }
    }
}

/// Returns the word for who may use memory.
pub(crate) const fn memory_of(memory: Memory) -> &'static str {
    match (memory.bytes, memory.of) {
        (None, _) => "none",
        (_, MemoryOf::Elsewhere) => "elsewhere",
        (_, MemoryOf::Guest) => "guest",
        (_, MemoryOf::AllProcesses) => "all_processes",
        (_, MemoryOf::EachProcess) => "each_process",
        (_, MemoryOf::AllProcessesOfServer) => "all_processes_of_server",
        (_, MemoryOf::EachProcessOfServer) => "each_process_of_server",
    }
}

/// Says what a tool asks for, beyond what every tool gets.
pub(crate) fn asked_limits(asked: &LimitsRequest) -> String {
    let of = |bytes_asked: Option<u64>, what: &str| {
        bytes_asked.map(|count| format!("{} of {what}", bytes(count)))
    };
    let all = [
        asked.time_ms.map(|ms| duration(Duration::from_millis(ms))),
        of(asked.memory, "memory"),
        of(asked.output, "output"),
        asked.fuel.map(|fuel| format!("{fuel} fuel")),
    ];
    let said: Vec<String> = all.into_iter().flatten().collect();
    match said.is_empty() {
        true => "the usual limits".to_owned(),
        false => said.join(", "),
    }
}

/// Writes a number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1000, "kB"),
    ];
    let whole = UNITS
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    match whole {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None if bytes >= 10_000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        None => format!("{bytes} bytes"),
    }
}

/// Writes a duration.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_millis() {
        millis if millis >= 1000 && millis % 1000 == 0 => format!("{} s", millis / 1000),
        0..1 => format!("{:.3} ms", time.as_secs_f64() * 1000.0),
        1..10_000 => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// Returns the word of a run mode.
pub(crate) const fn run_mode(mode: RunMode) -> &'static str {
    match mode {
        RunMode::Ask => "ask",
        RunMode::Unattended => "unattended",
        RunMode::Edit => "edit",
        RunMode::Skip => "skip",
    }
}

/// Says who decides that a call runs: the word of the mode, and what it means.
pub(crate) const fn runs(mode: RunMode) -> &'static str {
    match mode {
        RunMode::Ask => "ask: you are asked before each call",
        RunMode::Unattended => "unattended: nobody is asked",
        RunMode::Edit => "edit: you can edit the arguments before each call",
        RunMode::Skip => "skip: never",
    }
}

/// Writes a command line, escaped.
pub(crate) fn command(command: &CommandConfig) -> String {
    let shell = command.shell.then_some("sh -c");
    let words = shell
        .into_iter()
        .chain([command.program.as_str()])
        .chain(command.args.iter().map(String::as_str));
    let words: Vec<String> = words
        .enumerate()
        .map(|(at, word)| match word {
            "sh -c" if at == 0 => word.to_owned(),
            word if word.is_empty() || word.contains([' ', '\t', '\n', '\'', '"']) => {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
            word => word.to_owned(),
        })
        .collect();
    text::escape(&words.join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use jp_policy::{Access, GuestPath, Net};

    use super::*;

    #[test]
    fn grants_are_sentences() {
        assert_eq!(
            capabilities(&Capabilities::default()),
            ["nothing outside of itself"]
        );
        let path = GuestPath::new("/workspace").unwrap();
        let mut all = Capabilities::default().with_files(path, Access::ReadWrite);
        all.subprocess = true;
        all.net = Net::Any;
        assert_eq!(
            capabilities(&all),
            [
                "read and change this workspace",
                "reach any host on the network",
                "run a command"
            ]
        );
    }

    #[test]
    fn sizes_and_times_are_readable() {
        assert_eq!(bytes(256 << 20), "256 MiB");
        assert_eq!(bytes(10_000_000), "10 MB");
        assert_eq!(bytes(123_456), "120.6 KiB");
        assert_eq!(bytes(7), "7 bytes");
        assert_eq!(duration(Duration::from_secs(30)), "30 s");
        assert_eq!(duration(Duration::from_micros(2500)), "2.5 ms");
    }
}

//! Tests of the log as a whole, through its public interface and its files.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, but clippy excuses only the tests themselves"
)]

mod chain;
mod failures;
mod lease;
mod processes;
mod repair;
mod tamper;

use std::{fs, path::Path};

use jp_audit::{
    Decision, Entry, Log, Options, OutcomeKind, Reader, Record, Report, Source, verify,
};

/// Makes a record of a successful call, to be changed where a test needs it.
fn record<'a>(log: &Log, call_id: &'a str) -> Record<'a> {
    Record {
        time: 1_700_000_000_000,
        principal: "tester",
        call_id,
        traceparent: None,
        tool: "learn",
        source: Source::Builtin,
        capability: None,
        sha256: None,
        arguments_hash: log.hash_arguments(call_id.as_bytes()),
        grant: "fs.read:/subjects",
        decision: Decision::Allowed,
        decided_by: None,
        outcome: OutcomeKind::Success,
        detail: None,
        duration_us: 12,
        fuel: None,
        stdout_bytes: 1,
        stderr_bytes: 0,
        trace: &[],
        transient: None,
    }
}

/// Opens a log whose files are closed at `max_bytes`.
fn open(dir: &Path, max_bytes_per_file: u64) -> Log {
    Log::open(
        dir,
        Options {
            max_bytes_per_file,
            keep: None,
            lease: None,
        },
    )
    .unwrap()
}

/// Appends `count` records.
fn fill(log: &Log, count: u32) {
    for id in 0..count {
        log.append(&record(log, &id.to_string())).unwrap();
    }
}

/// Reads all records of calls, all of which must be readable.
fn calls(dir: &Path) -> Vec<Entry> {
    let entries = Reader::open(dir).unwrap().map(Result::unwrap);
    entries.filter(|entry| entry.event.is_none()).collect()
}

/// Verifies a log that must be whole.
fn whole(dir: &Path) -> Report {
    let report = verify(dir).unwrap();
    let problems: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
    report
}

/// Lists the log files in order.
fn log_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let paths = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut logs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    logs.sort();
    logs
}

//! Measures what one append costs: `cargo run --release --example append_cost [DIR]`.

use std::{
    error::Error,
    hint::black_box,
    io::Write,
    path::PathBuf,
    time::{Instant, SystemTime},
};

use jp_audit::{Decision, Log, Options, OutcomeKind, Record, Source};

fn main() -> Result<(), Box<dyn Error>> {
    const ROUNDS: u32 = 7;
    const APPENDS: u32 = 20_000;
    let fresh = std::env::temp_dir().join(format!("jp-audit-cost-{}", std::process::id()));
    let dir = std::env::args_os().nth(1).map_or(fresh, PathBuf::from);
    let log = Log::open(&dir, Options::default())?;
    let mut out = std::io::stdout();
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..APPENDS {
            let now = SystemTime::UNIX_EPOCH.elapsed()?;
            log.append(&Record {
                time: u64::try_from(now.as_millis())?,
                principal: "user@terminal",
                call_id: "call_8h2kXq0P",
                traceparent: None,
                tool: "learn",
                source: Source::Builtin,
                capability: None,
                sha256: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
                arguments_hash: log.hash_arguments(black_box(br#"{"subject":"rust","page":3}"#)),
                grant: "fs.read:/subjects memory:64MiB time:30s fuel:1000000000",
                decision: Decision::Allowed,
                decided_by: None,
                outcome: OutcomeKind::Success,
                detail: None,
                duration_us: 12,
                fuel: Some(123_456),
                stdout_bytes: 2048,
                stderr_bytes: 0,
                trace: &[],
                transient: None,
            })?;
        }
        costs.push(start.elapsed() / APPENDS);
    }
    costs.sort_unstable();
    for (name, cost) in [
        ("best", costs.first()),
        ("median", costs.get(costs.len() / 2)),
    ] {
        let nanoseconds = cost.map_or(0, std::time::Duration::as_nanos);
        writeln!(
            out,
            "{name} {nanoseconds} ns/append (argument hash and clock included)"
        )?;
    }
    let start = Instant::now();
    let report = jp_audit::verify(&dir)?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "verify: {} records, whole: {}, {seconds:.3} s",
        report.records,
        report.is_intact()
    )?;
    Ok(std::fs::remove_dir_all(&dir)?)
}

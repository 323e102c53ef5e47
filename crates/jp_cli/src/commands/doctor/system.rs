//! The machine: its clock, its disk, and whether it can confine and compile.

use std::{fs, path::Path};

use jp_audit::Reader;
use jp_config::tool::ToolSource;
use jp_confine::{ConfineError, Launcher};
use jp_registry::{Places, Receipts};

use super::finding::{Family, Finding, Severity, quoted};
use crate::{clock, places, session::Session, words};

/// The beginning of 2026: this program is not older.
const BUILT_AFTER: u64 = 1_767_225_600_000;
/// Clocks of one machine may be set by so much, in milliseconds.
const SLACK: u64 = 5 * 60 * 1000;
/// Less room than this is little: an artifact, a model or compiled code may not fit.
const LITTLE_ROOM: u64 = 256 << 20;

/// Compares the clock with what was written down under it.
pub(super) fn clock() -> Vec<Finding> {
    let now = clock::now();
    if now < BUILT_AFTER {
        let problem = format!(
            "it says {}, which is before this jp was built",
            clock::utc(now)
        );
        return vec![wrong_clock(problem)];
    }
    let newest = places::own().audit_dir().ok().and_then(|dir| {
        let newest = Reader::open(&dir).ok()?.tail(1, |_| true).ok()?;
        let newest = newest.into_iter().flatten().next_back()?;
        Some(("the newest record of the audit log", newest.time))
    });
    let own = places::own();
    let receipts = own.data_dir().ok().and_then(|data| {
        let receipts = Receipts::open(&Places::new(Path::new("."), data).receipts()).ok()?;
        let newest = receipts.newest()?;
        Some(("the newest receipt of a tool", newest.saturating_mul(1000)))
    });
    let ahead = [newest, receipts].into_iter().flatten();
    ahead
        .filter(|(_, time)| *time > now.saturating_add(SLACK))
        .map(|(what, time)| {
            wrong_clock(format!(
                "it says {}, but {what} is from {}",
                clock::utc(now),
                clock::utc(time)
            ))
        })
        .collect()
}

/// Makes the finding of a clock that is wrong.
pub(super) fn wrong_clock(problem: String) -> Finding {
    Finding {
        family: Family::Clock,
        severity: Severity::Warning,
        subject: "clock".to_owned(),
        problem,
        fix: "timedatectl set-ntp true".to_owned(),
    }
}

/// Checks what this machine offers for running tools.
pub(super) fn system(session: Option<&Session>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = confinement(session).into_iter().collect();
    findings.extend(wasm());
    if let Some(dir) = places::own().cache_dir() {
        findings.extend(room(dir, "cache", Severity::Warning));
    }
    if let Ok(dir) = places::own().data_dir() {
        findings.extend(room(dir, "data", Severity::Error));
    }
    findings
}

fn confinement(session: Option<&Session>) -> Option<Finding> {
    let needed = session.is_some_and(needs_commands);
    let severity = if needed {
        Severity::Warning
    } else {
        Severity::Note
    };
    let finding = |problem: String, fix: String| Finding {
        family: Family::System,
        severity,
        subject: "commands".to_owned(),
        problem,
        fix,
    };
    let launcher = match Launcher::current_exe() {
        Ok(launcher) => launcher,
        Err(error) => {
            let fix = "jp --version".to_owned();
            return Some(finding(
                format!("cannot find the program file of jp: {error}"),
                fix,
            ));
        }
    };
    match launcher.support() {
        Ok(()) => None,
        Err(ConfineError::Unsupported { problem, hint }) => Some(finding(
            format!("they are refused, since this system cannot confine them: {problem}"),
            hint,
        )),
        Err(error) => Some(finding(error.to_string(), "jp doctor".to_owned())),
    }
}

/// Returns whether the workspace has anything that runs as a process.
fn needs_commands(session: &Session) -> bool {
    let config = &session.loaded().config;
    let servers = config.providers.mcp.values();
    let tools = config.conversation.tools.tools.values();
    let local = |source: &ToolSource| matches!(source, ToolSource::Local { .. });
    servers.into_iter().any(|server| server.command.is_some())
        || tools
            .into_iter()
            .any(|tool| local(&tool.source) && tool.command().is_some())
}

fn wasm() -> Option<Finding> {
    let (problem, features) = if !jp_llm::runs_wasm() {
        ("this jp was built without Wasm: only commands run", "")
    } else if !cfg!(feature = "compiler") {
        let problem = "this jp was built without the compiler: of Wasm tools only builtins run";
        (problem, " --features wasm-tools,compiler")
    } else {
        return None;
    };
    Some(Finding {
        family: Family::System,
        severity: Severity::Warning,
        subject: "wasm".to_owned(),
        problem: problem.to_owned(),
        fix: format!("cargo build --release -p jp_cli{features}"),
    })
}

/// Looks whether a directory can be written to and has room.
fn room(dir: &Path, what: &str, severity: Severity) -> Option<Finding> {
    let finding = |severity, problem: String, fix: String| Finding {
        family: Family::System,
        severity,
        subject: dir.display().to_string(),
        problem,
        fix,
    };
    // What is not there yet is made where it will be: the nearest directory above says how.
    let existing = dir.ancestors().find(|dir| dir.is_dir())?;
    if let Err(error) = jp_disk::Temporary::create(existing, ".jp-doctor-", "") {
        let problem = format!("cannot write to the {what} directory: {error}");
        return Some(finding(
            severity,
            problem,
            format!("chmod u+rwx {}", quoted(existing)),
        ));
    }
    let found = rustix::fs::statvfs(existing).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= LITTLE_ROOM {
        return None;
    }
    let code = dir.join("code");
    let fix = match fs::metadata(&code) {
        // It is compiled again when it is needed.
        Ok(_) => format!("rm -r {}", quoted(&code)),
        Err(_) => format!("df -h {}", quoted(existing)),
    };
    let problem = format!(
        "only {} of disk space left for the {what} directory",
        words::bytes(free)
    );
    Some(finding(Severity::Warning, problem, fix))
}

//! `jp doctor`: finds problems and says how to fix them. Changes nothing but what registries
//! last said.

mod broker;
mod definitions;
mod failed;
mod files;
mod finding;
mod keyring;
mod locked;
mod log;
mod offers;
mod permissions;
mod system;

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};

use self::{
    failed::failed,
    finding::{Family, Finding, Severity, whole_line},
    locked::Locked,
};
use super::{JSON_VERSION, tool::install::listen};
use crate::{error::CliError, exit::Exit, session::Session, ui::Ui};

/// Arguments of `jp doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Checks the tools of the workspace (compiles Wasm files, compares them with what
you trusted, finds the programs of commands) and of jp.lock (revoked,
deprecated, outdated, not verified here, signed by an untrusted key, not locked
or changed since, impossible to run, damaged), the topics of the knowledge
base, the permissions of your files, the audit log as `jp audit verify` does,
the clock, the key of your secrets, the store of the builtin tools, the secrets
that [broker] names, and the system. Each finding comes with the command that
fixes it.

Registries and MCP servers are contacted unless you pass --offline.

The exit code is 1 if there is an error or a warning, and 0 if there are only
notes.

Examples:
  jp doctor
  jp doctor --offline
  jp doctor --json | jq -r '.findings[] | select(.severity == \"error\").fix'")]
pub(crate) struct DoctorArgs {
    /// Do not contact registries or servers; use what registries last said
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Who may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// Registries, and MCP servers.
    Registries,
    /// Nobody.
    Nobody,
}

/// Checks everything, and reports what it found.
pub(crate) fn run(args: &DoctorArgs, ui: &Ui) -> Result<Exit, CliError> {
    let asking = if args.offline {
        Asking::Nobody
    } else {
        Asking::Registries
    };
    let findings = examine(asking, ui)?;
    let bad = findings.iter().any(|one| one.severity > Severity::Note);
    if args.json {
        ui.json(&report(&findings))?;
    } else {
        ui.bytes(page(&findings).as_bytes())?;
    }
    Ok(if bad { Exit::SaidNo } else { Exit::Done })
}

fn examine(asking: Asking, ui: &Ui) -> Result<Vec<Finding>, CliError> {
    // Before anything is opened: what is opened refuses files that others can change.
    let mut findings = permissions::check()?;
    let session = match Session::open(ui) {
        Ok(session) => Some(session),
        Err(error) => {
            findings.push(failed("workspace", &error));
            None
        }
    };
    if let Some(session) = &session {
        findings.extend(definitions::trust(session));
        findings.extend(definitions::topics(session));
        findings.extend(tools(session, asking, ui));
    }
    findings.extend(log::check());
    findings.extend(keyring::check());
    findings.extend(broker::check(session.as_ref()));
    findings.extend(system::clock());
    findings.extend(system::system(session.as_ref()));
    Ok(findings)
}

/// Checks the tools. A part that cannot be checked is a finding, and does not stop the others.
fn tools(session: &Session, asking: Asking, ui: &Ui) -> Vec<Finding> {
    let mut findings = Vec::new();
    let locked = match Locked::open(session) {
        Ok(locked) => Some(locked),
        Err(error) => {
            findings.push(failed("jp.lock", &error));
            None
        }
    };
    if let Some(locked) = &locked {
        findings.extend(locked.check());
        findings.extend(definitions::pins(session, &locked.lock));
        findings.extend(definitions::forgotten(session, &locked.lock));
        let asked = listen().and_then(|interrupts| {
            offers::check(session, &locked.lock, asking, &interrupts.cancel, ui)
        });
        match asked {
            Ok(found) => findings.extend(found),
            Err(error) => findings.push(failed("registries", &error)),
        }
        let revoked = locked.revoked(&findings);
        findings.extend(revoked);
    }
    match definitions::tools(session, locked.as_ref(), asking, ui) {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(failed("tools", &error)),
    }
    findings
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    let of = findings.iter().filter(|one| one.severity == severity);
    of.count()
}

fn report(findings: &[Finding]) -> Value {
    let shown: Vec<Value> = findings.iter().map(Finding::json).collect();
    json!({
        "version": JSON_VERSION,
        "errors": count(findings, Severity::Error),
        "warnings": count(findings, Severity::Warning),
        "notes": count(findings, Severity::Note),
        "findings": shown,
    })
}

fn page(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "Everything is fine.\n".to_owned();
    }
    let mut out = String::new();
    for family in Family::ALL {
        let mut ours: Vec<&Finding> = findings.iter().filter(|one| one.family == family).collect();
        if ours.is_empty() {
            continue;
        }
        ours.sort_by_key(|one| std::cmp::Reverse(one.severity));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", family.heading());
        for one in ours {
            let (subject, mut problem) = (whole_line(&one.subject), one.problem.trim().lines());
            let first = whole_line(problem.next().unwrap_or_default());
            let _ = writeln!(out, "  {:<8} {subject}: {first}", one.severity.as_str());
            // The bar keeps a stranger's line from looking like a finding, or like what fixes one.
            for line in problem {
                let _ = writeln!(out, "           | {}", whole_line(line));
            }
            let _ = writeln!(out, "           -> {}", whole_line(&one.fix));
        }
        out.push('\n');
    }
    let say = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let _ = writeln!(
        out,
        "{}, {}, {}.",
        say(count(findings, Severity::Error), "error"),
        say(count(findings, Severity::Warning), "warning"),
        say(count(findings, Severity::Note), "note")
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_grouped_the_worst_first_and_hostile_text_is_escaped() {
        assert_eq!(page(&[]), "Everything is fine.\n");
        let one = |family, severity, problem: &str| Finding {
            family,
            severity,
            subject: "a".to_owned(),
            problem: problem.to_owned(),
            fix: "jp do".to_owned(),
        };
        let findings = [
            one(Family::System, Severity::Note, "s"),
            one(Family::Tools, Severity::Warning, "w"),
            one(Family::Tools, Severity::Error, "e\n\u{1b}[2J"),
        ];
        let expected = "Tools\n  error    a: e\n           | \\u{1b}[2J\n           -> jp do\n  \
            warning  a: w\n           -> jp do\n\nSystem\n  note     a: s\n           -> jp do\n\n\
            1 error, 1 warning, 1 note.\n";
        assert_eq!(page(&findings), expected);
    }
}

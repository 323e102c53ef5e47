//! The audit log: whether it is intact, as `jp audit verify` sees it.

use jp_audit::{AuditError, ProblemKind, Report};

use super::finding::{Family, Finding, Severity, aside};
use crate::places;

/// Verifies the log.
pub(super) fn check() -> Option<Finding> {
    let dir = places::own().audit_dir().ok()?;
    let finding = |severity, problem: String, fix: String| Finding {
        family: Family::Files,
        severity,
        subject: "audit log".to_owned(),
        problem,
        fix,
    };
    let report = match jp_audit::verify(&dir) {
        Ok(report) if report.is_intact() => return None,
        Ok(report) => report,
        // Others write to it all the time; there is nothing to fix.
        Err(error @ AuditError::Unsettled { .. }) => {
            let fix = "jp audit verify".to_owned();
            return Some(finding(Severity::Note, error.to_string(), fix));
        }
        Err(error) => {
            let problem = format!("it cannot be verified: {error}");
            return Some(finding(Severity::Error, problem, aside(&[&dir])));
        }
    };
    let torn = |problem: &jp_audit::Problem| problem.kind == ProblemKind::TornTail;
    if report.problems.iter().all(torn) && report.problems_not_listed == 0 {
        // Opening the log for a call sets the half record aside; this call changes nothing else.
        let fix = "jp tool run todo action=list".to_owned();
        return Some(finding(Severity::Warning, told(&report), fix));
    }
    // Nothing repairs it. Moved out of the way it is kept for an investigation, and the next
    // call begins another.
    Some(finding(Severity::Error, told(&report), aside(&[&dir])))
}

/// Says what is wrong, one problem on each line.
fn told(report: &Report) -> String {
    let listed = report.problems.iter().map(ToString::to_string);
    let mut lines: Vec<String> = ["it is damaged".to_owned()]
        .into_iter()
        .chain(listed)
        .collect();
    if report.problems_not_listed > 0 {
        lines.push(format!("… and {} more", report.problems_not_listed));
    }
    lines.join("\n")
}

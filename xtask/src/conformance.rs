//! `cargo xtask conformance`: `jp serve` and the conformance suite of MCP.

mod baseline;
mod serving;
mod suite;

use std::path::Path;

use anyhow::{Result, bail};

use crate::report;
use baseline::Baseline;
use serving::Serving;
use suite::{Scenario, Suite};

pub(crate) const HELP: &str = "\
runs the conformance suite of MCP against jp serve, and prints the score

Installs the pinned suite and a node that can run it into target/conformance, builds jp
and the tools that the suite calls, and serves a copy of conformance/workspace. What fails
must be in conformance/baseline.toml with its reason, and what is there must fail.";

/// The revisions of the protocol that the suite has requirements for.
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let baseline = Baseline::read(&root.join("conformance/baseline.toml"))?;
    let suite = Suite::install(root)?;
    let serving = Serving::start(root, &suite)?;
    let (mut table, mut problems) = (format!("{}\n", suite::PACKAGE), Vec::new());
    for revision in REVISIONS {
        let scenarios = suite.run(revision, serving.url())?;
        table.push_str(&lines(revision, &scenarios, &baseline));
        problems.extend(baseline.problems(revision, &scenarios));
    }
    report::data(&table);
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

/// Writes the score, then what failed and what was not scored.
fn lines(revision: &str, scenarios: &[Scenario], baseline: &Baseline) -> String {
    let scored: Vec<&Scenario> = scenarios.iter().filter(|one| one.is_scored).collect();
    let passed = scored.iter().filter(|one| one.has_passed()).count();
    let mut text = format!("\n{revision}: {passed} of {}\n", scored.len());
    for scenario in scenarios {
        let verdict = match (scenario.has_passed(), scenario.is_scored) {
            (true, true) => continue,
            (true, false) => "passed, not scored",
            (false, true) => "failed",
            (false, false) => "failed, not scored",
        };
        text.push_str(&format!("  {:<48} {verdict}\n", scenario.name));
        let reason = baseline.reason(revision, &scenario.name);
        let known = reason.map(|reason| vec![reason.to_owned()]);
        for line in known.as_ref().unwrap_or(&scenario.failures) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

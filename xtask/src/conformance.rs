//! `cargo xtask conformance`: jp and the conformance suite of MCP, as a server and as a client.

mod baseline;
mod serving;
mod suite;

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::Run;
use crate::report;
use baseline::Baseline;
use serving::Serving;
use suite::{Leg, Scenario, Suite};

pub(crate) const HELP: &str = "\
runs the conformance suite of MCP against jp, and prints the score

Installs the pinned suite and a node that can run it into target/conformance, builds jp
and the tools that the suite calls, and serves a copy of conformance/workspace. Then the
suite is the server, and every tool it has is called through a workspace of its own.
What fails must be in conformance/baseline.toml with its reason, and what is there must
fail. `--client` and `--server` run one half.";

/// The revisions of the protocol that the suite has requirements for.
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let legs: &[Leg] = match words {
        [] => &[Leg::Server, Leg::Client],
        ["--server"] => &[Leg::Server],
        ["--client"] => &[Leg::Client],
        [other, ..] => bail!("unknown option `{other}`; try: cargo xtask conformance --help"),
    };
    let baseline = Baseline::read(&root.join("conformance/baseline.toml"))?;
    let suite = Suite::install(root)?;
    let mut report = Report {
        table: format!("{}\n", suite::PACKAGE),
        problems: Vec::new(),
        baseline,
    };
    if legs.contains(&Leg::Server) {
        let serving = Serving::start(root, &suite)?;
        for revision in REVISIONS {
            let scenarios = suite.serve(revision, serving.url())?;
            report.add(Leg::Server, revision, &scenarios);
        }
    }
    if legs.contains(&Leg::Client) {
        Run::cargo("build --package jp_host --example conformance_client", root).run()?;
        let client = root.join("target/debug/examples/conformance_client");
        for revision in REVISIONS {
            let scenarios = suite.call(revision, &client)?;
            report.add(Leg::Client, revision, &scenarios);
        }
    }
    report::data(&report.table);
    if !report.problems.is_empty() {
        bail!("{}", report.problems.join("\n"));
    }
    Ok(())
}

/// What is printed, and what makes the chore fail.
struct Report {
    table: String,
    problems: Vec<String>,
    baseline: Baseline,
}

impl Report {
    fn add(&mut self, leg: Leg, revision: &str, scenarios: &[Scenario]) {
        let section = leg.section(revision);
        self.table
            .push_str(&lines(&section, scenarios, &self.baseline));
        self.problems
            .extend(self.baseline.problems(&section, scenarios));
    }
}

/// Writes the score, then what failed and what was not scored.
fn lines(section: &str, scenarios: &[Scenario], baseline: &Baseline) -> String {
    let scored: Vec<&Scenario> = scenarios.iter().filter(|one| one.is_scored).collect();
    let passed = scored.iter().filter(|one| one.has_passed()).count();
    let mut text = format!("\n{section}: {passed} of {}\n", scored.len());
    for scenario in scenarios {
        let verdict = match (scenario.has_passed(), scenario.is_scored) {
            (true, true) => continue,
            (true, false) => "passed, not scored",
            (false, true) => "failed",
            (false, false) => "failed, not scored",
        };
        text.push_str(&format!("  {:<48} {verdict}\n", scenario.name));
        let reason = baseline.reason(section, &scenario.name);
        let known = reason.map(|reason| vec![reason.to_owned()]);
        for line in known.as_ref().unwrap_or(&scenario.failures) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

//! The suite: how it gets here, how it is run, and what it says.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::interop::{install_from_npm, newer_node};
use crate::process::Run;
use crate::report::say;

/// What is installed.
pub(super) const PACKAGE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

const MAIN: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

/// The suite, installed.
pub(super) struct Suite {
    dir: PathBuf,
    node: PathBuf,
}

/// Which side of a connection jp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leg {
    Server,
    Client,
}

impl Leg {
    /// Names a part of the score, and of the baseline.
    pub(super) fn section(self, revision: &str) -> String {
        match self {
            Self::Server => revision.to_owned(),
            Self::Client => format!("{revision} client"),
        }
    }
}

/// What became of a scenario.
#[derive(Debug, PartialEq)]
pub(super) struct Scenario {
    pub(super) name: String,
    /// Whether it counts for its revision.
    pub(super) is_scored: bool,
    /// What failed; nothing when it passed.
    pub(super) failures: Vec<String>,
}

impl Scenario {
    pub(super) fn has_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Suite {
    pub(super) fn install(root: &Path) -> Result<Self> {
        let dir = root.join("target").join("conformance");
        let suite = dir.join("suite");
        fs::create_dir_all(&suite).with_context(|| format!("cannot make {}", suite.display()))?;
        let installed = install_from_npm(&suite, PACKAGE);
        if let Err(why) = installed {
            bail!("{why}");
        }
        match newer_node(root)? {
            Ok(node) => Ok(Self { dir, node }),
            Err(why) => bail!("{why}"),
        }
    }

    /// Names a run of a script.
    pub(super) fn node(&self, script: &Path) -> Run {
        Run::new(&self.node, &self.dir).arg(script)
    }

    /// Runs the scenarios of a revision against a server.
    pub(super) fn serve(&self, revision: &str, url: &str) -> Result<Vec<Scenario>> {
        let run = |run: Run| run.args(["server", "--url", url]);
        self.run(Leg::Server, revision, run)
    }

    /// Runs the scenarios of a revision against a client.
    pub(super) fn call(&self, revision: &str, client: &Path) -> Result<Vec<Scenario>> {
        let client = client.to_str().context("a path that is not text")?;
        // All scenarios run at once, on however few cores there are.
        let words = ["client", "--timeout", "120000", "--command", client];
        self.run(Leg::Client, revision, |run| run.args(words))
    }

    fn run(
        &self,
        leg: Leg,
        revision: &str,
        words: impl FnOnce(Run) -> Run,
    ) -> Result<Vec<Scenario>> {
        let section = leg.section(revision);
        say(&format!("running the scenarios of {section}"));
        let results = self.dir.join("results").join(section.replace(' ', "-"));
        if results.exists() {
            fs::remove_dir_all(&results).with_context(|| results.display().to_string())?;
        }
        let run = words(self.node(&self.dir.join("suite").join(MAIN)));
        let run = run.args(["--requirements", revision]);
        let output = run.arg("--output-dir").arg(&results).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let mut scenarios = read(&said);
        if scenarios.is_empty() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("the suite ran nothing\n{said}\n{errors}");
        }
        for scenario in &mut scenarios {
            if !scenario.has_passed() {
                let failures = failures(&results, leg, &scenario.name)?;
                scenario.failures.extend(failures);
            }
        }
        Ok(scenarios)
    }
}

/// Reads the summary: a line for each scenario, then those that are not scored.
fn read(said: &str) -> Vec<Scenario> {
    let summary = said.split("SUMMARY ===").nth(1).unwrap_or_default();
    let (all, unscored) = summary
        .split_once("Not scored for")
        .unwrap_or((summary, ""));
    let unscored: Vec<&str> = unscored.lines().filter_map(|line| marked(line)).collect();
    let unscored: Vec<&str> = unscored
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    all.lines()
        .filter_map(|line| {
            let (name, counts) = marked(line)?.split_once(": ")?;
            let has_passed = counts.ends_with(" 0 failed");
            Some(Scenario {
                name: name.to_owned(),
                is_scored: !unscored.contains(&name),
                failures: match has_passed {
                    true => Vec::new(),
                    false => vec![counts.to_owned()],
                },
            })
        })
        .collect()
}

/// Returns what stands behind the mark of a line.
fn marked(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "))
}

/// One thing that a scenario looked at.
#[derive(Deserialize)]
struct Check {
    id: String,
    status: String,
    #[serde(rename = "errorMessage", default)]
    error: Option<String>,
}

/// Reads what failed in a scenario from the file that the suite writes about it.
fn failures(results: &Path, leg: Leg, scenario: &str) -> Result<Vec<String>> {
    let path = match leg {
        Leg::Server => format!("server-{scenario}"),
        Leg::Client => scenario.to_owned(),
    };
    // The name of a scenario may be that of a directory, and of a file in it.
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let (dir, start) = (results.join(dir), format!("{name}-20"));
    let mut failures = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(&start) {
            continue;
        }
        let text = fs::read_to_string(entry.path().join("checks.json"))?;
        let checks: Vec<Check> = serde_json::from_str(&text)?;
        let failed = |one: &Check| ["FAILURE", "WARNING"].contains(&one.status.as_str());
        failures.extend(checks.into_iter().filter(failed).map(|one| {
            let error = one.error.unwrap_or_default();
            format!("{}: {}", one.id, jp_text::shorten(&error, 300))
        }));
    }
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_passed_and_what_counts() {
        let said = "=== Running scenario: ping ===\n✓ noise: 9 passed, 9 failed\n\n=== SUMMARY ===\n\
            ✓ ping: 3 passed, 0 failed\n✗ prompts-list: 1 passed, 10 failed\n\
            ✗ tasks-lifecycle: 0 passed, 1 failed\n\nTotal: 4 passed, 11 failed\n\n\
            Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.\n  \
            ✗ tasks-lifecycle (extension)\n";
        let found = read(said);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.is_scored, one.has_passed()))
            .collect();
        assert_eq!(
            found,
            [
                ("ping", true, true),
                ("prompts-list", true, false),
                ("tasks-lifecycle", false, false)
            ]
        );
        assert_eq!(read("nothing at all"), []);
        let said = "=== SUITE SUMMARY ===\n\n✓ auth/a: 3 passed, 0 failed\n✗ b: 1 passed, 0 failed, 1 warnings\n";
        let found: Vec<_> = read(said).iter().map(Scenario::has_passed).collect();
        assert_eq!(found, [true, false]);
    }
}

//! What is known to fail, with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::suite::Scenario;

/// Reasons, by section and scenario. The section of a revision is its date, and for clients the date and
/// `client`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Baseline(BTreeMap<String, BTreeMap<String, String>>);

impl Baseline {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Returns why a scenario fails.
    pub(super) fn reason(&self, revision: &str, scenario: &str) -> Option<&str> {
        let reason = self.0.get(revision)?.get(scenario)?;
        Some(reason)
    }

    /// Says which scored scenarios fail that should not, and which entries are of no use.
    pub(super) fn problems(&self, revision: &str, scenarios: &[Scenario]) -> Vec<String> {
        let failed = |one: &&Scenario| one.is_scored && !one.has_passed();
        let failed: Vec<&str> = scenarios
            .iter()
            .filter(failed)
            .map(|one| one.name.as_str())
            .collect();
        let new = failed
            .iter()
            .filter(|name| self.reason(revision, name).is_none())
            .map(|name| format!("{revision}: {name} failed"));
        let known = self.0.get(revision).into_iter().flat_map(BTreeMap::keys);
        let stale = known
            .filter(|name| !failed.contains(&name.as_str()))
            .map(|name| {
                format!(
                    "{revision}: {name} does not fail; remove it from conformance/baseline.toml"
                )
            });
        new.chain(stale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, is_scored: bool, failures: &[&str]) -> Scenario {
        Scenario {
            name: name.to_owned(),
            is_scored,
            failures: failures.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    #[test]
    fn new_failures_and_stale_entries_are_problems() {
        let text = "['2025-11-25']\nknown = 'why'\nstale = 'why'\ngone = 'why'\n";
        let baseline: Baseline = toml::from_str(text).unwrap();
        let scenarios = [
            scenario("known", true, &["no"]),
            scenario("stale", true, &[]),
            scenario("new", true, &["no"]),
            scenario("unscored", false, &["no"]),
        ];
        assert_eq!(
            baseline.problems("2025-11-25", &scenarios),
            [
                "2025-11-25: new failed",
                "2025-11-25: gone does not fail; remove it from conformance/baseline.toml",
                "2025-11-25: stale does not fail; remove it from conformance/baseline.toml",
            ]
        );
        assert_eq!(baseline.reason("2025-11-25", "known"), Some("why"));
        assert_eq!(baseline.problems("2026-07-28", &scenarios).len(), 2);
    }

    #[test]
    fn the_baseline_that_is_checked_in_has_reasons_only_for_known_revisions() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let baseline = Baseline::read(&root.join("conformance/baseline.toml")).unwrap();
        for (revision, reasons) in &baseline.0 {
            let date = revision.split(' ').next().unwrap();
            assert!(crate::conformance::REVISIONS.contains(&date));
            assert!(reasons.values().all(|reason| !reason.is_empty()));
        }
    }
}

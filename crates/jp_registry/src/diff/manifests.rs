//! Two manifests of a tool.

use jp_policy::{Limits, LimitsRequest, Request};

use super::{Diff, Reason, Sign};
use crate::{key::KeyId, manifest::ToolManifest};

/// A version of a tool: what its manifest says, and who signed it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    /// What it says.
    pub manifest: &'a ToolManifest,
    /// Who signed it.
    pub key: KeyId,
}

impl Diff {
    /// Compares two versions of a tool.
    #[must_use]
    pub(crate) fn between(old: Side<'_>, new: Side<'_>) -> Self {
        let mut diff = Self::default();
        let (was, is) = (old.manifest, new.manifest);
        diff.line("version", &was.version.to_string(), &is.version.to_string());
        if old.key != new.key {
            diff.line("key", &old.key.to_string(), &new.key.to_string());
            diff.because(Some(Reason::Key));
        }
        diff.values("", &was.shown(), &is.shown(), Some(Reason::Shown));
        let (asked, asks) = (was.request(), is.request());
        diff.lists("asks for", &asked.words(), &asks.words());
        diff.because(is_wider(&asked, &asks).then_some(Reason::Wider));
        let (had, has) = (limits(&was.limits), limits(&is.limits));
        for ((name, had), (_, has)) in had.iter().zip(&has) {
            diff.line(name, &had.to_string(), &has.to_string());
        }
        let raised = had.iter().zip(&has).any(|(had, has)| had.1 < has.1);
        diff.because(raised.then_some(Reason::Limits));
        let models = |manifest: &ToolManifest| -> Vec<String> {
            let all = manifest.model_dependencies.iter();
            all.map(ToString::to_string).collect()
        };
        diff.lists("model", &models(was), &models(is));
        diff
    }

    /// Says all that a tool shows and asks for, where nothing is known of what was there before.
    #[must_use]
    pub(crate) fn of_new(new: Side<'_>) -> Self {
        let mut diff = Self::default();
        let is = new.manifest;
        diff.push(Sign::Added, &format!("version: {}", is.version));
        diff.push(Sign::Added, &format!("key: {}", new.key));
        let nothing = serde_json::Value::Object(serde_json::Map::new());
        diff.values("", &nothing, &is.shown(), Some(Reason::Shown));
        diff.lists("asks for", &[], &is.request().words());
        diff
    }

    /// Adds a line for what was, and one for what is, where they differ.
    pub(super) fn line(&mut self, name: &str, old: &str, new: &str) {
        if old != new {
            self.push(Sign::Removed, &format!("{name}: {old}"));
            self.push(Sign::Added, &format!("{name}: {new}"));
        }
    }
}

/// Tells whether `new` asks for anything that `old` did not ask for under the same condition.
fn is_wider(old: &Request, new: &Request) -> bool {
    let had = &old.capabilities;
    if had.missing(&new.capabilities).is_some() {
        return true;
    }
    new.conditional.iter().any(|more| {
        let same = old
            .conditional
            .iter()
            .filter(|known| known.when == more.when);
        let known = same.fold(had.clone(), |sum, known| sum.union(&known.needs));
        known.missing(&more.needs).is_some()
    })
}

/// Returns the limits as numbers, with the default where none is asked for.
pub(super) fn limits(asked: &LimitsRequest) -> [(&'static str, u64); 4] {
    let usual = Limits::default();
    let time = u64::try_from(usual.time.as_millis()).unwrap_or(u64::MAX);
    [
        (
            "memory in bytes",
            asked.memory.unwrap_or(usual.memory_bytes),
        ),
        ("time in ms", asked.time_ms.unwrap_or(time)),
        ("fuel", asked.fuel.unwrap_or(Limits::REGISTRY_FUEL)),
        (
            "output in bytes",
            asked.output.unwrap_or(usual.output_bytes),
        ),
    ]
}

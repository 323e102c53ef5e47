//! A tool that comes with the workspace, and what the lock file has of it.

use serde_json::{Map, Value};

use super::{Diff, Reason, Side, Sign, manifests::limits};
use crate::{lock::LockedCustom, manifest::ToolManifest, verify::VerifiedManifest};

/// What a manifest is pinned by.
const MANIFEST: &str = "digest of the manifest";

impl Diff {
    /// Compares a tool that comes with the workspace with what the lock file has of it. Without the
    /// manifest that was accepted (on another machine, say) what differs shows as new.
    #[must_use]
    pub(crate) fn of_custom(
        locked: &LockedCustom,
        was: Option<&ToolManifest>,
        found: &VerifiedManifest,
    ) -> Self {
        let is = LockedCustom::of(found);
        let (manifest, key) = (&found.manifest, is.key);
        let new = Side { manifest, key };
        let mut diff = match was {
            Some(manifest) => Self::between(
                Side {
                    manifest,
                    key: locked.key,
                },
                new,
            ),
            None => Self::of_unknown(locked, &is, manifest),
        };
        diff.line("sha256", &locked.sha256.to_string(), &is.sha256.to_string());
        if diff.is_empty() {
            diff.pins(locked, &is);
        }
        // Whatever the texts say: the lock file holds what was accepted.
        diff.because((locked.shown != is.shown).then_some(Reason::Shown));
        diff.because((locked.version > is.version).then_some(Reason::Older));
        diff
    }

    /// Compares with what the lock file has alone: digests, of which only the new texts are known.
    fn of_unknown(locked: &LockedCustom, is: &LockedCustom, manifest: &ToolManifest) -> Self {
        let mut diff = Self::default();
        diff.line(
            "version",
            &locked.version.to_string(),
            &is.version.to_string(),
        );
        if locked.key != is.key {
            diff.line("key", &locked.key.to_string(), &is.key.to_string());
            diff.because(Some(Reason::Key));
        }
        if locked.shown != is.shown {
            let nothing = Value::Object(Map::new());
            diff.values("", &nothing, &manifest.shown(), Some(Reason::Shown));
        }
        if locked.capabilities != is.capabilities {
            diff.lists("asks for", &[], &manifest.request().words());
            diff.because(Some(Reason::Wider));
        }
        if locked.manifest != is.manifest {
            diff.line(
                MANIFEST,
                &locked.manifest.to_string(),
                &is.manifest.to_string(),
            );
            // They may be unchanged, but the person who accepts them must see them.
            let limits = limits(&manifest.limits).map(|(name, limit)| format!("{name} {limit}"));
            let limits = limits.join(", ");
            diff.push(
                Sign::Added,
                &format!("limits, which may be other ones: {limits}"),
            );
            let models = manifest.model_dependencies.iter();
            diff.lists(
                "model",
                &[],
                &models.map(ToString::to_string).collect::<Vec<_>>(),
            );
            diff.because(Some(Reason::Unknown));
        }
        diff
    }

    /// Compares what the lock file has, field by field, where no text differs that people read.
    fn pins(&mut self, locked: &LockedCustom, is: &LockedCustom) {
        let fields = |tool: &LockedCustom| {
            [
                ("version", tool.version.to_string()),
                ("key", tool.key.to_string()),
                (MANIFEST, tool.manifest.to_string()),
                ("what the model sees", tool.shown.to_string()),
                ("what it asks for", tool.capabilities.to_string()),
            ]
        };
        for ((name, was), (_, now)) in fields(locked).iter().zip(&fields(is)) {
            self.line(name, was, now);
        }
    }
}

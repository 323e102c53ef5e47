//! Looking around: what registries offer, and what is locked and should not stay.

use semver::Version;

use super::{InstallError, Installer, Warning};
use crate::{
    Digest, Receipt, ToolId,
    lock::{Lock, LockedTool},
    receipt::revocation,
};

/// Names that differ by more letters are not near.
const NEAR: usize = 2;

/// A tool that a registry offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The registry.
    pub registry: String,
    /// The tool.
    pub id: ToolId,
    /// Its newest version.
    pub newest: Version,
    /// What it does, in a line that is safe to show.
    pub summary: String,
    /// Why its newest version should not be used any more; safe to show.
    pub deprecated: Option<String>,
    /// The version that is locked here.
    pub locked: Option<Version>,
}

/// A locked tool that should not stay as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// What is locked.
    pub tool: LockedTool,
    /// Whether it fits what the workspace asks for.
    pub fits: bool,
    /// The version that an update would go to: a newer one, unless the locked one does not fit.
    pub newer: Option<Version>,
    /// The newest version there is, whether or not it fits, if that is higher than the locked one.
    pub newest: Option<Version>,
    /// Why the locked version should not be used any more; safe to show.
    pub deprecated: Option<String>,
    /// Why the locked version was taken back; safe to show.
    pub revoked: Option<String>,
}

impl Outdated {
    /// Tells whether there is something to do, and not only to know.
    #[must_use]
    pub const fn is_due(&self) -> bool {
        !self.fits || self.newer.is_some() || self.deprecated.is_some() || self.revoked.is_some()
    }
}

impl Installer<'_> {
    /// Finds tools whose name or summary has a text in it, or whose name is nearly that; all of them
    /// for an empty text.
    ///
    /// # Errors
    ///
    /// When a registry cannot be asked.
    pub fn search(&self, text: &str) -> Result<Vec<Hit>, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let mut known = self.known()?;
        let wanted = text.to_lowercase();
        let mut hits = Vec::new();
        for registry in &self.registries {
            let Some(index) = self.refresh(registry, &mut known)? else {
                continue;
            };
            for (id, tool) in &index.content().tools {
                let summary = tool.summary.as_deref().unwrap_or_default();
                let near = strsim::damerau_levenshtein(id.as_str(), &wanted) <= NEAR;
                if !near && !id.as_str().contains(&wanted) && !has(summary, &wanted) {
                    continue;
                }
                let newest = tool.versions.get(&tool.newest);
                let locked = lock.tools().find(|locked| locked.id == *id);
                hits.push(Hit {
                    registry: registry.name.clone(),
                    id: id.clone(),
                    newest: tool.newest.clone(),
                    summary: shown(summary),
                    deprecated: newest.and_then(|newest| newest.deprecated.as_deref().map(shown)),
                    locked: locked.map(|locked| locked.version.clone()),
                });
            }
        }
        Ok(hits)
    }

    /// Returns the locked tools that have a newer version, do not fit what the workspace asks for,
    /// are deprecated or were revoked, and what was noticed while asking. `only` chooses some of the
    /// locked tools, whose registries alone are asked.
    ///
    /// # Errors
    ///
    /// When a registry is not configured or what it says is refused.
    pub fn outdated(
        &self,
        only: Option<&[&LockedTool]>,
    ) -> Result<(Vec<Outdated>, Vec<Warning>), InstallError> {
        let lock;
        let tools = match only {
            Some(only) => only.to_vec(),
            None => {
                lock = Lock::open(&self.places.lock)?;
                lock.tools().collect()
            }
        };
        let mut known = self.known()?;
        let mut asked = std::collections::BTreeMap::new();
        let mut all = Vec::new();
        let mut deprecated = Vec::new();
        for tool in tools {
            let registry = self.registry(&tool.registry)?;
            let index = self.ask_once(registry, &mut known, &mut asked)?;
            let listed = index.and_then(|index| index.version(&tool.id, &tool.version));
            if let Some(reason) = listed.and_then(|listed| listed.deprecated.as_ref()) {
                deprecated.push((tool.manifest, reason.clone()));
            }
            let ours = self.of_locked(tool);
            let revoked = &known.revoked;
            let newer = index.and_then(|index| ours.next(tool, index, revoked));
            let newest = index.and_then(|index| ours.any().next(tool, index, revoked));
            let found = Outdated {
                fits: ours.fits(&tool.version),
                newer: newer.cloned(),
                newest: newest.cloned(),
                deprecated: listed.and_then(|listed| listed.deprecated.as_deref().map(shown)),
                revoked: revocation(tool, &known.roots, revoked).map(|r| shown(&r)),
                tool: tool.clone(),
            };
            if found.is_due() || found.newest.is_some() {
                all.push(found);
            }
        }
        self.note_deprecated(deprecated)?;
        Ok((all, known.warnings))
    }

    /// Writes down which versions that were verified here are deprecated, for commands that look at
    /// them without asking a registry.
    fn note_deprecated(&self, said: Vec<(Digest, String)>) -> Result<(), InstallError> {
        if said.is_empty() {
            return Ok(());
        }
        let mut receipts = self.receipts()?;
        for (manifest, reason) in said {
            let Some(old) = receipts.get(&manifest) else {
                continue;
            };
            if old.deprecated.as_ref() == Some(&reason) {
                continue;
            }
            let noted = Receipt {
                deprecated: Some(reason),
                ..old.clone()
            };
            receipts.add(&self.disk, manifest, noted)?;
        }
        Ok(())
    }
}

fn has(summary: &str, wanted: &str) -> bool {
    summary.to_lowercase().contains(wanted)
}

/// Puts a text of a registry on one line with every character visible.
fn shown(text: &str) -> String {
    jp_text::escape_line(text).into_owned()
}

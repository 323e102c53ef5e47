//! Newer versions of what is locked.

use std::collections::BTreeMap;

use semver::Version;

use super::{InstallError, Installed, Installer, Known, Outcome, Registry, candidate::Wanted};
use crate::{
    ToolId,
    index::Index,
    lock::{Lock, LockedTool},
    revocation::Revocations,
    verify::Purpose,
};

/// What registries were asked in one go.
type Asked = BTreeMap<String, Option<Index>>;

impl Installer<'_> {
    /// Updates tools to their newest versions; without names, all that go by their own name. (One
    /// under another name stands beside another version on purpose, and is updated when it is named.)
    ///
    /// # Errors
    ///
    /// When the lock file cannot be read or a name is not in it; otherwise each tool has its own
    /// outcome, and one that is refused keeps none of the others.
    pub fn update(&self, names: &[ToolId]) -> Result<Vec<Outcome>, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let mut chosen = Vec::new();
        for name in names {
            let tool = lock.get(name.as_str());
            let missing = || InstallError::NotLocked { name: name.clone() };
            chosen.push(tool.ok_or_else(missing)?.clone());
        }
        if names.is_empty() {
            let own = lock.tools().filter(|tool| tool.name == tool.id);
            chosen.extend(own.cloned());
        }
        let mut asked = Asked::new();
        let outcomes = chosen.into_iter().map(|tool| {
            let name = tool.name.clone();
            (name, self.update_one(tool, &mut asked))
        });
        Ok(outcomes.collect())
    }

    fn update_one(&self, tool: LockedTool, asked: &mut Asked) -> Result<Installed, InstallError> {
        let mut known = self.known()?;
        let registry = self.registry(&tool.registry)?;
        let candidate = match self.ask_once(registry, &mut known, asked)? {
            Some(index) => match newer(&tool, index, &known.revoked) {
                Some(version) => self.version(registry, index, &tool.id, version, &known)?,
                None => return self.check(&tool),
            },
            None => {
                let wanted = Wanted {
                    registry: &registry.name,
                    id: tool.id.clone(),
                    version: None,
                    digest: None,
                    purpose: Purpose::Install,
                };
                let newest = self.candidate(registry, &wanted, &known)?;
                // Without an index the newest is what the server says it is: never go back for it.
                if *newest.manifest.version() <= tool.version {
                    return self.check(&tool);
                }
                newest
            }
        };
        let lock = Lock::open(&self.places.lock)?;
        let name = tool.name.clone();
        self.put(&name, Some(tool), candidate, &known, &lock)
    }

    /// Asks a registry what it offers, once for all tools of an update.
    pub(super) fn ask_once<'b>(
        &self,
        registry: &Registry,
        known: &mut Known,
        asked: &'b mut Asked,
    ) -> Result<Option<&'b Index>, InstallError> {
        if !asked.contains_key(&registry.name) {
            let index = self.refresh(registry, known)?;
            asked.insert(registry.name.clone(), index);
        }
        Ok(asked.get(&registry.name).and_then(Option::as_ref))
    }
}

/// Returns the highest version above the locked one that may be used: no preview, unless one is
/// locked, and none that was taken back.
pub(super) fn newer<'a>(
    tool: &LockedTool,
    index: &'a Index,
    revoked: &Revocations,
) -> Option<&'a Version> {
    let offered = index.tool(&tool.id)?;
    let usable = |version: &&Version| {
        let preview = !version.pre.is_empty() && tool.version.pre.is_empty();
        **version > tool.version
            && **version <= offered.newest
            && !preview
            && revoked.version(&tool.id, version).is_none()
    };
    offered.versions.keys().rfind(usable)
}

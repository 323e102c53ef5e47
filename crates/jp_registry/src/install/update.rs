//! The whole lock file: brought to what the workspace asks for, and to newer versions.

use std::collections::BTreeMap;

use super::{InstallError, Installed, Installer, Known, Outcome, Registry, Spec, asked::Asked};
use crate::{
    ToolId,
    index::Index,
    lock::{Lock, LockedTool},
};

/// What registries were asked in one go.
type Answers = BTreeMap<String, Option<Index>>;

impl Installer<'_> {
    /// Makes the lock file and this machine agree: installs what the workspace asks for and the lock
    /// file does not have as it is asked for, and fetches and verifies what is locked. Says of each
    /// what was done.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be read.
    pub fn lock(&self) -> Result<Vec<Outcome>, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let unfit = |spec: &&Spec| {
            let tool = lock.get(spec.name.as_str());
            !tool.is_some_and(|tool| spec.fits(tool))
        };
        let unfit: Vec<&Spec> = self.wanted.iter().filter(unfit).collect();
        let is_unfit = |tool: &&LockedTool| unfit.iter().any(|spec| spec.name == tool.name);
        let fit = lock.tools().filter(|tool| !is_unfit(tool));
        let mut all: Vec<Outcome> = fit
            .map(|tool| (tool.name.clone(), self.check(tool)))
            .collect();
        for spec in unfit {
            let outcome = self.install_asked(&Asked::of_workspace(spec));
            all.push((spec.name.clone(), outcome));
        }
        Ok(all)
    }

    /// Updates tools to the newest versions that fit what the workspace asks for; without names, all
    /// that are locked, by whichever name, as [`Installer::outdated`] lists them. (One that is to stay
    /// says so in the workspace's `[tooling]`.) A version goes back only where the workspace asks for
    /// older ones, and somebody accepts it.
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
            chosen.extend(lock.tools().cloned());
        }
        let mut answers = Answers::new();
        let outcomes = chosen.into_iter().map(|tool| {
            let name = tool.name.clone();
            (name, self.update_one(&tool, &mut answers))
        });
        Ok(outcomes.collect())
    }

    fn update_one(
        &self,
        tool: &LockedTool,
        answers: &mut Answers,
    ) -> Result<Installed, InstallError> {
        let asked = self.of_locked(tool);
        self.refuse_unfit(tool, &asked)?;
        let fits = asked.fits(&tool.version);
        let mut known = self.known()?;
        let registry = self.registry(&tool.registry)?;
        let candidate = match self.ask_once(registry, &mut known, answers)? {
            Some(index) => match asked.next(tool, index, &known.revoked) {
                Some(version) => {
                    let mut next = self.version(registry, index, &tool.id, version, &known)?;
                    let above = fits.then_some(&tool.version);
                    let others =
                        |offered| asked.others(version, above, registry, offered, &known.revoked);
                    next.others = index.tool(&tool.id).map(others).unwrap_or_default();
                    next
                }
                None if fits => return self.check(tool),
                None => return Err(asked.none_listed(registry, index, &known.revoked)),
            },
            None => {
                let newest = self.unlisted(&asked, registry, &known)?;
                // Without an index the newest is what the server says it is: never go back for it.
                if fits && newest.manifest.manifest.version <= tool.version {
                    return self.check(tool);
                }
                newest
            }
        };
        let lock = Lock::open(&self.places.lock)?;
        self.put(&asked, Some(tool.clone()), candidate, &known, &lock)
    }

    /// Asks a registry what it offers, once for all tools of an update.
    pub(super) fn ask_once<'b>(
        &self,
        registry: &Registry,
        known: &mut Known,
        answers: &'b mut Answers,
    ) -> Result<Option<&'b Index>, InstallError> {
        if !answers.contains_key(&registry.name) {
            let index = self.refresh(registry, known)?;
            answers.insert(registry.name.clone(), index);
        }
        Ok(answers.get(&registry.name).and_then(Option::as_ref))
    }
}

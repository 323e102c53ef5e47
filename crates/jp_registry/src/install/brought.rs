//! Tools that an app brings along, in the lock file: what a person accepted of them, and what is
//! there now.
//!
//! Their bytes lie in the workspace and are verified at every call; the lock file says which ones are
//! meant, so that an older version, which a trusted key signed as well, does not take their place.

use std::path::{Path, PathBuf};

use super::{
    Change, CustomTool, Decision, InstallError, Installed, Installer, Known, Mode, Outcome, Places,
    commit::deprecated, custom::verify_kept, kept,
};
use crate::{
    ToolId,
    diff::Diff,
    document,
    lock::{Lock, LockedCustom},
    manifest::ToolManifest,
    source::MAX_MANIFEST,
    verify::VerifiedManifest,
};

impl Places {
    /// Compares a tool that comes with the workspace with what the lock file has of it.
    #[must_use]
    pub fn custom_diff(&self, locked: &LockedCustom, found: &VerifiedManifest) -> Diff {
        let was = self.custom_manifest(locked);
        Diff::of_custom(locked, was.as_ref(), found)
    }

    /// Returns the manifest that was accepted, if that was on this machine.
    fn custom_manifest(&self, locked: &LockedCustom) -> Option<ToolManifest> {
        let kept = kept::find(&self.custom(), &locked.manifest).ok()??;
        let max = usize::try_from(MAX_MANIFEST).unwrap_or_default();
        let value = document::parse(&kept.bytes, max).ok()?;
        let same = document::digest(&value).ok()? == locked.manifest;
        same.then(|| ToolManifest::read(&value).ok()).flatten()
    }

    /// Returns where manifests of workspaces are kept: apart from those of registries, which have
    /// more to prove.
    fn custom(&self) -> PathBuf {
        self.data.join("custom")
    }
}

impl Installer<'_> {
    /// Brings the lock file to what comes with the workspace: what is new is locked, and what changed
    /// is, if it shows or asks for nothing more or a person accepts it. Says of each what was done.
    ///
    /// # Errors
    ///
    /// When a file of the user cannot be read.
    pub fn lock_custom(
        &self,
        root: &Path,
        tools: &[CustomTool],
    ) -> Result<Vec<Outcome<LockedCustom>>, InstallError> {
        if tools.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.known()?;
        let one = |tool: &CustomTool| (tool.name.clone(), self.lock_one(root, tool, &known));
        Ok(tools.iter().map(one).collect())
    }

    /// Takes out of the lock file what does not come with the workspace any more, and returns it.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be read, or may not or cannot be changed.
    pub fn forget_custom(&self, tools: &[CustomTool]) -> Result<Vec<LockedCustom>, InstallError> {
        // A name that is wanted of a registry now changes sides by a person's hand alone.
        let is_gone = |locked: &&LockedCustom| {
            !tools.iter().any(|tool| tool.name == locked.name)
                && !self.wanted.iter().any(|spec| spec.name == locked.name)
        };
        let lock = Lock::open(&self.places.lock)?;
        let Some(first) = lock.customs().find(is_gone) else {
            return Ok(Vec::new());
        };
        if self.mode == Mode::Locked {
            let name = &first.name;
            let change = format!("`{name}`, which does not come with the workspace, would go");
            return Err(InstallError::Locked { change });
        }
        self.change_lock(|lock| {
            let gone: Vec<LockedCustom> = lock.customs().filter(is_gone).cloned().collect();
            for tool in &gone {
                lock.remove_custom(&tool.name);
            }
            Ok(gone)
        })
    }

    fn lock_one(
        &self,
        root: &Path,
        custom: &CustomTool,
        known: &Known,
    ) -> Result<Installed<LockedCustom>, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        refuse_other(&custom.name, &lock)?;
        let (fetched, verified) = verify_kept(root, custom, known)?;
        let manifest = &verified.manifest;
        let mut warnings = known.warnings.clone();
        warnings.extend(self.satisfiable(manifest)?);
        self.backed(&verified)?;
        warnings.extend(deprecated(manifest, None));
        let tool = LockedCustom::of(&verified);
        let before = lock.custom(tool.name.as_str()).cloned();
        if before.as_ref() != Some(&tool) {
            self.accept_custom(before.as_ref(), &tool, &verified)?;
        }
        // Kept even where nothing changed: a later change is to be shown against it.
        kept::keep(&self.disk, &self.places.custom(), &tool.manifest, &fetched)?;
        if before.as_ref() != Some(&tool) {
            self.change_lock(|lock| {
                if lock.custom(tool.name.as_str()) != before.as_ref() {
                    let name = tool.name.clone();
                    return Err(InstallError::Raced { name });
                }
                refuse_other(&tool.name, lock)?;
                Ok(lock.set_custom(tool.clone())?)
            })?;
        }
        Ok(Installed {
            asks: manifest.request().words(),
            tool,
            before,
            warnings,
        })
    }

    /// Asks a person about what changed, where anything did that counts.
    fn accept_custom(
        &self,
        before: Option<&LockedCustom>,
        tool: &LockedCustom,
        found: &VerifiedManifest,
    ) -> Result<(), InstallError> {
        let (name, version) = (&tool.name, &tool.version);
        if self.mode == Mode::Locked {
            let change = match before {
                Some(_) => {
                    format!("it has another `{name}` than the workspace, which has {version}")
                }
                None => {
                    format!("`{name}` {version}, which comes with the workspace, would be added")
                }
            };
            return Err(InstallError::Locked { change });
        }
        let Some(before) = before else {
            return Ok(());
        };
        let diff = self.places.custom_diff(before, found);
        if diff.reasons.is_empty() {
            return Ok(());
        }
        let change = Change::Custom {
            from: before,
            to: tool,
            diff: &diff,
        };
        match (self.decide)(&change) {
            Decision::Accept => Ok(()),
            Decision::Refuse => Err(InstallError::StoppedPin {
                name: name.to_string(),
                diff: Box::new(diff),
            }),
        }
    }
}

/// Refuses a name that the lock file has for a tool of a registry.
fn refuse_other(name: &ToolId, lock: &Lock) -> Result<(), InstallError> {
    match lock.get(name.as_str()) {
        None => Ok(()),
        Some(tool) => Err(InstallError::OtherKind {
            name: name.clone(),
            is: format!("a tool of registry `{}`", tool.registry),
        }),
    }
}

/// Refuses a name that the lock file has for a tool that comes with the workspace.
pub(super) fn refuse_brought(name: &ToolId, lock: &Lock) -> Result<(), InstallError> {
    match lock.custom(name.as_str()) {
        None => Ok(()),
        Some(_) => Err(InstallError::OtherKind {
            name: name.clone(),
            is: "a tool that comes with the workspace".to_owned(),
        }),
    }
}

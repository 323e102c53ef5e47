//! Which versions of a tool are asked for: by the user's command, and by the workspace's `[tooling]`.
//!
//! Both must be satisfied. Which of a registry's versions that makes is chosen elsewhere.

use semver::Version;

use super::{InstallError, Installer, Mode, Registry, Spec, Unmet, Versions};
use crate::{ToolId, lock::LockedTool};

/// What is asked for of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The name in the workspace.
    pub(super) name: &'a ToolId,
    /// The name in the registry.
    pub(super) id: &'a ToolId,
    /// The registry; without one, the only one that has the tool.
    pub(super) registry: Option<&'a str>,
    /// What was typed.
    pub(super) typed: &'a Versions,
    /// What the workspace's `[tooling]` says.
    pub(super) workspace: Option<&'a Versions>,
}

impl Installer<'_> {
    /// Returns what is asked for when a spec is typed.
    pub(super) fn typed<'a>(&'a self, spec: &'a Spec) -> Asked<'a> {
        let workspace = self.wanted_as(&spec.name, &spec.id);
        let registry = spec.registry.as_deref();
        Asked {
            name: &spec.name,
            id: &spec.id,
            registry: registry.or_else(|| workspace?.registry.as_deref()),
            typed: &spec.versions,
            workspace: workspace.map(|wanted| &wanted.versions),
        }
    }

    /// Returns what is asked for of a locked tool when nothing more is typed.
    pub(super) fn of_locked<'a>(&'a self, tool: &'a LockedTool) -> Asked<'a> {
        let workspace = self.wanted_as(&tool.name, &tool.id);
        Asked {
            name: &tool.name,
            id: &tool.id,
            registry: Some(&tool.registry),
            typed: &Versions::Newest,
            workspace: workspace.map(|wanted| &wanted.versions),
        }
    }

    /// Finds what the workspace says of a tool under a name.
    fn wanted_as(&self, name: &ToolId, id: &ToolId) -> Option<&Spec> {
        let mut wanted = self.wanted.iter();
        wanted.find(|wanted| wanted.name == *name && wanted.id == *id)
    }

    /// Refuses a locked version that does not fit, where the lock file may not change.
    pub(super) fn refuse_unfit(
        &self,
        tool: &LockedTool,
        asked: &Asked<'_>,
    ) -> Result<(), InstallError> {
        if self.mode != Mode::Locked || tool.id != *asked.id || asked.fits(&tool.version) {
            return Ok(());
        }
        Err(InstallError::Locked {
            change: format!(
                "it has `{}` in version {}, which does not fit {}",
                tool.name,
                tool.version,
                asked.ranges()
            ),
        })
    }
}

impl<'a> Asked<'a> {
    /// Returns what the workspace asks for, when nothing is typed.
    pub(super) fn of_workspace(spec: &'a Spec) -> Self {
        Self {
            name: &spec.name,
            id: &spec.id,
            registry: spec.registry.as_deref(),
            typed: &Versions::Newest,
            workspace: Some(&spec.versions),
        }
    }

    /// Tells whether a version is one that was asked for.
    pub(super) fn fits(&self, version: &Version) -> bool {
        self.both().all(|versions| versions.fits(version))
    }

    /// Tells whether a range decides: nobody typed the very version that they get.
    pub(super) fn is_by_range(&self) -> bool {
        self.is_limited() && !matches!(self.typed, Versions::One(_))
    }

    /// Returns the one version that can be meant.
    pub(super) fn one(&self) -> Option<Version> {
        self.both().find_map(Versions::one)
    }

    /// Tells whether every release will do.
    pub(super) fn is_any(&self) -> bool {
        self.both().all(Versions::is_any)
    }

    /// Says what was asked for, and by whom.
    pub(super) fn ranges(&self) -> String {
        let typed = match self.typed {
            Versions::Newest => None,
            versions => Some(format!("`{versions}`")),
        };
        let workspace = self.workspace;
        let workspace = workspace.map(|versions| format!("`{versions}` of `[tooling]`"));
        let all: Vec<String> = typed.into_iter().chain(workspace).collect();
        all.join(" and ")
    }

    /// Says what cannot be had of a registry.
    pub(super) fn unmet(&self, registry: &Registry) -> Box<Unmet> {
        Box::new(Unmet {
            name: self.name.clone(),
            id: self.id.clone(),
            registry: registry.name.clone(),
            ranges: self.ranges(),
            by_workspace: self.workspace.is_some(),
        })
    }

    /// Refuses a version that was typed where the workspace asks for others.
    pub(super) fn refuse_typed(&self) -> Result<(), InstallError> {
        match (self.typed, self.workspace) {
            (Versions::One(version), Some(range)) if !range.fits(version) => {
                Err(InstallError::Unfit {
                    name: self.name.clone(),
                    id: self.id.clone(),
                    version: version.clone(),
                    range: range.to_string(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the same tool, whatever its version.
    pub(super) fn any(&self) -> Self {
        Self {
            typed: &Versions::Newest,
            workspace: None,
            ..*self
        }
    }

    /// Tells whether anybody said which versions will do.
    pub(super) fn is_limited(&self) -> bool {
        self.both().any(|versions| *versions != Versions::Newest)
    }

    fn both(&self) -> impl Iterator<Item = &'a Versions> {
        [self.typed].into_iter().chain(self.workspace)
    }
}

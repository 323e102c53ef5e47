//! What was asked for of a registry and cannot be had, and what to type instead.

use crate::ToolId;

/// Versions that were asked for and that a registry does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The name in the workspace.
    pub name: ToolId,
    /// The tool.
    pub id: ToolId,
    /// The registry.
    pub registry: String,
    /// The versions that were asked for, and by whom; safe to show.
    pub ranges: String,
    /// Whether the workspace has a say in it.
    pub by_workspace: bool,
}

impl Unmet {
    /// Says what to type to get one version.
    pub(super) fn hint(&self, version: &str) -> String {
        instead(&self.name, &self.id, version, self.by_workspace)
    }
}

/// Says what to type to get one version of a tool.
pub(super) fn instead(name: &ToolId, id: &ToolId, version: &str, by_workspace: bool) -> String {
    let own = name == id;
    if !by_workspace {
        return match own {
            true => format!("`jp tool install {id}@{version}`"),
            false => format!("`jp tool install {name}={id}@{version}`"),
        };
    }
    let line = match own {
        true => format!("{name} = \"{version}\""),
        false => format!("{name} = {{ id = \"{id}\", version = \"{version}\" }}"),
    };
    format!(
        "write `{line}` under `[tooling]` (`\"{id}@{version}\"` in a `locara.json`), then `jp tool lock`"
    )
}

//! Where the paths of a grant lead on this host.

use std::path::PathBuf;

use jp_policy::{Access, FileRule, Files};
use relative_path::RelativePath;

/// The workspace, as a guest sees it.
pub(crate) const WORKSPACE: &str = "/workspace";

/// The subjects of a topic, as a guest sees them.
#[cfg(feature = "wasm-tools")]
pub(crate) const SUBJECTS: &str = "/subjects";

/// Returns the part of a rule's path below the workspace; `None` when it lies elsewhere.
pub(crate) fn in_workspace(rule: &FileRule) -> Option<&RelativePath> {
    let rest = rule.path.as_str().strip_prefix(WORKSPACE)?;
    match rest.strip_prefix('/') {
        Some(below) => Some(RelativePath::new(below)),
        None => rest.is_empty().then(|| RelativePath::new("")),
    }
}

/// Splits the rules into directories of the host that may be read and that may be written.
pub(crate) fn host_paths(root: &std::path::Path, files: &Files) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut read, mut write) = (Vec::new(), Vec::new());
    for rule in files.rules() {
        if let Some(below) = in_workspace(rule) {
            let path = below.to_logical_path(root);
            match rule.access {
                Access::Read => read.push(path),
                Access::ReadWrite => write.push(path),
            }
        }
    }
    (read, write)
}

#[cfg(feature = "wasm-tools")]
pub(crate) use mounts::open;

#[cfg(feature = "wasm-tools")]
mod mounts {
    use std::path::Path;

    use jp_policy::Access;
    use jp_wasm::{DirPerms, FilePerms, Preopen, WasiConfig, WasiContext};

    use super::in_workspace;
    use crate::{ToolError, runtime::Invocation};

    /// Opens the directories of a grant for a guest.
    pub(crate) fn open(invocation: &Invocation<'_>) -> Result<WasiContext, ToolError> {
        let host = invocation.host;
        let failed = |error: jp_wasm::Error| ToolError::Host {
            tool: invocation.tool.name.clone(),
            reason: error.to_string(),
        };
        let rules = invocation.grant.capabilities().files.rules();
        let mut config = WasiConfig {
            preopens: Vec::with_capacity(1),
        };
        for rule in rules
            .iter()
            .filter(|rule| rule.path.as_str() == super::WORKSPACE)
        {
            let (dir_perms, file_perms) = match rule.access {
                Access::Read => (DirPerms::Read, FilePerms::Read),
                Access::ReadWrite => (DirPerms::ReadWrite, FilePerms::ReadWrite),
            };
            config.preopens.push(Preopen {
                guest_path: super::WORKSPACE.to_owned(),
                host_path: host.root.clone(),
                dir_perms,
                file_perms,
            });
        }
        let mut wasi = host.wasm()?.wasi_context(&config).map_err(failed)?;
        for rule in rules {
            // A directory below the workspace may be a symbolic link to somewhere else.
            if let Some(below) = in_workspace(rule).filter(|below| !below.as_str().is_empty()) {
                let perms = match rule.access {
                    Access::Read => DirPerms::Read,
                    Access::ReadWrite => DirPerms::ReadWrite,
                };
                let relative = Path::new(below.as_str());
                wasi.mount_below(&host.root, relative, rule.path.as_str(), perms)
                    .map_err(failed)?;
            }
        }
        Ok(wasi)
    }
}

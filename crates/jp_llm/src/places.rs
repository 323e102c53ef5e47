//! Where the paths of a grant lead on this host.

use std::path::PathBuf;

use jp_policy::{Access, FileRule, Files};
use relative_path::RelativePath;

/// The workspace, as a guest sees it.
pub(crate) const WORKSPACE: &str = "/workspace";

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

//! Where the paths of a grant lead on this host.

use std::path::{Path, PathBuf};

use jp_policy::{Access, FileRule, Files, Policy};
use relative_path::RelativePath;

use crate::Host;

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

/// Returns where a rule about a path beside the workspace leads: nothing where nothing is there, or where a
/// link leads to what the user's policy does not show.
pub(crate) fn beside_workspace(rule: &FileRule, policy: &Policy) -> Option<PathBuf> {
    let path = rule.host_path()?;
    // Nothing beside the workspace is ever changed.
    if rule.access != Access::Read {
        return None;
    }
    let real = Path::new(path).canonicalize().ok()?;
    let shown = policy.capabilities.files.rules().iter();
    let mut shown = shown.filter_map(|rule| Path::new(rule.host_path()?).canonicalize().ok());
    shown.any(|shown| real.starts_with(shown)).then_some(real)
}

/// Returns where a rule about a directory beside the workspace leads, as [`beside_workspace`] does.
pub(crate) fn directory_beside(rule: &FileRule, policy: &Policy) -> Option<PathBuf> {
    beside_workspace(rule, policy).filter(|path| path.is_dir())
}

/// Splits the rules into paths of the host that may be read and that may be written.
pub(crate) fn host_paths(host: &Host, files: &Files) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let root = host.root();
    let (mut read, mut write) = (Vec::new(), Vec::new());
    for rule in files.rules() {
        read.extend(beside_workspace(rule, host.policy()));
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

//! Which workspace is meant.

use std::{
    io,
    path::{Path, PathBuf},
};

use jp_registry::LOCK_FILE;

use crate::OpenError;

/// The file in which an app says what it is.
const APP_MANIFEST: &str = "locara.json";

/// A directory, and the workspace around it. Both are canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The directory that was meant.
    pub cwd: PathBuf,
    /// The workspace.
    pub root: PathBuf,
}

impl Location {
    /// Finds the workspace of a directory, by default the current one: the nearest directory above
    /// that has a `.jp`, an app manifest or a lock file in it, or else the directory itself.
    ///
    /// # Errors
    ///
    /// [`OpenError::Directory`] when the directory is not there or is a file.
    pub fn find(dir: Option<&Path>) -> Result<Self, OpenError> {
        let dir = dir.unwrap_or(Path::new("."));
        let failed = |source| OpenError::Directory {
            path: dir.to_owned(),
            source,
        };
        let cwd = dir.canonicalize().map_err(failed)?;
        if !cwd.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        let root = cwd.ancestors().find(|above| is_root(above));
        Ok(Self {
            root: root.unwrap_or(&cwd).to_owned(),
            cwd,
        })
    }
}

/// Returns whether a directory says that it is a workspace.
fn is_root(dir: &Path) -> bool {
    let has_file = |name: &str| dir.join(name).is_file();
    dir.join(".jp").is_dir() || has_file(APP_MANIFEST) || has_file(LOCK_FILE)
}

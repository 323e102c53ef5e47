//! Paths that a configuration names inside the workspace.
//!
//! [`InsidePath`] is checked as text when a file is read; `resolve_inside` follows links and is
//! for the moment a path is used.

use std::{
    io,
    path::{Path, PathBuf},
};

use relative_path::{RelativePath, RelativePathBuf};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The longest path that is accepted.
const MAX_PATH: usize = 4096;

/// A path below the workspace: not absolute, and without `..`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct InsidePath(RelativePathBuf);

impl InsidePath {
    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &RelativePathBuf {
        &self.0
    }
}

impl TryFrom<String> for InsidePath {
    type Error = InsidePathError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        check_inside(&text)?;
        Ok(Self(RelativePathBuf::from(text)))
    }
}

impl From<InsidePath> for String {
    fn from(path: InsidePath) -> Self {
        path.0.into_string()
    }
}

/// Reads an optional path below the workspace into its plain form.
pub(crate) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RelativePathBuf>, D::Error> {
    let path = Option::<InsidePath>::deserialize(deserializer)?;
    Ok(path.map(|path| path.0))
}

/// Why a path does not lead to something inside the workspace.
#[derive(Debug, thiserror::Error)]
pub enum InsidePathError {
    /// The path is empty or names the workspace itself.
    #[error("empty path")]
    Empty,
    /// The path is longer than any file system allows.
    #[error("path too long: expected at most {MAX_PATH} bytes, found {length}")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// The path starts at a root or a drive.
    #[error("invalid path `{path}`: expected one relative to the workspace")]
    Absolute {
        /// The path as written.
        path: String,
    },
    /// The path has a part that leads out.
    #[error("invalid path `{path}`: `..` could lead out of the workspace")]
    Parent {
        /// The path as written.
        path: String,
    },
    /// The path has characters that some systems read as something else.
    #[error("invalid path `{path}`: expected parts joined by `/`, without backslash, colon or NUL")]
    Characters {
        /// The path as written.
        path: String,
    },
    /// A link on the way leads out of the workspace.
    #[error("`{path}` leads out of the workspace through a link")]
    Escapes {
        /// The path as written.
        path: String,
    },
    /// There is nothing at the path.
    #[error("there is no file at `{}`", path.display())]
    NotFound {
        /// The path on this machine.
        path: PathBuf,
    },
    /// The path could not be looked at.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The path on this machine.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// The error of [`resolve_wasm`].
pub type WasmPathError = InsidePathError;

fn check_inside(text: &str) -> Result<(), InsidePathError> {
    let path = || jp_text::shorten(text, 200).into_owned();
    if text.len() > MAX_PATH {
        return Err(InsidePathError::TooLong { length: text.len() });
    }
    let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if text.starts_with(['/', '\\', '~']) || drive {
        return Err(InsidePathError::Absolute { path: path() });
    }
    if text.contains(['\\', '\0', ':']) {
        return Err(InsidePathError::Characters { path: path() });
    }
    if text.split('/').any(|part| part == "..") {
        return Err(InsidePathError::Parent { path: path() });
    }
    if text.split('/').all(|part| matches!(part, "" | ".")) {
        return Err(InsidePathError::Empty);
    }
    Ok(())
}

/// Follows a path below the workspace to a file that really lies in it.
///
/// The file itself is not opened.
///
/// # Errors
///
/// When the path is not inside the workspace, as text or after links are followed, or nothing is
/// there.
pub fn resolve_wasm(workspace_root: &Path, path: &RelativePath) -> Result<PathBuf, WasmPathError> {
    resolve_inside(workspace_root, path)
}

/// Follows a path below the workspace to something that really lies in it.
///
/// # Errors
///
/// As [`resolve_wasm`].
pub(crate) fn resolve_inside(
    workspace_root: &Path,
    path: &RelativePath,
) -> Result<PathBuf, InsidePathError> {
    check_inside(path.as_str())?;
    let canonical = |path: PathBuf| match path.canonicalize() {
        Ok(real) => Ok(real),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(InsidePathError::NotFound { path })
        }
        Err(source) => Err(InsidePathError::Io { path, source }),
    };
    let root = canonical(workspace_root.to_path_buf())?;
    let real = canonical(root.join(path.as_str()))?;
    if real == root || !real.starts_with(&root) {
        return Err(InsidePathError::Escapes {
            path: path.to_string(),
        });
    }
    Ok(real)
}

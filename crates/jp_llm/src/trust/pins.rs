//! What the Wasm files of a workspace are, by their hashes. Remembers nothing, and knows nothing of who
//! trusts whom.

use std::{collections::BTreeMap, fs, io, path::Path};

use jp_config::{
    AppConfig, InsidePathError, resolve_wasm,
    tool::{ToolConfig, ToolSource},
};
use jp_disk::Sha256;
use relative_path::{RelativePath, RelativePathBuf};

use crate::tool::path_by_convention;

/// The largest Wasm file that is hashed for a pin.
const MAX_WASM: u64 = 64 * 1024 * 1024;

/// Why a Wasm file has no pin.
#[derive(Debug, thiserror::Error)]
pub enum Unpinned {
    /// It does not exist.
    #[error("there is no such file")]
    Missing,
    /// The path leads to nothing a workspace may use.
    #[error("{reason}")]
    Path {
        /// Why not.
        reason: InsidePathError,
    },
    /// Something else than a file is there.
    #[error("it is not a file")]
    NotAFile,
    /// It is larger than what is hashed.
    #[error("too large: expected at most {MAX_WASM} bytes, found {length}")]
    TooLarge {
        /// How large it is.
        length: u64,
    },
    /// It could not be read.
    #[error("it cannot be read: {source}")]
    Unreadable {
        /// Why.
        source: io::Error,
    },
}

/// Hashes the Wasm files that the configuration names, or that its tools have by convention. The second
/// map has those that could not be hashed.
pub(super) fn of(
    root: &Path,
    config: &AppConfig,
) -> (BTreeMap<String, String>, BTreeMap<String, Unpinned>) {
    let (mut pins, mut unpinned) = (BTreeMap::new(), BTreeMap::new());
    for (name, tool) in &config.conversation.tools.tools {
        let Some(path) = file_of(name, tool, root) else {
            continue;
        };
        match pin(root, &path) {
            Ok(hash) => {
                pins.insert(path.into_string(), hash);
            }
            Err(why) => {
                unpinned.insert(path.into_string(), why);
            }
        }
    }
    (pins, unpinned)
}

/// Returns the path of the Wasm file a tool is in, if it is in one.
fn file_of(name: &str, tool: &ToolConfig, root: &Path) -> Option<RelativePathBuf> {
    if let Some(path) = tool.wasm() {
        return Some(path.to_owned());
    }
    let by_name = matches!(tool.source, ToolSource::Local { .. }) && tool.command().is_none();
    by_name.then(|| path_by_convention(name, root))?
}

fn pin(root: &Path, relative: &RelativePath) -> Result<String, Unpinned> {
    let path = resolve_wasm(root, relative).map_err(|reason| match reason {
        InsidePathError::NotFound { .. } => Unpinned::Missing,
        reason => Unpinned::Path { reason },
    })?;
    let unreadable = |source| Unpinned::Unreadable { source };
    let found = fs::metadata(&path).map_err(unreadable)?;
    if !found.is_file() {
        return Err(Unpinned::NotAFile);
    }
    if found.len() > MAX_WASM {
        let length = found.len();
        return Err(Unpinned::TooLarge { length });
    }
    let bytes = fs::read(&path).map_err(unreadable)?;
    Ok(Sha256::of(&bytes).to_string())
}

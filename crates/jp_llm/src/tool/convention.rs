//! Convention: a tool that is not configured may lie in the workspace as `wasm/<tool>_tool.wasm`.
//!
//! Such a file gets nothing by its name: no default capabilities, no files, no network.

use std::{fs, path::Path};

use relative_path::RelativePathBuf;

/// Where such files lie in a workspace.
const DIR: &str = "wasm";
/// How their names end.
const SUFFIX: &str = "_tool.wasm";
/// Files that are looked at for a list; a stranger's directory may hold any number.
const MAX_LISTED: usize = 1000;

/// Returns the path of a tool's file, if there is one. Nothing is looked for where no Wasm tool runs.
pub(crate) fn path_of(name: &str, root: &Path) -> Option<RelativePathBuf> {
    if !crate::runs_wasm() {
        return None;
    }
    let relative = format!("{DIR}/{name}{SUFFIX}");
    let is_file = is_plain(name) && root.join(&relative).is_file();
    is_file.then(|| RelativePathBuf::from(relative))
}

/// Returns the names of the tools that lie in a workspace this way, sorted.
pub(super) fn all(root: &Path) -> Vec<String> {
    if !crate::runs_wasm() {
        return Vec::new();
    }
    let entries = fs::read_dir(root.join(DIR)).into_iter().flatten();
    let mut names: Vec<String> = entries
        .take(MAX_LISTED)
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let name = name.strip_suffix(SUFFIX)?;
            path_of(name, root).map(|_| name.to_owned())
        })
        .collect();
    names.sort();
    names
}

/// Whether a name can be part of a file name without leading anywhere else.
fn is_plain(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let wasm = dir.path().join("wasm");
        fs::create_dir(&wasm).unwrap();
        fs::write(wasm.join("greet_tool.wasm"), b"").unwrap();
        fs::write(dir.path().join("out_tool.wasm"), b"").unwrap();
        fs::create_dir(wasm.join("dir_tool.wasm")).unwrap();
        let found = path_of("greet", dir.path()).unwrap();
        assert_eq!(found.as_str(), "wasm/greet_tool.wasm");
        for name in ["../out", "dir", "absent", "", ".", "a/b", "a\0"] {
            assert_eq!(path_of(name, dir.path()), None, "{name:?}");
        }
        assert_eq!(all(dir.path()), ["greet"]);
        assert!(all(&dir.path().join("nowhere")).is_empty());
    }
}

//! Tells a build script when to run again: after a change of any file that went into a guest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Artifact, GuestError, TARGET_DIR_VARIABLE};

/// Returns the `cargo:rerun-if-…` lines for a build script that built `artifacts`.
///
/// They name every source in the guests' dep-info files, the manifests beside them, and what the
/// whole workspace shares. The build script prints them, one per line.
///
/// # Errors
/// [`GuestError::DepInfo`] when a dep-info file cannot be read.
pub fn rerun_lines(
    workspace_root: &Path,
    artifacts: &[Artifact],
) -> Result<Vec<String>, GuestError> {
    let mut files = BTreeSet::new();
    for artifact in artifacts {
        let path = artifact.path.with_extension("d");
        let text = fs::read_to_string(&path).map_err(|source| GuestError::DepInfo {
            path: path.clone(),
            source,
        })?;
        for source in parse(&text) {
            let source = workspace_root.join(source);
            files.extend(manifest_of(&source, workspace_root));
            files.insert(source);
        }
    }
    for shared in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"] {
        let path = workspace_root.join(shared);
        // Cargo runs a build script every time if a file it names does not exist.
        files.extend(path.exists().then_some(path));
    }
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| format!("cargo:rerun-if-changed={}", file.display()))
        .collect();
    lines.push(format!("cargo:rerun-if-env-changed={TARGET_DIR_VARIABLE}"));
    Ok(lines)
}

/// Returns the manifest of the package that `source` belongs to.
fn manifest_of(source: &Path, workspace_root: &Path) -> Option<PathBuf> {
    source
        .ancestors()
        .skip(1)
        .take_while(|dir| dir.starts_with(workspace_root))
        .map(|dir| dir.join("Cargo.toml"))
        .find(|manifest| manifest.exists())
}

/// Reads the right-hand sides of a makefile rule, in which a space in a name is written `\ `.
fn parse(text: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for line in text.lines() {
        let Some((_, sources)) = line.split_once(": ") else {
            continue;
        };
        let mut path = String::new();
        let mut chars = sources.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '\\' if chars.peek() == Some(&' ') => path.extend(chars.next()),
                ' ' => paths.push(PathBuf::from(std::mem::take(&mut path))),
                other => path.push(other),
            }
        }
        paths.push(PathBuf::from(path));
    }
    paths.retain(|path| !path.as_os_str().is_empty());
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_one_path() {
        let text = "/t/a.wasm: /ws/a/src/lib.rs /ws/a\\ b/c.rs\n\n/t/empty.wasm:\n";
        assert_eq!(
            parse(text),
            [
                PathBuf::from("/ws/a/src/lib.rs"),
                PathBuf::from("/ws/a b/c.rs")
            ]
        );
    }

    #[test]
    fn sources_manifests_and_shared_files_are_watched() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("tool/src")).unwrap();
        for file in ["Cargo.toml", "tool/Cargo.toml", "tool/src/lib.rs"] {
            fs::write(root.join(file), "").unwrap();
        }
        let source = root.join("tool/src/lib.rs");
        fs::write(
            root.join("tool.d"),
            format!("tool.wasm: {}\n", source.display()),
        )
        .unwrap();
        let artifact = Artifact {
            package: "tool".into(),
            name: "tool".into(),
            path: root.join("tool.wasm"),
        };
        let lines = rerun_lines(root, &[artifact]).unwrap();
        let watched = |file: &str| {
            lines.contains(&format!(
                "cargo:rerun-if-changed={}",
                root.join(file).display()
            ))
        };
        assert!(watched("Cargo.toml") && watched("tool/Cargo.toml") && watched("tool/src/lib.rs"));
        assert!(!watched("Cargo.lock"), "it does not exist");
    }

    #[test]
    fn a_missing_dep_info_file_is_named() {
        let artifact = Artifact {
            package: "tool".into(),
            name: "tool".into(),
            path: "/nowhere/tool.wasm".into(),
        };
        let error = rerun_lines(Path::new("/nowhere"), &[artifact]).unwrap_err();
        assert_eq!(error.to_string(), "cannot read /nowhere/tool.d");
    }
}

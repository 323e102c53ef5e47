//! Builds tools to Wasm with a nested cargo, for build scripts and `xtask` alike: components for
//! `wasm32-wasip2`, core modules for `wasm32-unknown-unknown` and, with WASI, for `wasm32-wasip1`.
//!
//! The same sources must give the same bytes whoever asks, so the nested cargo sees a fixed set of
//! flags, its own target directory and a cleared environment. Knows nothing of what tools do or of
//! how they are run.

mod cargo;
mod dep_info;
mod environment;
mod error;
mod messages;
mod target;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use dep_info::rerun_lines;
pub use environment::clear_environment;
pub use error::GuestError;
pub use target::Target;

/// The environment variable that moves the directory guests are built in.
pub(crate) const TARGET_DIR_VARIABLE: &str = "JP_GUEST_TARGET_DIR";

/// The compiler and linker flags of every guest.
///
/// A fresh instance pays for each page it has. 256 KiB of stack hold the 128 levels at which
/// serde_json stops; rustc's own default is 1 MiB.
pub(crate) const GUEST_FLAGS: &[&str] = &["-Clink-arg=-zstack-size=262144"];

/// The cargo profile of every guest, defined in the workspace manifest.
const PROFILE: &str = "guest";

/// A package to build, and which of its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    package: String,
    targets: Targets,
    target: Target,
}

/// The targets of a package that become Wasm files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Targets {
    Library,
    Examples,
    Example(String),
}

impl Guest {
    /// Names a package whose library is the tool.
    #[must_use]
    pub fn library(package: &str) -> Self {
        Self {
            package: package.to_owned(),
            targets: Targets::Library,
            target: Target::Component,
        }
    }

    /// Names a package of which each example is a tool.
    #[must_use]
    pub fn examples(package: &str) -> Self {
        Self {
            package: package.to_owned(),
            targets: Targets::Examples,
            target: Target::Component,
        }
    }

    /// Names a package of which each example that requires the feature of [`Target::Module`] is a
    /// core module.
    #[must_use]
    pub fn modules(package: &str) -> Self {
        Self {
            package: package.to_owned(),
            targets: Targets::Examples,
            target: Target::Module,
        }
    }

    /// Names one of the core modules of a package.
    #[must_use]
    pub fn module(package: &str, example: &str) -> Self {
        Self {
            package: package.to_owned(),
            targets: Targets::Example(example.to_owned()),
            target: Target::Module,
        }
    }

    /// Names a package of which each example that requires the feature of [`Target::Preview1`] is
    /// a core module with WASI preview 1.
    #[must_use]
    pub fn preview1(package: &str) -> Self {
        Self {
            package: package.to_owned(),
            targets: Targets::Examples,
            target: Target::Preview1,
        }
    }

    /// Returns the package's name.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Returns what it is built for.
    #[must_use]
    pub const fn target(&self) -> Target {
        self.target
    }
}

/// A built component or module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The package it was built from.
    pub package: String,
    /// The file's name without `.wasm`: the library's or the example's name.
    pub name: String,
    /// Where the `.wasm` file lies.
    pub path: PathBuf,
}

/// Builds `packages` of the workspace at `workspace_root` and returns all files they made.
///
/// # Errors
/// When a target is not installed, cargo cannot be run or fails, or a package makes no `.wasm` file.
pub fn build(workspace_root: &Path, packages: &[Guest]) -> Result<Vec<Artifact>, GuestError> {
    for target in Target::ALL {
        if packages.iter().any(|guest| guest.target == target) {
            check_target(workspace_root, target)?;
        }
    }
    let mut artifacts = Vec::new();
    // One cargo each: cargo unifies features over all packages of one run, so a guest's bytes
    // would depend on which others happened to be asked for.
    for guest in packages {
        artifacts.extend(cargo::build_one(workspace_root, guest)?);
    }
    Ok(artifacts)
}

/// Checks that the workspace's toolchain can build for `target`.
///
/// # Errors
/// [`GuestError::TargetMissing`] when it cannot, [`GuestError::Spawn`] when rustc does not start.
pub fn check_target(workspace_root: &Path, target: Target) -> Result<(), GuestError> {
    cargo::check_target(workspace_root, target)
}

/// Returns the directory that guests are built in.
///
/// It hangs on the workspace and not on the outer cargo's target directory: that one is locked
/// while a build script runs, and every outer directory would build its own copy.
#[must_use]
pub fn target_dir(workspace_root: &Path) -> PathBuf {
    target_dir_from(workspace_root, std::env::var_os(TARGET_DIR_VARIABLE))
}

fn target_dir_from(workspace_root: &Path, variable: Option<OsString>) -> PathBuf {
    match variable {
        Some(dir) if !dir.is_empty() => workspace_root.join(dir),
        _ => workspace_root.join("target").join("guests"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_built_below_the_workspace_unless_told_otherwise() {
        let root = Path::new("/ws");
        assert_eq!(target_dir_from(root, None), Path::new("/ws/target/guests"));
        assert_eq!(
            target_dir_from(root, Some("".into())),
            Path::new("/ws/target/guests")
        );
        assert_eq!(
            target_dir_from(root, Some("/elsewhere".into())),
            Path::new("/elsewhere")
        );
        assert_eq!(
            target_dir_from(root, Some("near".into())),
            Path::new("/ws/near")
        );
    }
}

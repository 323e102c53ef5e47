//! What `cargo metadata` says of the workspace, cut down to what the chores ask.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::Run;

/// The workspace's own packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// One package of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// A dependency as a manifest declares it; `name` is the package's own, whatever it is renamed to.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// What the crate's sources call it, if that is something else.
    pub(crate) rename: Option<String>,
    #[serde(deserialize_with = "kind")]
    pub(crate) kind: Kind,
}

/// The section a dependency is declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Kind {
    /// Returns what the section is called in a manifest.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::Normal => "dependencies",
            Self::Build => "build-dependencies",
            Self::Dev => "dev-dependencies",
        }
    }
}

/// A library, binary, test or so on.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) doctest: bool,
}

/// Cargo writes `null` for a normal dependency.
fn kind<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None => Ok(Kind::Normal),
        Some("build") => Ok(Kind::Build),
        Some("dev") => Ok(Kind::Dev),
        Some(other) => Err(serde::de::Error::custom(format!(
            "unknown kind of dependency `{other}`"
        ))),
    }
}

impl Metadata {
    /// Asks cargo. Reads manifests only: no lock file, no registry.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text = Run::cargo("metadata --format-version 1 --no-deps", root).stdout()?;
        serde_json::from_str(&text).context("cannot read what cargo metadata printed")
    }

    /// Finds a package by name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// Returns whether the workspace has such a package.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.package(name).is_some()
    }
}

impl Package {
    /// Returns the directory of the package's manifest.
    pub(crate) fn dir(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

//! A node for what is too new for the one of this machine.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{install_from_npm, interop_dir};

/// The conformance suite of MCP wants 22, its inspector 22.19.
const VERSION: &str = "22.23.3";

/// Installs the program and returns where it is, or why it cannot be.
pub(crate) fn newer_node(root: &Path) -> Result<Result<PathBuf, String>> {
    let package = match package() {
        Ok(package) => package,
        Err(why) => return Ok(Err(why)),
    };
    let dir = interop_dir(root)?.join("node");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(
        match install_from_npm(&dir, &format!("{package}@{VERSION}")) {
            Ok(()) => Ok(dir
                .canonicalize()?
                .join("node_modules")
                .join(package)
                .join("bin/node")),
            Err(why) => Err(why),
        },
    )
}

/// The package that holds nothing but the program, and has no script of its own to run.
fn package() -> Result<String, String> {
    let arch = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("there is no package with node for {other}")),
    };
    Ok(format!("node-{OS}-{arch}"))
}

//! `cargo xtask guests`: the targets, then every guest and probe.

use std::path::Path;

use anyhow::{Result, bail};
use jp_guest_build::{Artifact, Guest, GuestError, Target};

use crate::metadata::Metadata;
use crate::process::{Run, is_not_found};
use crate::report;

pub(crate) const HELP: &str = "\
builds the guest tools and the probes: components and core modules

Adds the targets wasm32-wasip2, wasm32-unknown-unknown and wasm32-wasip1 to the
toolchain if they are missing, builds into target/guests (or $JP_GUEST_TARGET_DIR), and
prints the path of each file.";

/// The package of which each example tries one thing a guest should not manage.
pub(crate) const PROBES: &str = "jp_probes";

/// The packages whose library is a tool.
pub(crate) const TOOLS: &[&str] = &["jp_tool_learn", "jp_tool_test"];

/// The packages of which each example is a core module.
pub(crate) const MODULES: &[&str] = &["jp_tool_brokered", "jp_module_probes"];

/// The package of which some examples are core modules with WASI preview 1.
pub(crate) const PREVIEW1: &str = "jp_module_probes";

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    for artifact in build(root)? {
        report::data(&artifact.path.display().to_string());
    }
    Ok(())
}

/// Builds all guests of the workspace.
pub(crate) fn build(root: &Path) -> Result<Vec<Artifact>> {
    ensure_targets(root)?;
    let metadata = Metadata::read(root)?;
    let mut guests: Vec<Guest> = TOOLS.iter().map(|name| Guest::library(name)).collect();
    guests.push(Guest::examples(PROBES));
    guests.extend(MODULES.iter().map(|name| Guest::modules(name)));
    guests.push(Guest::preview1(PREVIEW1));
    let (present, absent): (Vec<Guest>, Vec<Guest>) = guests
        .into_iter()
        .partition(|guest| metadata.has(guest.package()));
    for guest in absent {
        report::say(&format!(
            "skipped: the workspace has no package {} yet",
            guest.package()
        ));
    }
    Ok(jp_guest_build::build(root, &present)?)
}

/// Installs the guests' targets for the workspace's toolchain, unless they are there.
pub(crate) fn ensure_targets(root: &Path) -> Result<()> {
    for target in Target::ALL {
        ensure_target(root, target)?;
    }
    Ok(())
}

fn ensure_target(root: &Path, target: Target) -> Result<()> {
    match jp_guest_build::check_target(root, target) {
        Ok(()) => return Ok(()),
        Err(GuestError::TargetMissing { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let triple = target.triple();
    report::say(&format!(
        "installing the {triple} target: rustup target add {triple}"
    ));
    match Run::new("rustup", root)
        .args(["target", "add", triple])
        .run()
    {
        Ok(()) => Ok(jp_guest_build::check_target(root, target)?),
        Err(error) if is_not_found(&error) => bail!(
            "the {triple} target is missing and so is rustup; install it from https://rustup.rs, \
             then type: rustup target add {triple}"
        ),
        Err(error) => Err(error),
    }
}

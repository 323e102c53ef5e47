//! `cargo xtask guests`: the target, then every guest and probe.

use std::path::Path;

use anyhow::{Result, bail};
use jp_guest_build::{Artifact, Guest, GuestError, TARGET};

use crate::metadata::Metadata;
use crate::process::{Run, is_not_found};
use crate::report;

pub(crate) const HELP: &str = "\
builds the guest tools and the probes for wasm32-wasip2

Adds the target to the toolchain if it is missing, builds into target/guests
(or $JP_GUEST_TARGET_DIR), and prints the path of each component.";

/// The package of which each example tries one thing a guest should not manage.
pub(crate) const PROBES: &str = "jp_probes";

/// The packages whose library is a tool.
pub(crate) const TOOLS: &[&str] = &["jp_tool_learn", "jp_tool_test"];

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    for artifact in build(root)? {
        report::data(&artifact.path.display().to_string());
    }
    Ok(())
}

/// Builds all guests of the workspace.
pub(crate) fn build(root: &Path) -> Result<Vec<Artifact>> {
    ensure_target(root)?;
    let metadata = Metadata::read(root)?;
    let mut guests: Vec<Guest> = TOOLS.iter().map(|name| Guest::library(name)).collect();
    guests.push(Guest::examples(PROBES));
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

/// Installs the guests' target for the workspace's toolchain, unless it is there.
pub(crate) fn ensure_target(root: &Path) -> Result<()> {
    match jp_guest_build::check_target(root) {
        Ok(()) => return Ok(()),
        Err(GuestError::TargetMissing) => {}
        Err(error) => return Err(error.into()),
    }
    report::say(&format!(
        "installing the {TARGET} target: rustup target add {TARGET}"
    ));
    match Run::new("rustup", root)
        .args(["target", "add", TARGET])
        .run()
    {
        Ok(()) => Ok(jp_guest_build::check_target(root)?),
        Err(error) if is_not_found(&error) => bail!(
            "the {TARGET} target is missing and so is rustup; install it from https://rustup.rs, \
             then type: rustup target add {TARGET}"
        ),
        Err(error) => Err(error),
    }
}

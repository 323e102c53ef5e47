//! `cargo xtask test`: every test of the workspace on this machine.

use std::path::Path;

use anyhow::Result;

use crate::metadata::Metadata;
use crate::process::{Run, is_installed};
use crate::report::{self, Steps};
use crate::{guests, report::say};

pub(crate) const HELP: &str = "\
runs all tests, after adding the Wasm targets if they are missing

Uses cargo-nextest where it is installed and cargo test otherwise; then the
examples in the documentation, if a library has them enabled.";

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    steps.run("targets", || guests::ensure_targets(root))?;
    add_steps(root, &mut steps)?;
    steps.summary();
    Ok(())
}

/// Runs the tests as steps of a longer run.
pub(crate) fn add_steps(root: &Path, steps: &mut Steps) -> Result<()> {
    let metadata = Metadata::read(root)?;
    steps.run("tests", || {
        if is_installed("cargo-nextest", "--version") {
            without_probes("nextest run --workspace", &metadata, root).run()
        } else {
            say("cargo-nextest is not installed: cargo test does the same, more slowly");
            without_probes("test --workspace --all-targets", &metadata, root).run()
        }
    })?;
    if metadata
        .packages
        .iter()
        .flat_map(|package| &package.targets)
        .any(|target| target.doctest)
    {
        steps.run("doctests", || {
            without_probes("test --doc --workspace", &metadata, root).run()
        })
    } else {
        report::say("no library has doctests enabled");
        Ok(())
    }
}

/// Adds to a `--workspace` command that probes, which only exist as Wasm, are left out.
pub(crate) fn without_probes(line: &str, metadata: &Metadata, root: &Path) -> Run {
    exclude_probes(Run::cargo(line, root), metadata)
}

/// The same for a command that is not cargo itself.
pub(crate) fn exclude_probes(run: Run, metadata: &Metadata) -> Run {
    if metadata.has(guests::PROBES) {
        run.args(["--exclude", guests::PROBES])
    } else {
        run
    }
}

/// Names a build of the development jp as its tests have it: alone it would have other features of shared
/// dependencies, and wasmtime would be built once more.
pub(crate) fn jp_as_tested(metadata: &Metadata, root: &Path) -> Run {
    let line = "test --workspace --test cli --no-run --locked";
    without_probes(line, metadata, root)
}

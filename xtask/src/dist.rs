//! `cargo xtask dist`: the binary people install, with its builtins compiled ahead of time.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::guests;
use crate::metadata::Metadata;
use crate::process::Run;
use crate::report::{self, Steps};

pub(crate) const HELP: &str = "\
builds the jp that people install, with precompiled builtins

Builds jp, lets it compile its own builtins (the compiler and its settings are
then exactly those that will load them), and builds again with the result
embedded. Prints sizes, also of a jp without Wasm.";

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::read(root)?;
    if !metadata.has("jp_cli") {
        bail!("the workspace has no package jp_cli yet");
    }
    let target = &metadata.target_directory;
    let binary = target.join("dist").join("jp");
    let precompiled = target.join("precompiled");
    let mut steps = Steps::default();
    let mut sizes = Vec::new();
    steps.run("targets", || guests::ensure_targets(root))?;
    steps.run("jp without wasm", || {
        build(root).arg("--no-default-features").run()?;
        sizes.push(("without wasm", size(&binary)?));
        Ok(())
    })?;
    steps.run("jp", || {
        build(root).run()?;
        sizes.push(("embedded .wasm", size(&binary)?));
        Ok(())
    })?;
    steps.run("precompile builtins", || {
        if precompiled.exists() {
            fs::remove_dir_all(&precompiled)?;
        }
        fs::create_dir_all(&precompiled)?;
        Run::new(&binary, root)
            .arg("__precompile")
            .arg(&precompiled)
            .run()
    })?;
    steps.run("jp with precompiled builtins", || {
        build(root).env("JP_PRECOMPILED_DIR", &precompiled).run()?;
        sizes.push(("precompiled", size(&binary)?));
        Ok(())
    })?;
    steps.summary();
    for (what, bytes) in sizes {
        report::data(&format!("{what:<16} {bytes:>12} bytes"));
    }
    report::data(&binary.display().to_string());
    Ok(())
}

fn build(root: &Path) -> Run {
    Run::cargo("build --package jp_cli --profile dist --locked", root)
}

fn size(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(metadata.len())
}

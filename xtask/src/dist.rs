//! `cargo xtask dist`: the binary people install, with its builtins compiled ahead of time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::process::Run;
use crate::report::{self, Steps};
use crate::{ceilings, guests, test};

pub(crate) const HELP: &str = "\
builds the jp that people install, with precompiled builtins

A development build of jp, made first unless it is there, compiles the builtins:
code depends on wasmtime's version and settings, not on how jp itself was
optimised. Then jp is built once, with the result embedded, and asked whether
it accepts it. Fails above the ceiling in xtask/src/ceilings.rs.

  --quick   the same with the development profile: for trying the chore, as CI does
  --sizes   also builds a jp without Wasm, to compare";

/// What the chore is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A binary to install.
    Install,
    /// Seeing that the chore works, in little time.
    Trial,
}

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let mut purpose = Purpose::Install;
    let mut compare = false;
    for word in words {
        match *word {
            "--quick" => purpose = Purpose::Trial,
            "--sizes" => compare = true,
            other => bail!("unknown option `{other}`; try: cargo xtask dist --help"),
        }
    }
    let mut steps = Steps::default();
    steps.run("targets", || guests::ensure_targets(root))?;
    let binary = add_steps(root, purpose, &mut steps)?;
    let without_wasm = if compare {
        Some(size_without_wasm(root, &mut steps)?)
    } else {
        None
    };
    steps.summary();
    let bytes = size(&binary)?;
    report::data(&format!("jp           {bytes:>12} bytes"));
    if let Some(bytes) = without_wasm {
        report::data(&format!("without wasm {bytes:>12} bytes"));
    }
    report::data(&binary.display().to_string());
    match purpose {
        Purpose::Install => ceilings::check_binary(bytes),
        Purpose::Trial => Ok(()),
    }
}

/// Tries the chore with the development profile, as steps of a longer run.
pub(crate) fn add_quick_steps(root: &Path, steps: &mut Steps) -> Result<()> {
    add_steps(root, Purpose::Trial, steps).map(|_| ())
}

/// Builds jp with its builtins precompiled, and returns where it lies.
fn add_steps(root: &Path, purpose: Purpose, steps: &mut Steps) -> Result<PathBuf> {
    let metadata = Metadata::read(root)?;
    if !metadata.has("jp_cli") {
        bail!("the workspace has no package jp_cli yet");
    }
    let target = &metadata.target_directory;
    let precompiled = target.join("precompiled");
    let development = target.join("debug/jp");
    let (compiles, embeds, binary) = match purpose {
        Purpose::Install => (
            build(root, "dev"),
            build(root, DIST),
            target.join("dist/jp"),
        ),
        Purpose::Trial => (
            build_with_tests(root, &metadata),
            build_with_tests(root, &metadata),
            development.clone(),
        ),
    };
    steps.run("precompile builtins", || {
        compiles.run()?;
        fs::create_dir_all(&precompiled)?;
        Run::new(&development, root)
            .arg("__precompile")
            .arg(&precompiled)
            .run()
    })?;
    steps.run("jp with precompiled builtins", || {
        embeds.env("JP_PRECOMPILED_DIR", &precompiled).run()
    })?;
    steps.run("its builtins are accepted", || {
        Run::new(&binary, root)
            .args(["__precompile", "--check"])
            .run()
    })?;
    Ok(binary)
}

fn size_without_wasm(root: &Path, steps: &mut Steps) -> Result<u64> {
    // A directory of its own, so that the binary cannot be taken for the one that is installed.
    let target = Metadata::read(root)?.target_directory.join("without-wasm");
    steps.run("jp without wasm", || {
        build(root, DIST)
            .arg("--no-default-features")
            .arg("--target-dir")
            .arg(&target)
            .run()
    })?;
    size(&target.join("dist/jp"))
}

/// The cargo profile of what people install.
const DIST: &str = "dist";

fn build(root: &Path, profile: &str) -> Run {
    let line = format!("build --package jp_cli --profile {profile} --locked");
    Run::cargo(&line, root)
}

/// Builds the development jp as its tests do: alone it would have other features of shared
/// dependencies, and wasmtime would be built once more.
fn build_with_tests(root: &Path, metadata: &Metadata) -> Run {
    let line = "test --workspace --test cli --no-run --locked";
    test::without_probes(line, metadata, root)
}

fn size(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_refused_before_anything_is_built() {
        let error = run(Path::new("/nonexistent"), &["--fast"]).unwrap_err();
        assert!(error.to_string().contains("`--fast`"), "{error}");
    }
}

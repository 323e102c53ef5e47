//! `cargo xtask fuzz`: random scripts against the virtual bash, each target for a while.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::Run;
use crate::report::say;

pub(crate) const HELP: &str = "\
Throw random scripts at the virtual bash, a minute for each target.

Targets are parser, interpreter, awk, sed, regex and jq. Generated scripts are also run by real bash where
it is installed; differences are printed and counted. A crash, a hang or too much memory fails, with the
seed and the input. `cargo xtask fuzz --seconds N` gives each target another time.";

const TARGETS: &[&str] = &["parser", "interpreter", "awk", "sed", "regex", "jq"];

/// Runs every target for a minute.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        [] => run_for(root, "60"),
        ["--seconds", seconds] => run_for(root, seconds),
        [extra, ..] => bail!("`fuzz` takes no `{extra}`; try: cargo xtask fuzz --help"),
    }
}

/// Runs every target for so many seconds.
fn run_for(root: &Path, seconds: &str) -> Result<()> {
    if seconds.parse::<u32>().is_err() {
        bail!("`{seconds}` is no number of seconds");
    }
    let mut failed = Vec::new();
    Run::cargo("build --release --package jp_bash --example fuzz", root).run()?;
    for target in TARGETS {
        let words = format!(
            "run --release --quiet --package jp_bash --example fuzz -- {target} {seconds} --bash"
        );
        if let Err(error) = Run::cargo(&words, root).run() {
            say(&format!("{target}: {error:#}"));
            failed.push(*target);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

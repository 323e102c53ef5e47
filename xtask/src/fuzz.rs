//! `cargo xtask fuzz`: random scripts against the virtual bash, each target for a while.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::Run;
use crate::report::say;

pub(crate) const HELP: &str = "\
Throw random scripts at the virtual bash, a minute for each target.

Targets are parser, interpreter, awk, sed, regex and jq. Generated scripts are also run by real bash where
it is installed; differences are printed and counted. A crash, a hang or too much memory fails, with the
seed and the input. `cargo xtask fuzz --seconds N TARGET...` gives each
target another time, and runs only those named.";

const TARGETS: &[&str] = &["parser", "interpreter", "awk", "sed", "regex", "jq"];

/// Runs targets, each for its time.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (seconds, named) = match words {
        ["--seconds", seconds, named @ ..] => (*seconds, named),
        ["--seconds"] => bail!("expected a number after `--seconds`"),
        named => ("60", named),
    };
    if seconds.parse::<u32>().is_err() {
        bail!("invalid number of seconds: `{seconds}`");
    }
    for name in named {
        if !TARGETS.contains(name) {
            bail!("`fuzz` takes no `{name}`; try: cargo xtask fuzz --help");
        }
    }
    run_for(
        root,
        seconds,
        if named.is_empty() { TARGETS } else { named },
    )
}

/// Runs these targets for so many seconds each.
fn run_for(root: &Path, seconds: &str, targets: &[&str]) -> Result<()> {
    let mut failed = Vec::new();
    Run::cargo("build --release --package jp_bash --example fuzz", root).run()?;
    for target in targets {
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

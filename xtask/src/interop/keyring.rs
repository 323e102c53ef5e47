//! The key of the secrets in a keyring that others wrote, reached by the built `jp`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::first_line;
use crate::process::{Run, is_installed};
use crate::report::say;
use crate::sample::Sample;

/// Starts buses and keyrings of its own, and runs `jp` with them.
const SCRIPT: &str = "crates/jp_test/interop/keyring.sh";

/// What the script starts, and the packages of Debian that have it.
const PROGRAMS: &[&str] = &["dbus-run-session", "gnome-keyring-daemon"];
const PACKAGES: &[&str] = &["dbus", "gnome-keyring"];

/// Runs the script; returns why it was left out, if it was.
pub(super) fn check(root: &Path) -> Result<Option<String>> {
    if let Err(why) = install(root) {
        say(&format!("keyring: skipped: {why}"));
        return Ok(Some(format!("keyring: {why}")));
    }
    let jp = Sample::of_tests(root, "interop")?.program().to_owned();
    let run = Run::new("sh", root).arg(root.join(SCRIPT)).arg(jp);
    run.run().context("keyring")?;
    Ok(None)
}

/// Installs what the script starts, if it is missing and may be installed.
fn install(root: &Path) -> Result<(), String> {
    let missing = || {
        let mut programs = PROGRAMS.iter();
        programs.find(|program| !is_installed(program, "--version"))
    };
    let Some(program) = missing() else {
        return Ok(());
    };
    let words = ["install", "-y", "--no-install-recommends"];
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !is_root || !is_installed("apt-get", "--version") {
        let packages = PACKAGES.join(" ");
        return Err(format!(
            "{program} is not installed: apt-get install {packages}"
        ));
    }
    say(&format!("installing {}", PACKAGES.join(", ")));
    let apt = |words: &[&str]| {
        let apt = Run::new("apt-get", root).env("DEBIAN_FRONTEND", "noninteractive");
        apt.args(words).stdout()
    };
    let all: Vec<&str> = words.iter().chain(PACKAGES).copied().collect();
    let installed = apt(&all).or_else(|_| apt(&["update"]).and_then(|_| apt(&all)));
    installed.map_err(|error| first_line(&format!("cannot install {PACKAGES:?}: {error:#}")))?;
    match missing() {
        Some(program) => Err(format!("{program} is not installed")),
        None => Ok(()),
    }
}

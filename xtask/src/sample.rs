//! A workspace under `target/` in which the built `jp` runs without touching the user's own files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::process::Run;
use crate::report::say;
use crate::test;

/// A workspace with its own configuration, data and cache directories.
pub(crate) struct Sample {
    dir: PathBuf,
    jp: PathBuf,
}

/// A call of a tool and what must come of it.
pub(crate) struct Call {
    /// What the call shows.
    pub(crate) title: &'static str,
    /// The words after `jp tool run`.
    pub(crate) words: &'static [&'static str],
    pub(crate) exit: i32,
    /// Text that stdout or stderr must contain.
    pub(crate) contains: &'static str,
}

/// How many lines of a result are shown.
const SHOWN_LINES: usize = 6;

impl Sample {
    /// Builds `jp` and makes a fresh workspace in `target/<name>`. The cache of compiled tools is kept.
    pub(crate) fn create(root: &Path, name: &str) -> Result<Self> {
        let metadata = Metadata::read(root)?;
        if !metadata.has("jp_cli") {
            bail!("the workspace has no package jp_cli yet");
        }
        Run::cargo("build --package jp_cli", root).run()?;
        Self::fresh(root, name)
    }

    /// Builds `jp` as its tests have it, which CI has done before, and makes a fresh workspace.
    pub(crate) fn of_tests(root: &Path, name: &str) -> Result<Self> {
        let metadata = Metadata::read(root)?;
        if !metadata.has("jp_cli") {
            bail!("the workspace has no package jp_cli yet");
        }
        test::jp_as_tested(&metadata, root).run()?;
        Self::fresh(root, name)
    }

    /// Makes a fresh workspace for a `jp` that is built already.
    pub(crate) fn fresh(root: &Path, name: &str) -> Result<Self> {
        let metadata = Metadata::read(root)?;
        let dir = root.join("target").join(name);
        for part in ["workspace", "config", "data", "state"] {
            let part = dir.join(part);
            if part.exists() {
                fs::remove_dir_all(&part).with_context(|| part.display().to_string())?;
            }
        }
        fs::create_dir_all(dir.join("workspace"))?;
        Ok(Self {
            dir,
            jp: metadata.target_directory.join("debug").join("jp"),
        })
    }

    /// Returns the workspace's directory.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    /// Returns the built `jp`.
    pub(crate) fn program(&self) -> &Path {
        &self.jp
    }

    /// Writes a file into the workspace.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.workspace().join(path);
        make_parent(&path)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Copies a file into the workspace.
    pub(crate) fn copy(&self, from: &Path, path: &str) -> Result<()> {
        let to = self.workspace().join(path);
        make_parent(&to)?;
        fs::copy(from, to)
            .map(|_| ())
            .with_context(|| format!("cannot copy {}", from.display()))
    }

    /// Names a run of `jp` in the workspace.
    pub(crate) fn jp(&self, words: &[&str]) -> Run {
        self.places(Run::new(&self.jp, &self.workspace()))
            .arg("-C")
            .arg(self.workspace())
            .args(words)
    }

    /// Lets a program that starts `jp` find the places of the sample.
    pub(crate) fn places(&self, run: Run) -> Run {
        let parts = ["config", "data", "cache", "state"].into_iter();
        let named = |run: Run, part: &str| {
            let name = format!("XDG_{}_HOME", part.to_uppercase());
            run.env(&name, self.dir.join(part))
        };
        // Whoever runs this may have a keyring, and it is not for samples.
        parts.fold(run, named).env("JP_KEYRING", "off")
    }

    /// Makes a call, shows it, and fails if it went otherwise than it must.
    pub(crate) fn call(&self, call: &Call) -> Result<()> {
        let words: Vec<&str> = ["tool", "run"].iter().chain(call.words).copied().collect();
        say(&format!("\n{}\n$ jp {}", call.title, words.join(" ")));
        let run = self.jp(&words);
        let start = Instant::now();
        let output = run.output()?;
        show(&output, start.elapsed());
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if output.status.code() != Some(call.exit) {
            bail!(
                "expected exit code {}, got {}\n\nto repeat it alone:\n  {run}",
                call.exit,
                output.status
            );
        }
        if !text.contains(call.contains) {
            bail!(
                "expected `{}` in the result\n\nto repeat it alone:\n  {run}",
                call.contains
            );
        }
        Ok(())
    }
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().context("a file has a parent directory")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))
}

fn show(output: &Output, took: Duration) {
    for stream in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(stream);
        let lines: Vec<&str> = text.lines().collect();
        for line in lines.iter().take(SHOWN_LINES) {
            say(&format!("  {line}"));
        }
        if lines.len() > SHOWN_LINES {
            say(&format!("  … {} more lines", lines.len() - SHOWN_LINES));
        }
    }
    say(&format!(
        "  [{}, {:.1} ms]",
        output.status,
        took.as_secs_f64() * 1000.0
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample whose `jp` is a shell, which is enough to see what it is called with.
    fn sample(dir: &Path) -> Sample {
        fs::create_dir_all(dir.join("workspace")).unwrap();
        Sample {
            dir: dir.to_owned(),
            jp: "sh".into(),
        }
    }

    #[test]
    fn jp_sees_only_directories_of_the_sample() {
        let dir = tempfile::tempdir().unwrap();
        let run = sample(dir.path()).jp(&["trust"]).to_string();
        for part in ["CONFIG", "DATA", "CACHE", "STATE"] {
            let place = dir.path().join(part.to_lowercase());
            assert!(
                run.contains(&format!("XDG_{part}_HOME={}", place.display())),
                "{run}"
            );
        }
        assert!(run.ends_with("/workspace trust"), "{run}");
    }

    #[test]
    fn a_call_that_ends_otherwise_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let call = |exit, contains| Call {
            title: "",
            words: &["x"],
            exit,
            contains,
        };
        let sample = sample(dir.path());
        // `sh -C DIR tool run x`: the directory is no script, so the shell fails.
        let actual = sample
            .jp(&["tool", "run", "x"])
            .output()
            .unwrap()
            .status
            .code()
            .unwrap();
        assert!(sample.call(&call(actual, "")).is_ok());
        let error = sample.call(&call(actual + 1, "")).unwrap_err().to_string();
        assert!(error.contains("expected exit code"), "{error}");
        let error = sample
            .call(&call(actual, "no such text"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected `no such text`"), "{error}");
    }
}

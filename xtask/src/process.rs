//! Runs programs so that a failure tells how to repeat it alone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// A program with its arguments, directory and extra environment.
pub(crate) struct Run {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    dir: PathBuf,
}

impl Run {
    /// Names a program to run in `dir`.
    pub(crate) fn new(program: impl AsRef<OsStr>, dir: &Path) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            dir: dir.to_owned(),
        }
    }

    /// Names cargo with the words of `line` as arguments.
    pub(crate) fn cargo(line: &str, root: &Path) -> Self {
        Self::new("cargo", root).args(line.split_whitespace())
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub(crate) fn args<T: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables
            .push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Runs the program with its output on ours, and fails if it does.
    pub(crate) fn run(&self) -> Result<()> {
        let mut command = self.command();
        let status = command
            .status()
            .with_context(|| format!("cannot run: {self}"))?;
        if !status.success() {
            bail!("{status}\n\nto repeat it alone:\n  {self}");
        }
        Ok(())
    }

    /// Runs the program and returns its stdout; fails if the program does.
    pub(crate) fn stdout(&self) -> Result<String> {
        let output = self.output()?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("{}\n{stderr}\nto repeat it alone:\n  {self}", output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the program and returns whatever came out of it.
    pub(crate) fn output(&self) -> Result<Output> {
        self.command()
            .output()
            .with_context(|| format!("cannot run: {self}"))
    }

    /// Starts the program with its stdout on a pipe, and does not wait for it.
    pub(crate) fn start(&self) -> Result<Child> {
        let mut command = self.command();
        command.stdout(Stdio::piped());
        command
            .spawn()
            .with_context(|| format!("cannot run: {self}"))
    }

    /// Starts the program with both its stdin and its stdout on pipes, and does not wait for it.
    pub(crate) fn start_with_input(&self) -> Result<Child> {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
            .spawn()
            .with_context(|| format!("cannot run: {self}"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.dir)
            .stdin(Stdio::null());
        // `cargo run` describes this crate to us; programs we start must not take it for theirs.
        for (name, _) in std::env::vars_os() {
            let describes_us = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
            });
            if describes_us {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.variables {
            write!(out, "{}={} ", name.to_string_lossy(), quoted(value))?;
        }
        write!(out, "{}", quoted(&self.program))?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(out, " {}", quoted(argument)))
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns whether `program --version` (or the given argument) can be run here.
pub(crate) fn is_installed(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns whether starting failed because there is no such program.
pub(crate) fn is_not_found(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_how_to_repeat_it() {
        let run = Run::new("sh", Path::new("/"))
            .args(["-c", "exit 7"])
            .env("A", "b c");
        let error = run.run().unwrap_err().to_string();
        assert!(
            error.contains("7") && error.contains("A='b c' sh -c 'exit 7'"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_program_is_told_apart_from_a_failing_one() {
        let missing = Run::new("no-such-program-here", Path::new("/"))
            .run()
            .unwrap_err();
        assert!(is_not_found(&missing));
        assert!(!is_not_found(
            &Run::new("false", Path::new("/")).run().unwrap_err()
        ));
    }
}

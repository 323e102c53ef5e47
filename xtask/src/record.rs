//! `cargo xtask record-cases FILE…`: writes into case files what the bash of this machine does.
//!
//! The format is that of `crates/jp_bash/tests/cases/format.rs`. Knows nothing of our shell.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::report::say;

pub(crate) const HELP: &str = "\
writes into case files what real bash does: record-cases FILE…

A case is a line `### name` and a script below it. This runs each script with
bash 5.2 in an empty directory, with only PATH, HOME and LANG set, and writes
what it printed and its exit status behind it. What was there is replaced; a
case that had a section `#--- stderr` gets one again. Cases must not depend on
time, process numbers, the machine's name or the user.";

/// Runs the chore.
pub(crate) fn run(root: &Path, files: &[&str]) -> Result<()> {
    if files.is_empty() {
        bail!("name the files to record, such as crates/jp_bash/cases/sort-options.txt");
    }
    ensure_bash()?;
    for file in files {
        // As the caller means it, who may stand elsewhere than in the workspace's directory.
        let path = std::env::current_dir().map_or_else(|_| root.join(file), |dir| dir.join(file));
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        let cases = read(&text)?;
        let scratch = root.join("target").join("record-cases");
        let mut out = head(&text).to_vec();
        for (at, case) in cases.iter().enumerate() {
            let output = bash(&scratch, &case.script)
                .with_context(|| String::from_utf8_lossy(&case.name).into_owned())?;
            if at > 0 {
                out.push(b'\n');
            }
            write(&mut out, case, &output);
        }
        fs::write(&path, out).with_context(|| path.display().to_string())?;
        say(&format!("{file}: {} cases", cases.len()));
    }
    Ok(())
}

/// A case as far as it is written by hand.
struct Case {
    name: Vec<u8>,
    script: Vec<u8>,
    with_stderr: bool,
}

fn ensure_bash() -> Result<()> {
    let output = Command::new("bash").arg("--version").output();
    let output = output.context("cannot run bash")?;
    ensure!(
        String::from_utf8_lossy(&output.stdout).contains("version 5.2."),
        "cases are recorded with bash 5.2; this is another"
    );
    Ok(())
}

/// Returns what stands before the first case.
fn head(text: &[u8]) -> &[u8] {
    if text.starts_with(b"### ") {
        return b"";
    }
    let first = text.windows(5).position(|bytes| bytes == b"\n### ");
    first.map_or(text, |at| &text[..=at])
}

fn read(text: &[u8]) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_script = false;
    for line in text.split(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"### ") {
            cases.push(Case {
                name: name.to_vec(),
                script: Vec::new(),
                with_stderr: false,
            });
            in_script = true;
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        in_script &= !line.starts_with(b"#--- ");
        case.with_stderr |= line == b"#--- stderr";
        if in_script {
            case.script.extend_from_slice(line);
            case.script.push(b'\n');
        }
    }
    for case in &mut cases {
        while case.script.ends_with(b"\n\n") {
            case.script.pop();
        }
        let name = String::from_utf8_lossy(&case.name);
        ensure!(!case.script.is_empty(), "`{name}` has no script");
    }
    Ok(cases)
}

/// Runs a script as the test that repeats it does.
fn bash(scratch: &Path, script: &[u8]) -> Result<Output> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    let work = scratch.join("w");
    fs::create_dir_all(&work)?;
    fs::write(scratch.join("script"), script)?;
    let output = Command::new("bash")
        .arg("../script")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/tmp/home-x")
        .env("LANG", "C.UTF-8")
        .current_dir(&work)
        .stdin(Stdio::null())
        .output()?;
    fs::remove_dir_all(scratch)?;
    Ok(output)
}

fn write(out: &mut Vec<u8>, case: &Case, output: &Output) {
    let stdout = &output.stdout;
    out.extend_from_slice(b"### ");
    out.extend_from_slice(&case.name);
    out.push(b'\n');
    out.extend_from_slice(&case.script);
    out.extend_from_slice(b"#--- stdout\n");
    out.extend_from_slice(stdout);
    if stdout.last().is_some_and(|byte| *byte != b'\n') {
        out.extend_from_slice(b"\n#--- no newline\n");
    }
    if case.with_stderr {
        out.extend_from_slice(b"#--- stderr\n");
        out.extend_from_slice(&output.stderr);
        if output.stderr.last().is_some_and(|byte| *byte != b'\n') {
            out.push(b'\n');
        }
    }
    let exit = output.status.code().unwrap_or(-1);
    out.extend_from_slice(format!("#--- exit {exit}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_replaced_and_the_rest_stays() {
        let text = b"# about\n### one\necho a\n\n### two\nfalse\n#--- stdout\nold\n#--- stderr\n#--- exit 9\n";
        let cases = read(text).unwrap();
        assert_eq!(head(text), b"# about\n");
        let [one, two] = cases.as_slice() else {
            panic!("there are two cases");
        };
        assert_eq!(
            (one.script.as_slice(), one.with_stderr),
            (&b"echo a\n"[..], false)
        );
        assert_eq!(
            (two.script.as_slice(), two.with_stderr),
            (&b"false\n"[..], true)
        );
        let output = Output {
            status: std::process::ExitStatus::default(),
            stdout: b"x".to_vec(),
            stderr: b"e\n".to_vec(),
        };
        let mut out = Vec::new();
        write(&mut out, two, &output);
        let want = "### two\nfalse\n#--- stdout\nx\n#--- no newline\n#--- stderr\ne\n#--- exit 0\n";
        assert_eq!(String::from_utf8_lossy(&out), want);
    }
}

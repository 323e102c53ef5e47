//! The same script in real bash. Only scripts that the generator made come here: they touch nothing but
//! their own directory.

use std::process::{Command, Stdio};

use jp_bash::ExecResult;

/// Returns how bash differs; nothing where it agrees, took too long or is not there.
pub(crate) fn compare(script: &[u8], ours: &ExecResult) -> Option<String> {
    let dir = tempfile::tempdir().ok()?;
    let file = dir.path().join("script");
    std::fs::write(&file, script).ok()?;
    let work = dir.path().join("w");
    std::fs::create_dir(&work).ok()?;
    let output = Command::new("timeout")
        .args([
            "2",
            "bash",
            "-c",
            "ulimit -v 1000000 -f 2000; exec bash -c \"$(cat ../script)\"",
        ])
        .current_dir(&work)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/tmp/home-x")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let code = output.status.code()?;
    if code == 124 || output.stdout.len() > 200_000 {
        return None;
    }
    if output.stdout == ours.stdout && code == ours.exit_code {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(format!(
        "--- script\n{}\n--- bash ({code})\n{}{}--- ours ({})\n{}{}",
        text(script),
        text(&output.stdout),
        text(&output.stderr),
        ours.exit_code,
        text(&ours.stdout),
        text(&ours.stderr),
    ))
}

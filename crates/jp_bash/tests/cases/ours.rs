//! Runs a case in our shell.

use std::time::Duration;

use jp_bash::{Bash, Bounds, ExecMode, ExecOptions};

use crate::format::{Case, Seen};

/// Returns what our shell does with a script.
pub(crate) fn run(case: &Case) -> Seen {
    let limits = Bounds {
        time: Duration::from_secs(10),
        ..Bounds::default()
    };
    let mut bash = Bash::builder()
        .limits(limits)
        .empty_environment()
        .plain_errors()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/tmp/home-x")
        .env("LANG", "C.UTF-8")
        .file("/tmp/case/script", case.script.clone())
        .cwd("/tmp/case/w")
        .build();
    let options = ExecOptions {
        name: b"../script".to_vec(),
        mode: ExecMode::File,
        ..ExecOptions::default()
    };
    let result = bash.exec_with(&case.script, &options, None);
    Seen {
        stdout: result.stdout,
        stderr: Some(result.stderr),
        exit: result.exit_code,
    }
}

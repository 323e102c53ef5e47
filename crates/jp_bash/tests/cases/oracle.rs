//! Runs a case in the real bash of this machine, if its tools are those that the cases were recorded with.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::format::{Case, Seen};

/// A tool, how it tells its version, what that must contain, and the files of cases that are about it.
struct Tool {
    command: &'static [&'static str],
    version: &'static str,
    files: &'static [&'static str],
}

const BASH: &[&str] = &["bash", "--version"];

const TOOLS: &[Tool] = &[
    Tool {
        command: &["awk", "-W", "version"],
        version: "mawk 1.3.4",
        files: &["awk-", "options", "text-"],
    },
    Tool {
        command: &["gawk", "--version"],
        version: "GNU Awk 5.2",
        files: &["gawk-", "text-agents"],
    },
    Tool {
        command: &["jq", "--version"],
        version: "jq-1.6",
        files: &["jq-", "text-agents"],
    },
    Tool {
        command: &["grep", "--version"],
        version: "(GNU grep) 3.8",
        files: &["grep-", "options", "text-"],
    },
    Tool {
        command: &["sed", "--version"],
        version: "(GNU sed) 4.9",
        files: &["options", "sed-", "text-"],
    },
    Tool {
        command: &["find", "--version"],
        version: "(GNU findutils) 4.9",
        files: &["find-", "options", "xargs-"],
    },
    Tool {
        command: &["sort", "--version"],
        version: "(GNU coreutils) 9.1",
        files: &[
            "cksum-", "cp-", "cut-", "date-", "env-", "files-", "head-", "links-", "ls-", "od-",
            "options", "paste-", "seq-", "sort-", "stat-", "tac-", "tail-", "text-", "tr-",
            "uniq-", "wc-",
        ],
    },
    Tool {
        command: &["xxd", "--version"],
        version: "xxd",
        files: &["options", "text-more-commands"],
    },
    Tool {
        command: &["cmp", "--version"],
        version: "(GNU diffutils) 3.8",
        files: &["options"],
    },
    Tool {
        command: &["column", "--version"],
        version: "util-linux 2.38",
        files: &["options"],
    },
    Tool {
        command: &["curl", "--version"],
        version: "curl",
        files: &["text-fresh"],
    },
    Tool {
        command: &["ls", "/usr/share/zoneinfo/Europe/Berlin"],
        version: "Berlin",
        files: &["date-"],
    },
];

/// Which cases this machine can repeat.
pub(crate) struct Oracle {
    missing: Vec<&'static Tool>,
}

impl Oracle {
    /// Looks at the tools; nothing where bash is none of 5.2.
    pub(crate) fn find() -> Option<Self> {
        if !says(BASH, "version 5.2.") {
            return None;
        }
        let missing = TOOLS.iter();
        let missing = missing.filter(|tool| !says(tool.command, tool.version));
        Some(Self {
            missing: missing.collect(),
        })
    }

    /// Tells whether the tools that a case is about are the recorded ones.
    pub(crate) fn knows(&self, case: &Case) -> bool {
        let about = |tool: &&&Tool| tool.files.iter().any(|start| case.file.starts_with(start));
        !self.missing.iter().any(|tool| about(&tool))
    }

    /// Returns what bash does with a script, in an empty directory and environment.
    pub(crate) fn run(&self, case: &Case) -> Result<Seen> {
        let dir = tempfile::tempdir()?;
        let work = dir.path().join("w");
        fs::create_dir(&work)?;
        fs::write(dir.path().join("script"), &case.script)?;
        // Whoever runs the tests in the background has them ignore SIGINT, and bash then leaves it so.
        let output = Command::new("env")
            .args(["--default-signal=INT,QUIT,PIPE", "bash", "../script"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/tmp/home-x")
            .env("LANG", "C.UTF-8")
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", case.id))?;
        Ok(Seen {
            stdout: output.stdout,
            stderr: Some(output.stderr),
            exit: output.status.code().unwrap_or(-1),
        })
    }
}

fn says(command: &[&str], version: &str) -> bool {
    let [program, args @ ..] = command else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).env("LC_ALL", "C");
    command.output().is_ok_and(|output| {
        String::from_utf8_lossy(&output.stdout).contains(version)
            || String::from_utf8_lossy(&output.stderr).contains(version)
    })
}

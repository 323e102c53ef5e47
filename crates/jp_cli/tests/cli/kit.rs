//! A workspace and a home directory that nobody else uses, and `jp` started in them.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// The configuration most tests share.
pub(crate) const TOOLS: &str = r#"
[kb.topic.skills]
subjects = ".jp/kb/skills"
title = "Skills"

[conversation.tools.read]
source = "local"
wasm = ".jp/tools/jp_tool_test.wasm"
description = "Reads a file"
parameters.path = { type = "string", required = true }
parameters.ask = { type = "boolean" }

[conversation.tools.outside]
source = "local"
wasm = ".jp/tools/outside.wasm"
grant.workspace = "read"
parameters.path = { type = "string" }

[conversation.tools.ask]
source = "local"
wasm = ".jp/tools/ask.wasm"
grant.workspace = "none"

[conversation.tools.trap]
source = "local"
wasm = ".jp/tools/trap.wasm"
grant.workspace = "none"

[conversation.tools.spin]
source = "local"
wasm = ".jp/tools/spin.wasm"
grant.workspace = "none"
limits.time = 300

[conversation.tools.count]
source = "local"
command = "wc -l notes.txt"
run = "unattended"

[conversation.tools.peek]
source = "local"
command = { program = "cat ../secret.txt || cat ~/secret.txt", shell = true }
run = "unattended"

[conversation.tools.broken]
source = "local"

[conversation.tools.off]
source = "local"
command = "true"
enable = false
"#;

/// The guests that [`TOOLS`] names.
const GUESTS: &[&str] = &["jp_tool_test", "outside", "ask", "trap", "spin"];

pub(crate) struct Sandbox {
    dir: TempDir,
}

/// What a run of `jp` left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// Makes a workspace with a configuration.
    pub(crate) fn new(config: &str) -> Self {
        let sandbox = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        sandbox.write("workspace/.jp/config.toml", config);
        sandbox.write("workspace/notes.txt", "first note\nsecond note\n");
        sandbox.write("secret.txt", "not for tools\n");
        sandbox.write("home/secret.txt", "not for tools\n");
        sandbox
    }

    /// Makes a workspace with the guests and tools of [`TOOLS`].
    pub(crate) fn with_tools() -> Self {
        let sandbox = Self::new(TOOLS);
        for name in GUESTS {
            let to = sandbox.path(&format!("workspace/.jp/tools/{name}.wasm"));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(jp_test::guest(name), to).unwrap();
        }
        let skills = "workspace/.jp/kb/skills";
        sandbox.write(&format!("{skills}/ast-grep.md"), "# ast-grep\n");
        sandbox.write(&format!("{skills}/review/naming.md"), "# Naming\n");
        sandbox.write(&format!("{skills}/review/errors.md"), "# Errors\n");
        sandbox
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Names a run of `jp` in the workspace, with nothing of the environment of the tests.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jp"));
        // Compiled code is shared: what it holds depends on the guests alone.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jp-cache");
        command
            .args(words)
            .current_dir(self.path("workspace"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("JP_CACHE_DIR", cache)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn jp(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Calls a tool with the approval of `--yes`.
    pub(crate) fn call(&self, words: &[&str]) -> Ran {
        self.jp(&[&["tool", "run", "--yes"], words].concat())
    }

    /// Runs `jp` with something on standard input.
    pub(crate) fn fed(&self, words: &[&str], input: &[u8]) -> Ran {
        let mut child: Child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        // A program that has heard enough closes its end; that is its right.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap().into()
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "no {text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "no {text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

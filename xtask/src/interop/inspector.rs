//! MCP's own inspector, on its command line: lists, calls and reads, over stdio and HTTP, in both forms of the protocol.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{install_from_npm, interop_dir, newer_node};
use crate::process::Run;
use crate::report::say;
use crate::sample::Sample;
use crate::started::Started;

const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
const MAIN: &str = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

const TOKEN: &str = "interop-interop-interop-interop-1";

/// What is asked, and what has to be in the answer.
const ASKED: &[(&str, &[&str], &str)] = &[
    // An error in a schema is exit code 6 with this.
    (
        "lists tools",
        &["--method", "tools/list", "--strict"],
        "\"test_tool\"",
    ),
    (
        "calls a tool",
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "test_tool",
            "--tool-arg",
            "path=notes.txt",
        ],
        "second note",
    ),
    (
        "reads a resource",
        &["--method", "resources/read", "--uri", "jp://tool/test_tool"],
        "# test_tool",
    ),
];

/// Asks a server everything, or says why the inspector cannot be had.
pub(super) fn check(root: &Path, sample: &Sample) -> Result<Result<(), String>> {
    let dir = interop_dir(root)?.join("inspector");
    let installed = install_from_npm(&dir, INSPECTOR);
    let node = match installed.map(|()| newer_node(root)) {
        Ok(node) => node?,
        Err(why) => return Ok(Err(why)),
    };
    let node = match node {
        Ok(node) => node,
        Err(why) => return Ok(Err(why)),
    };
    let home = sample.workspace().with_file_name("home");
    fs::create_dir_all(&home).with_context(|| home.display().to_string())?;
    let inspector = Inspector {
        node,
        main: dir.canonicalize()?.join(MAIN),
        home,
        sample,
    };
    for era in ["legacy", "modern"] {
        say(&format!("stdio, {era}"));
        inspector.ask_all(era, &Server::Program)?;
    }
    let serve = sample.jp(&["serve", "--http", "127.0.0.1:0"]);
    let mut server = Started::of(&serve.env("JP_TOKEN", TOKEN))?;
    let url = server.line()?;
    for era in ["legacy", "modern"] {
        say(&format!("http, {era}"));
        inspector.ask_all(era, &Server::Url(url.clone()))?;
    }
    Ok(Ok(()))
}

/// How a server is reached.
enum Server {
    Program,
    Url(String),
}

struct Inspector<'a> {
    node: PathBuf,
    main: PathBuf,
    home: PathBuf,
    sample: &'a Sample,
}

impl Inspector<'_> {
    fn ask_all(&self, era: &str, server: &Server) -> Result<()> {
        for (what, words, contains) in ASKED {
            let run = self.run(server, era, words);
            let output = run.output()?;
            let answer = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(
                output.status.success() && answer.contains(contains),
                "{what}: {}\n{answer}\n{errors}\nto repeat it alone:\n  {run}",
                output.status
            );
            serde_json::from_str::<Value>(&answer).with_context(|| answer.to_string())?;
            say(&format!("  {what}"));
        }
        Ok(())
    }

    fn run(&self, server: &Server, era: &str, words: &[&str]) -> Run {
        let run = Run::new(&self.node, &self.sample.workspace())
            .arg(&self.main)
            .args(["--cli", "--format", "json", "--protocol-era", era])
            .args(words);
        // It hands this variable on to the programs that it starts, and no other that says where things are.
        let run = self.sample.places(run).env("HOME", &self.home);
        match server {
            Server::Url(url) => run
                .args(["--server-url", url, "--header"])
                .arg(format!("Authorization: Bearer {TOKEN}")),
            Server::Program => run
                .args(["-e", "JP_KEYRING=off", "--"])
                .arg(self.sample.program())
                .arg("-C")
                .arg(self.sample.workspace())
                .arg("serve"),
        }
    }
}

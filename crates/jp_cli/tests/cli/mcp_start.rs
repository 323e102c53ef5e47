//! MCP servers that do not get ready: what Ctrl-C does meanwhile.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::kit::{Ran, Sandbox};

/// A server that says it was started, and nothing else.
const DEAF: &str = r#"
[providers.mcp.house]
command = "sh"
arguments = ["-c", "touch started; exec sleep 60"]
grant.workspace = "read-write"

[conversation.tools.shout]
source = "mcp.house.shout"
run = "unattended"
"#;

/// Starts a call, and stops it with a signal once the server runs.
fn interrupted(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let started = sandbox.path("workspace/started");
    let _ = std::fs::remove_file(&started);
    let child = sandbox.command(words).spawn().unwrap();
    let since = Instant::now();
    while !started.exists() {
        assert!(since.elapsed() < Duration::from_secs(30), "no server");
        thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = child.wait_with_output().unwrap().into();
    assert!(since.elapsed() < Duration::from_secs(30));
    ran
}

#[test]
fn a_signal_while_a_server_starts_cancels_the_call() {
    let sandbox = Sandbox::new(DEAF);
    sandbox.jp(&["trust"]).exits(0);
    let run = ["tool", "run", "shout", "text=hi"];
    interrupted(&sandbox, &run).exits(130).warns("cancelled");
    let ran = interrupted(&sandbox, &[&run[..], &["--json"]].concat()).exits(130);
    assert_eq!(ran.json()["outcome"]["type"], "cancelled");
    let shown = sandbox.jp(&["audit", "show", "--json"]).exits(0).json();
    let outcomes = shown["records"].as_array().unwrap().iter();
    let outcomes: Vec<_> = outcomes.map(|record| record["outcome"].clone()).collect();
    assert_eq!(outcomes, ["cancelled", "cancelled"]);
    interrupted(&sandbox, &["tool", "lock"]).exits(130);
}

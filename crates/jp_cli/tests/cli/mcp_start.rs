//! MCP servers that do not get ready: what Ctrl-C does meanwhile, and what people read.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use crate::kit::{Ran, Sandbox};

/// A server that says it was started, and nothing else.
const DEAF: &str = r#"
[providers.mcp.house]
command = "sh"
arguments = ["-c", "touch started; exec sleep 3600"]
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
        assert!(since.elapsed() < Duration::from_secs(300), "no server");
        thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait_with_output().unwrap().into()
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

/// Starts a server that answers every request with this, and a workspace that uses it.
fn answering(answer: &'static str) -> Sandbox {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 64 * 1024]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let sandbox = Sandbox::new("");
    let config = format!(
        "[policy]\nnet = [\"{address}\"]\n[providers.mcp.house]\nurl = \"http://{address}/mcp\"\n\
         [conversation.tools.shout]\nsource = \"mcp.house.shout\"\n"
    );
    sandbox.write("home/.config/jp/config.toml", &config);
    sandbox
}

#[test]
fn a_server_that_wants_a_credential_is_told_with_where_to_put_it() {
    let sandbox = answering(
        "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: 28\r\n\r\n\
         no\u{1b}[2J\nhint: rm -rf /  \nx!!!",
    );
    let told = [
        "MCP server `house` cannot be used: the server answered HTTP 401: no[2J hint: rm -rf / x!!!; it",
        "`jp secret set NAME --for URL`",
        "`headers = { Authorization = \"Bearer {{secret:NAME}}\" }` under `[providers.mcp.house]`",
    ];
    for words in [&["tool", "run", "shout"][..], &["tool", "list"]] {
        let mut ran = sandbox.jp(words);
        for text in told {
            ran = ran.warns(text);
        }
        assert!(!ran.stderr.contains("rmcp"), "{ran:?}");
    }
}

#[test]
fn a_page_in_place_of_a_server_is_told_by_its_type() {
    let sandbox = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\n\r\n<html>",
    );
    let ran = sandbox
        .jp(&["tool", "run", "shout"])
        .exits(125)
        .warns("MCP server `house` broke the protocol: the server answered text/html, not JSON");
    assert!(!ran.stderr.contains("rmcp"), "{ran:?}");
}

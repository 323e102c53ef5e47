//! Approvals as people have them: at the prompt, and with `jp approve`, `jp grants` and `jp revoke`.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::{kit::Sandbox, terminal::Terminal};

const READ: [&str; 4] = ["tool", "run", "read", "path=notes.txt"];

#[test]
fn what_is_allowed_for_a_workspace_holds_until_it_changes_or_is_taken_back() {
    let sandbox = Sandbox::with_tools();
    let read = || sandbox.jp(&READ);
    read().exits(126);
    let remember = || {
        let mut terminal = Terminal::start(&sandbox, &READ);
        terminal.sees("Run it?").types("w\n");
        assert!(terminal.exits(0).contains("second note"));
    };
    remember();
    read().exits(0).says("second note");
    let grants = sandbox.jp(&["grants", "--json"]).exits(0).json();
    let grant = &grants["grants"][0];
    assert_eq!(
        (&grant["tool"], &grant["effect"]),
        (&json!("read"), &json!("allow"))
    );
    sandbox
        .jp(&["grants"])
        .exits(0)
        .says("any arguments")
        .says("as it is configured now");
    let id = grant["id"].as_str().unwrap();
    sandbox
        .jp(&["revoke", &id[..8]])
        .exits(0)
        .warns("Taken back");
    read().exits(126);
    sandbox
        .jp(&["revoke", &id[..8]])
        .exits(2)
        .warns("unknown grant");
    remember();
    let config = "workspace/.jp/config.toml";
    let text = std::fs::read_to_string(sandbox.path(config)).unwrap();
    sandbox.write(config, &format!("{text}\n# Another comment.\n"));
    read().exits(126);
    sandbox.write(config, &text);
    read().exits(0);
    sandbox
        .jp(&["revoke", "--all"])
        .exits(0)
        .warns("1 taken back");
    let mut terminal = Terminal::start(&sandbox, &READ);
    terminal.sees("Run it?").types("never\n");
    assert!(terminal.exits(126).contains("from now on"));
    // Whatever is said on the command line.
    sandbox.call(&["read", "path=notes.txt"]).exits(126);
    sandbox
        .jp(&["revoke", "--all"])
        .exits(0)
        .warns("0 taken back");
    sandbox.call(&["read", "path=notes.txt"]).exits(126);
}

/// A server on its streams.
struct Serving {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Serving {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["serve"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut serving = Self { child, lines };
        serving.send(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        );
        serving.hears(|message| message["id"] == 0);
        serving.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        serving
    }

    fn send(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {"progressToken": id}}}),
        );
    }

    fn hears(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "the server ended"
            );
            let message = serde_json::from_str(&line).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Returns the id that a call says it waits under.
    fn waits(&mut self) -> String {
        let is_told = |message: &Value| {
            let told = message["params"]["message"].as_str();
            told.is_some_and(|told| told.contains("jp approve"))
        };
        let told = self.hears(is_told);
        let told = told["params"]["message"].as_str().unwrap();
        let (_, id) = told.split_once("jp approve ").unwrap();
        id.trim_end_matches('`').to_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_call_of_an_agent_is_allowed_from_another_terminal_and_from_nowhere_else() {
    let sandbox = Sandbox::with_tools();
    sandbox.jp(&["approve"]).exits(0).warns("Nothing waits");
    let mut serving = Serving::start(&sandbox);
    serving.call(1, "read", &json!({}));
    // The arguments do not fit; nobody is asked about such a call.
    serving.hears(|message| message["id"] == 1);
    serving.call(2, "read", &json!({"path": "notes.txt"}));
    let id = serving.waits();
    sandbox
        .jp(&["approve"])
        .exits(0)
        .says(&id[..8])
        .says("read {\"path\":\"notes.txt\"}");
    let shown = sandbox.jp(&["approve", "show", &id]).exits(0);
    let shown = shown
        .says("read (local) wants to run")
        .says("read and change this workspace");
    shown.says(&id);
    // A script cannot decide for a person.
    let script = ["approve", "allow", &id[..8], "--always"];
    sandbox.jp(&script).exits(2).warns("without a terminal");
    sandbox
        .fed(&["approve", &id], b"y\n")
        .exits(0)
        .says("waiting since");
    let mut terminal = Terminal::start(&sandbox, &["approve", &id[..8]]);
    terminal
        .sees("Allow it?")
        .types("perhaps\n")
        .sees("Please type");
    terminal.types("y\n");
    assert!(terminal.exits(0).contains("Allowed once"));
    let answer = serving.hears(|message| message["id"] == 2);
    assert!(answer.to_string().contains("second note"), "{answer}");
    sandbox
        .jp(&["approve", "deny", &id])
        .exits(2)
        .warns("it was allowed before");
    let list = sandbox.jp(&["approve", "--all", "--json"]).exits(0).json();
    assert_eq!(list["requests"][0]["state"], "spent", "{list}");
    let records = sandbox.jp(&["audit", "show", "--json"]).exits(0);
    assert!(
        records.stdout.contains(", with jp approve, for request "),
        "{records:?}"
    );
}

#[test]
fn answers_are_as_wide_as_the_person_says() {
    let sandbox = Sandbox::with_tools();
    let mut serving = Serving::start(&sandbox);
    serving.call(1, "read", &json!({"path": "notes.txt"}));
    let id = serving.waits();
    for (words, problem) in [
        (&["--args", "*"][..], "needs `--always` or `--run`"),
        (&["--always", "--args", "pth=*"], "unknown argument"),
        (&["--always", "--args", "="], "expected `*` or NAME=PATTERN"),
        (&["--always", "--until", "soon"], "invalid time `soon`"),
        (&["--always", "--until", "0h"], "invalid time `0h`"),
    ] {
        let words = [&["approve", "allow", &id], words].concat();
        let mut terminal = Terminal::start(&sandbox, &words);
        terminal.sees(problem);
        terminal.exits(2);
    }
    let words = [
        "approve",
        "allow",
        &id,
        "--always",
        "--args",
        "path=*.txt",
        "--until",
        "8h",
    ];
    let mut terminal = Terminal::start(&sandbox, &words);
    assert!(terminal.sees("jp revoke").exits(0).contains("from now on"));
    serving.hears(|message| message["id"] == 1);
    serving.call(2, "read", &json!({"path": "other.txt"}));
    let answer = serving.hears(|message| message["id"] == 2);
    assert!(!answer.to_string().contains("approve"), "{answer}");
    serving.call(3, "read", &json!({"path": "../other.txt"}));
    let id = serving.waits();
    sandbox
        .jp(&["approve", "deny", &id, "--never"])
        .exits(0)
        .warns("so are all calls");
    serving.hears(|message| message["id"] == 3);
    serving.call(4, "read", &json!({"path": "notes.txt"}));
    let answer = serving.hears(|message| message["id"] == 4);
    assert!(answer.to_string().contains("never run"), "{answer}");
}

#[test]
fn what_was_decided_about_a_holder_of_a_token_ends_with_it() {
    let sandbox = Sandbox::with_tools();
    let mut serving = Serving::start(&sandbox);
    let mut next = 1;
    let mut decide = |sandbox: &Sandbox| {
        serving.call(next, "read", &json!({"path": "notes.txt"}));
        next += 1;
        let id = serving.waits();
        let words = ["approve", "allow", &id, "--always", "--for", "ci"];
        let mut terminal = Terminal::start(sandbox, &words);
        terminal.sees("jp revoke").exits(0);
        let listed = sandbox.jp(&["grants"]).exits(0);
        assert!(listed.stdout.contains(" ci "), "{listed:?}");
    };
    sandbox.jp(&["serve", "token", "add", "ci"]).exits(0);
    decide(&sandbox);
    sandbox
        .jp(&["serve", "token", "rm", "ci"])
        .exits(0)
        .warns("1 of your decisions");
    let listed = sandbox.jp(&["grants"]).exits(0);
    assert!(!listed.stdout.contains(" ci "), "{listed:?}");
    // What was decided while nobody had the name goes to nobody either.
    decide(&sandbox);
    sandbox.jp(&["serve", "token", "add", "ci"]).exits(0);
    let listed = sandbox.jp(&["grants"]).exits(0);
    assert!(!listed.stdout.contains(" ci "), "{listed:?}");
}

#[test]
fn a_check_says_what_decides_and_makes_no_call() {
    let sandbox = Sandbox::with_tools();
    let check = |words: &[&str]| sandbox.jp(&[&["policy", "check"], words].concat());
    check(&["read", "path=notes.txt"])
        .exits(1)
        .says("asks: you would be asked");
    check(&["count"])
        .exits(126)
        .says("decided by: you have not trusted the workspace");
    sandbox.jp(&["trust"]).exits(0);
    sandbox.write(
        "home/.config/jp/config.toml",
        "[policy]\n\nsubprocess = false\n",
    );
    let denied = check(&["count"]).exits(126).says("policy.subprocess");
    assert!(denied.stdout.contains("config.toml:3)"), "{denied:?}");
    let json = check(&["count", "--json"]).exits(126).json();
    assert_eq!(
        (&json["verdict"], &json["line"]),
        (&json!("denied"), &json!(3))
    );
    let records = sandbox.jp(&["audit", "show"]).exits(0);
    assert!(!records.stdout.contains("count"), "{records:?}");
}

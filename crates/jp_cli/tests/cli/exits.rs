//! What programs see of a call: exit codes, and how a command ended.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    kit::{Ran, Sandbox},
    output::fits,
};

/// One tool for each way that the process of a command can end.
const COMMANDS: &str = r#"
[conversation.tools.'*']
run = "unattended"

[conversation.tools.status]
source = "local"
command = { program = "echo out; echo err >&2; exit 7", shell = true }

[conversation.tools.high]
source = "local"
command = { program = "exit 139", shell = true }

[conversation.tools.killed]
source = "local"
command = { program = "kill -SEGV $$", shell = true }

[conversation.tools.fine]
source = "local"
command = "true"

[conversation.tools.missing]
source = "local"
command = "no-such-program"

[conversation.tools.waits]
source = "local"
command = { program = "touch started; sleep 600", shell = true }
limits.time = "5m"

[conversation.tools.slow]
source = "local"
command = "sleep 600"
limits.time = "100ms"

[conversation.tools.flood]
source = "local"
command = "yes"
limits.output = "1KB"

[conversation.tools.asks]
source = "local"
command = { program = """echo '{"type":"needs_input","question":{"id":"q","text":"Sure?","answer_type":"Boolean"}}'""", shell = true }
"#;

fn trusted(config: &str) -> Sandbox {
    let sandbox = Sandbox::new(config);
    sandbox.jp(&["trust"]).exits(0);
    sandbox
}

/// Stops a call once its command runs.
fn interrupted(sandbox: &Sandbox) -> Ran {
    let mut child = sandbox.command(&["tool", "run", "waits"]).spawn().unwrap();
    while !sandbox.path("workspace/started").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Returns the codes of the documentation's table.
fn documented() -> BTreeSet<i32> {
    let page = "../../docs/reference/exit-codes.md";
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let cells = page.lines().flat_map(|line| line.split('|').map(str::trim));
    cells.filter_map(|cell| cell.parse().ok()).collect()
}

#[test]
fn every_documented_exit_code_is_produced() {
    let sandbox = trusted(COMMANDS);
    let mut seen = BTreeSet::new();
    let mut ends = |ran: Ran, code: i32| {
        ran.exits(code);
        seen.insert(code);
    };
    ends(sandbox.jp(&["tool", "run", "fine"]), 0);
    ends(sandbox.jp(&["tool", "run", "status"]), 1);
    ends(sandbox.jp(&["tool", "run", "fine", "x=1"]), 2);
    ends(sandbox.jp(&["tool", "run", "asks"]), 3);
    ends(sandbox.jp(&["tool", "run", "slow"]), 124);
    ends(sandbox.jp(&["tool", "run", "missing"]), 125);
    ends(
        sandbox.jp(&[
            "--cfg",
            "conversation.tools.fine.run=skip",
            "tool",
            "run",
            "fine",
        ]),
        126,
    );
    ends(sandbox.jp(&["tool", "run", "nothing"]), 127);
    ends(interrupted(&sandbox), 130);
    ends(sandbox.jp(&["tool", "run", "flood"]), 134);
    assert_eq!(seen, documented());
}

#[test]
fn how_a_command_ended_is_typed_in_json_and_said_to_people() {
    let sandbox = trusted(COMMANDS);
    let segv = json!({"number": 11, "name": "SIGSEGV"});
    for (tool, exit_code, signal, words) in [
        ("status", json!(7), Value::Null, "exited with status 7"),
        ("high", json!(139), Value::Null, "exited with status 139"),
        ("killed", Value::Null, segv, "killed by signal 11 (SIGSEGV)"),
    ] {
        let said = sandbox.jp(&["tool", "run", tool, "--json"]).exits(1).json();
        fits(&said, "tool-run.schema.json");
        assert_eq!(
            (&said["exit_code"], &said["signal"]),
            (&exit_code, &signal),
            "{tool}"
        );
        let said = sandbox.jp(&["tool", "run", tool]).exits(1);
        said.warns(&format!("error: Tool '{tool}' execution failed: {words}"));
    }
    let said = sandbox
        .jp(&["tool", "run", "fine", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        (&said["exit_code"], &said["signal"]),
        (&json!(0), &Value::Null)
    );
    let said = sandbox
        .jp(&["tool", "run", "slow", "--json"])
        .exits(124)
        .json();
    fits(&said, "tool-run.schema.json");
    assert_eq!(
        (&said["exit_code"], &said["signal"]),
        (&Value::Null, &Value::Null)
    );
    let said = sandbox.jp(&["tool", "run", "bash", "--yes", "commands=exit 5", "--json"]);
    assert_eq!(said.exits(1).json()["exit_code"], 5);
}

#[test]
fn a_denied_host_names_the_lines_that_grant_it_and_they_do() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            .unwrap();
    });
    let sandbox = Sandbox::new("");
    let url = format!("url=http://127.0.0.1:{port}/");
    let get = ["http_call", "method=GET", &url];
    let net = format!("net = [\"127.0.0.1:{port}\"]");
    let denied = sandbox.call(&get).exits(126);
    let policy = format!("`{net}` under `[policy]` in your own configuration");
    let grant = format!("`grant.{net}` under `[conversation.tools.http_call]`");
    let denied = denied.warns(&policy).warns(&grant).warns("(forbidden)");
    assert!(denied.stdout.is_empty(), "{denied:?}");
    let said = sandbox
        .call(&[&get[..], &["--json"]].concat())
        .exits(126)
        .json();
    fits(&said, "tool-run.schema.json");
    assert!(
        said["outcome"]["message"]
            .as_str()
            .unwrap()
            .contains("`[policy]`"),
        "{said}"
    );
    // Half of it is refused before the tool runs, and the rest is named.
    let tool = format!("[conversation.tools.http_call]\nsource = \"builtin\"\ngrant.{net}\n");
    sandbox.write("home/.config/jp/config.toml", &tool);
    sandbox
        .call(&get)
        .exits(126)
        .warns(&format!("add `{net}` under `[policy]`"));
    sandbox.write(
        "home/.config/jp/config.toml",
        &format!("{tool}[policy]\n{net}\n"),
    );
    sandbox.call(&get).exits(0).says("hello");
    server.join().unwrap();
}

#[test]
fn what_memory_a_tool_may_use_and_who_is_counted_is_shown() {
    let sandbox = trusted(COMMANDS);
    let shown = sandbox
        .jp(&["tool", "show", "fine", "--json"])
        .exits(0)
        .json();
    let (bytes, of) = (
        &shown["limits"]["memory_bytes"],
        &shown["limits"]["memory_of"],
    );
    assert_eq!(bytes, 1 << 30);
    let words = match of.as_str().unwrap() {
        "each_process" => "1 GiB of memory for each process",
        "all_processes" => "1 GiB of memory for all its processes (cgroup)",
        other => panic!("{other}"),
    };
    sandbox.jp(&["tool", "show", "fine"]).exits(0).says(words);
    sandbox
        .jp(&["tool", "show", "todo"])
        .exits(0)
        .says("256 MiB of memory,");
    let policy = "[policy]\ncommand_memory = \"2GiB\"\n";
    sandbox.write("home/.config/jp/config.toml", policy);
    sandbox
        .jp(&["tool", "show", "fine"])
        .exits(0)
        .says("2 GiB of memory for");
    sandbox
        .jp(&["--cfg", "policy.command_memory=9", "tool", "show", "fine"])
        .exits(2);
}

#[test]
fn a_shell_sees_the_limit_that_is_shown() {
    let sandbox = trusted(
        "[conversation.tools.limit]\nsource = \"local\"\nrun = \"unattended\"\n\
         command = { program = \"ulimit -d\", shell = true }\n",
    );
    let shown = sandbox
        .jp(&["tool", "show", "limit", "--json"])
        .exits(0)
        .json();
    let said = sandbox.jp(&["tool", "run", "limit"]).exits(0).stdout;
    match shown["limits"]["memory_of"].as_str().unwrap() {
        "each_process" => assert_eq!(said, "1048576\n"),
        _ => assert_eq!(said, "unlimited\n"),
    }
    // A limit below what jp itself takes is the command's, not jp's.
    let little = ["--cfg", "conversation.tools.limit.limits.memory=8MiB"];
    let said = sandbox.jp(&[&little[..], &["tool", "run", "--yes", "limit"]].concat());
    assert!(["8192\n", "unlimited\n"].contains(&said.exits(0).stdout.as_str()));
}

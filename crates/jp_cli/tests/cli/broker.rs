//! What jp does on tools' behalf, from outside: rows, secrets, due work, MCP servers.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::{kit::Sandbox, mcp};

#[test]
fn rows_outlive_the_process_and_what_is_due_comes_once() {
    let sandbox = Sandbox::new("");
    let run = |words: &[&str]| sandbox.jp(&[&["tool", "run"], words].concat());
    run(&["todo", "action=create", "title=buy milk"])
        .exits(0)
        .says("buy milk");
    run(&["todo", "action=list"]).exits(0).says("buy milk");
    run(&["todo", "action=delete", "id=77"])
        .exits(0)
        .says("\"deleted\":false");
    run(&["todo", "action=complete", "id=77"])
        .exits(1)
        .warns("not_found");
    run(&[
        "reminders",
        "action=create",
        "title=stretch",
        "delay_seconds=0",
    ])
    .exits(0);
    let due = sandbox.jp(&["due"]).exits(0);
    let event = due.json();
    assert_eq!(
        (&event["title"], &event["redelivered"]),
        (&"stretch".into(), &false.into())
    );
    assert_eq!(sandbox.jp(&["due"]).exits(0).stdout, "");
    let log = sandbox.jp(&["audit", "show"]).exits(0);
    log.says("todo > kv.sqlite.todo.create");
}

#[test]
fn a_secret_is_kept_listed_and_forgotten_and_never_shown() {
    let sandbox = Sandbox::new("");
    let set = [
        "secret",
        "set",
        "forge",
        "--for",
        "https://forge.example.com/api",
    ];
    sandbox
        .fed(&set, b"correct-horse-battery\n")
        .exits(0)
        .warns("Kept `forge`");
    let listed = sandbox.jp(&["secret", "list"]).exits(0);
    assert!(
        listed.stdout.contains("https://forge.example.com"),
        "{listed:?}"
    );
    assert!(!listed.stdout.contains("correct-horse"), "{listed:?}");
    for (dir, file) in [
        ("home/.local/share/jp/secrets", "sealed"),
        ("home/.config/jp/key", "secrets"),
    ] {
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(sandbox.path(dir)), 0o700);
        let file = sandbox.path(dir).join(file);
        assert_eq!(mode(file.clone()), 0o600);
        let bytes = fs::read(file).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"correct"));
    }
    sandbox
        .fed(
            &["secret", "set", "a b", "--for", "https://x.example"],
            b"v",
        )
        .exits(2);
    sandbox
        .fed(&["secret", "set", "ok", "--for", "nowhere"], b"12345678")
        .exits(2);
    sandbox
        .jp(&["secret", "set", "forge"])
        .exits(2)
        .warns("--for");
    sandbox.jp(&["secret", "rm", "forge"]).exits(0);
    sandbox.jp(&["secret", "rm", "forge"]).exits(1);
}

#[test]
fn tools_of_an_mcp_server_need_trust_and_then_work() {
    let sandbox = mcp::sandbox();
    sandbox
        .jp(&["tool", "run", "shout", "text=hi"])
        .exits(126)
        .warns("jp trust");
    let trusted = sandbox.jp(&["trust"]).exits(0);
    trusted.says("MCP server house").says("sh server.sh");
    sandbox
        .jp(&["tool", "list"])
        .exits(0)
        .says("Says it loudly.");
    sandbox
        .jp(&["tool", "show", "shout"])
        .exits(0)
        .says("\"required\"");
    let said = sandbox.jp(&["tool", "run", "shout", "text=hi"]).exits(0);
    assert_eq!(said.stdout, "LOUD");
    sandbox
        .jp(&["tool", "run", "shout", "txt=hi"])
        .exits(2)
        .warns("missing argument `text`");
    sandbox.write("workspace/server.sh", "echo 'out of order' >&2; exit 3\n");
    sandbox
        .jp(&["tool", "run", "shout", "text=hi"])
        .exits(125)
        .warns("out of order");
    sandbox.jp(&["audit", "verify"]).exits(0);
}

#[test]
fn a_file_named_on_the_command_line_is_read_too() {
    let sandbox = Sandbox::new("");
    let json = r#"{"tools": {"settings": {"sandbox": {"mode": "all", "tools": {"todo": {"capabilities": {"allow": []}}}}}}}"#;
    sandbox.write("sandbox.json", json);
    let file = sandbox.path("sandbox.json");
    let file = file.to_str().unwrap();
    let list = ["--config", file, "tool", "run", "todo", "action=list"];
    sandbox
        .jp(&list)
        .exits(126)
        .warns("(forbidden)")
        .warns("mode: ignored");
    sandbox
        .jp(&["--config", "/no/such/file.json", "tool", "list"])
        .exits(2)
        .warns("no such file");
}

#[test]
fn what_nobody_read_is_not_noted_down() {
    let sandbox = Sandbox::new("");
    let create = [
        "tool",
        "run",
        "reminders",
        "action=create",
        "title=stretch",
        "delay_seconds=0",
    ];
    sandbox.jp(&create).exits(0);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = sandbox.command(&["due"]).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(125));
    let list = sandbox
        .jp(&["tool", "run", "reminders", "action=list"])
        .exits(0);
    let reminder = &list.json()["capability_result"]["result"]["reminders"][0];
    assert!(reminder["fired_at"].is_null(), "{reminder}");
    assert!(reminder["last_error"].is_string(), "{reminder}");
}

#[test]
fn an_error_of_the_protocol_is_a_no_of_the_tool_and_fakes_no_line() {
    let sandbox = mcp::sandbox();
    mcp::rejects_calls(&sandbox, -32000, "bad\nerror: faked");
    sandbox.jp(&["trust"]).exits(0);
    let said = sandbox.jp(&["tool", "run", "shout", "text=hi"]).exits(1);
    assert_eq!(
        said.stderr,
        "error: MCP server `house` refused the request: bad\n  error: faked (-32000)\n"
    );
    let log = sandbox.jp(&["audit", "show", "--last", "1"]).exits(0);
    log.says("refused the request: bad");
    mcp::rejects_lists(&sandbox, -32000, "closed");
    let trusted = sandbox.jp(&["trust"]).exits(0);
    trusted.says("MCP server house");
    sandbox
        .jp(&["tool", "run", "shout", "text=hi"])
        .exits(125)
        .warns("MCP server `house` refused the request: closed (-32000)");
}

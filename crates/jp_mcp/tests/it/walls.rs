//! B27 for servers: what a confined program cannot do.

use std::{net::TcpListener, path::Path, time::Duration};

use jp_confine::{Launcher, MemoryScope};
use jp_mcp::{Means, Program, Reach, Server, Servers};
use jp_policy::Net;
use serde_json::json;

use crate::kit::{COUNTERPART, call, limits, pool, pool_of, program, program_in, until};

#[tokio::test]
async fn b27_files_outside_the_grant_are_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(dir.join("in")).unwrap();
    std::fs::write(dir.join("in/a"), "inside").unwrap();
    std::fs::write(dir.join("secret"), "outside").unwrap();
    std::os::unix::fs::symlink("../secret", dir.join("in/link")).unwrap();
    let inside = Program {
        read: vec![dir.join("in")],
        ..program(&[])
    };
    let pool = pool_of(inside, limits());
    let read = async |path: String| call(&pool, "read", json!({"path": path})).await.unwrap();
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    assert_eq!(read(at("in/a")).await.text(), "inside");
    for path in [
        at("secret"),
        at("in/link"),
        at("in/../secret"),
        "/etc/shadow".to_owned(),
        format!("/proc/{}/environ", std::process::id()),
        "/var/lib/dpkg/status".to_owned(),
    ] {
        let said = read(path.clone()).await;
        assert!(said.is_error, "{path}: {}", said.text());
    }
}

#[tokio::test]
async fn b27_there_is_no_network_unless_it_is_granted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let said = call(&pool(&[]), "connect", json!({"address": address}))
        .await
        .unwrap();
    assert!(said.is_error, "{}", said.text());
    let with = Program {
        net: Net::Any,
        ..program(&[])
    };
    let said = call(
        &pool_of(with, limits()),
        "connect",
        json!({"address": address}),
    )
    .await
    .unwrap();
    assert_eq!(said.text(), "connected");
    let some = Program {
        net: Net::hosts(["example.com".parse().unwrap()]),
        ..program(&[])
    };
    let error = call(&pool_of(some, limits()), "echo", json!({}))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not single hosts"), "{error}");
}

#[tokio::test]
async fn a_server_has_the_memory_it_was_given_and_no_more() {
    let little = Program {
        memory_bytes: 256 << 20,
        ..program(&[])
    };
    let pool = pool_of(little, limits());
    let path = json!({"path": "/proc/self/limits"});
    let said = call(&pool, "read", path).await.unwrap();
    let said = said.text();
    let line = said.lines().find(|line| line.starts_with("Max data size"));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    let expected = match Launcher::new(COUNTERPART.into()).memory_scope().unwrap() {
        MemoryScope::EachProcess => "268435456",
        MemoryScope::AllProcesses => "unlimited",
    };
    assert_eq!(words[3..5], [expected; 2], "{said:?}");
}

/// A server as most are written: a script of node, which reserves far more addresses than memory.
const NODE_SERVER: &str = r#"
new WebAssembly.Memory({initial: 1});
const answers = {
  initialize: m => ({protocolVersion: m.params.protocolVersion, capabilities: {tools: {}},
    serverInfo: {name: "n", version: "1"}}),
  "tools/list": () => ({tools: [{name: "hi", inputSchema: {type: "object"}}]}),
  "tools/call": () => ({content: [{type: "text", text: "from node"}]}),
};
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const m = JSON.parse(line);
  if (answers[m.method]) {
    console.log(JSON.stringify({jsonrpc: "2.0", id: m.id, result: answers[m.method](m)}));
  }
});
"#;

#[tokio::test]
async fn a_server_that_is_a_script_of_node_works_under_the_usual_memory_limit() {
    if !Path::new("/usr/bin/node").exists() {
        return;
    }
    let node = Program {
        command: "/usr/bin/node".to_owned(),
        arguments: vec!["-e".to_owned(), NODE_SERVER.to_owned()],
        memory_bytes: 1 << 30,
        ..program(&[])
    };
    let said = call(&pool_of(node, limits()), "hi", json!({}))
        .await
        .unwrap();
    assert_eq!(said.text(), "from node");
}

#[tokio::test]
async fn only_named_variables_are_seen() {
    let with = Program {
        env: vec![("TOKEN".into(), "t0k".into())],
        ..program(&[])
    };
    let said = call(&pool_of(with, limits()), "env", json!({}))
        .await
        .unwrap()
        .text();
    let mut names: Vec<_> = said
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR", "TOKEN"]);
    assert!(said.contains("TOKEN=t0k"));
}

#[tokio::test]
async fn everything_a_server_started_is_gone_with_the_pool() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let beats = dir.join("beats");
    let pool = pool_of(
        program_in(&dir, &["heartbeat", beats.to_str().unwrap()]),
        limits(),
    );
    call(&pool, "echo", json!({})).await.unwrap();
    let count = || std::fs::metadata(&beats).map_or(0, |found| found.len());
    until("the child beats", async || count() > 4).await;
    drop(pool);
    until("the child stops", async || {
        let before = count();
        tokio::time::sleep(Duration::from_millis(200)).await;
        count() == before
    })
    .await;
}

#[tokio::test]
async fn f65_without_walls_a_server_is_refused_or_bare_if_the_user_says_so() {
    let server = || Server {
        id: "s".to_owned(),
        reach: Reach::Program(program(&[])),
        startup: None,
    };
    let pool = Servers::new([server()], Means::default());
    let error = call(&pool, "echo", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no way to confine"), "{error}");
    let bare = Means {
        unconfined: true,
        ..Means::default()
    };
    let pool = Servers::new([server()], bare);
    assert_eq!(call(&pool, "echo", json!({})).await.unwrap().text(), "{}");
    let said = call(&pool, "env", json!({})).await.unwrap().text();
    assert!(!said.contains("CARGO"), "{said}");
}

#[tokio::test]
async fn a_server_the_policy_refuses_is_not_started() {
    let server = Server {
        id: "s".to_owned(),
        reach: Reach::Refused {
            reason: "your policy has no network".to_owned(),
        },
        startup: None,
    };
    let error = call(&Servers::new([server], Means::default()), "echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `s` was refused: your policy has no network"
    );
}

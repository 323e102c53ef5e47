//! What a confined command sees and says: environment, files, network, results.

use std::{io::Write, net::TcpListener};

use jp_llm::{
    runtime::{Ended as Status, MemoryOf},
    tool::{Cause, Stop, Ungrantable},
};
use jp_policy::{Limit, Net};
use serde_json::json;

use crate::kit::{Desk, Ended, call, command, script};

/// Runs a script with a grant and returns what it said.
async fn run(text: &str, more: &str) -> Result<String, String> {
    let desk = Desk::new(&script("t", text, more))
        .file("here", "inside\n")
        .trusted();
    desk.said("t", json!({})).await
}

#[tokio::test]
async fn f62_the_environment_is_cleared() {
    let desk = Desk::new(&command("t", "\"env\"", "")).trusted();
    let said = desk.said("t", json!({})).await.unwrap();
    let mut names: Vec<_> = said
        .lines()
        .map(|line| line.split('=').next().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "TMPDIR"], "{said}");
    assert!(std::env::vars().count() > names.len());
}

#[tokio::test]
async fn a_command_works_in_the_workspace() {
    assert_eq!(
        run("cat here; echo new > made; cat made", "").await,
        Ok("inside\nnew\n".to_owned())
    );
    let desk = Desk::new(&command("t", "\"./run.sh\"", "")).trusted();
    let desk = desk.file("run.sh", "#!/bin/sh\necho from a file\n");
    let script = desk.root.join("run.sh");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(
        desk.said("t", json!({})).await,
        Ok("from a file\n".to_owned())
    );
}

#[tokio::test]
async fn a_command_cannot_leave_the_workspace() {
    let desk = Desk::new(&script(
        "t",
        "echo x > ../out; cat ../user/config.toml /etc/shadow",
        "",
    ));
    let desk = desk.trusted();
    std::fs::write(
        desk.root.parent().unwrap().join("user/config.toml"),
        "# private\n",
    )
    .unwrap();
    let said = desk.said("t", json!({})).await.unwrap_err();
    assert!(
        !said.contains("private") && !said.contains("root:"),
        "{said}"
    );
    assert!(!desk.has("../out"));
}

#[tokio::test]
async fn a_grant_to_read_is_no_grant_to_write() {
    let tries = "cat here; echo x > made || echo refused; rm -f here; chmod 777 here; ln here link; \
                 cat here; ls";
    let said = run(tries, "grant.workspace = \"read\"").await.unwrap();
    assert_eq!(said, "inside\nrefused\ninside\nhere\n");
    let said = run(
        "cat here; ls -A . | wc -l; pwd",
        "grant.workspace = \"none\"",
    )
    .await
    .unwrap();
    assert_eq!(said, "0\n/tmp\n");
    let partly = "grant.workspace = \"read\"\ngrant.files = [\"/workspace/out:read-write\"]";
    let desk = Desk::new(&script("t", "echo x > out/a && echo x > b", partly)).file("out/z", "");
    let desk = desk.trusted();
    let _refused = desk.said("t", json!({})).await.unwrap_err();
    assert!(desk.has("out/a") && !desk.has("b"));
}

#[tokio::test]
async fn there_is_no_network_unless_it_is_granted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"hello\n").unwrap();
    });
    let line =
        format!("{{ program = \"bash\", args = [\"-c\", \"cat < /dev/tcp/127.0.0.1/{port}\"] }}");
    let connects = |more| command("t", &line, more);
    let desk = Desk::new(&connects("")).trusted();
    let said = desk.said("t", json!({})).await.unwrap_err();
    assert!(said.contains("unreachable"), "{said}");
    let policy = "[policy]\nnet = true\n";
    let desk = Desk::with_user(&connects("grant.net = true"), policy).trusted();
    assert_eq!(desk.said("t", json!({})).await, Ok("hello\n".to_owned()));
    answers.join().unwrap();
    // Single hosts no system can grant to a process; it is not run with less than it asked for.
    let mut tool = desk.tool("t").unwrap();
    tool.request.capabilities.net = Net::Hosts(["example.com".parse().unwrap()].into());
    let error = tool.execute(call(json!({})), &desk.host).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::Ungrantable(Ungrantable::SingleHosts)),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("all of the network or none of it"),
        "{error}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("`grant.net = true` under `[conversation.tools.t]`"),
        "{hint}"
    );
    assert!(!hint.contains("unconfined"), "{hint}");
}

#[tokio::test]
async fn a_directory_that_cannot_be_granted_is_told_as_that() {
    let config = command(
        "t",
        "\"true\"",
        "grant = { workspace = \"none\", files = [\"/workspace/absent:read\"] }",
    );
    let desk = Desk::new(&config).trusted();
    let error = desk.call("t", json!({})).await.error();
    assert!(
        matches!(
            error.cause(),
            Cause::Ungrantable(Ungrantable::Directory { .. })
        ),
        "{error:?}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("`grant.files`") && !hint.contains("unconfined"),
        "{hint}"
    );
}

#[tokio::test]
async fn what_a_command_says_is_an_outcome_or_text() {
    let said = run(r#"echo '{"type":"success","content":"yes"}'; exit 9"#, "").await;
    assert_eq!(said, Ok("yes".to_owned()));
    let said = run(
        r#"echo '{"type":"error","message":"no","trace":[],"transient":false}'"#,
        "",
    )
    .await;
    assert_eq!(said, Err("no".to_owned()));
    assert_eq!(
        run("echo text; echo aside >&2", "").await,
        Ok("text\n".to_owned())
    );
    let said = run("echo out; echo why >&2; exit 3", "").await;
    let expected = json!({"message": "Tool 't' execution failed: exited with status 3.",
        "exit_code": 3, "signal": null, "stderr": "why\n", "stdout": "out\n"});
    let said: serde_json::Value = serde_json::from_str(&said.unwrap_err()).unwrap();
    assert_eq!(said, expected);
    assert_eq!(
        run("printf 'a\\377b'", "").await,
        Ok("a\u{fffd}b".to_owned())
    );
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_named() {
    let desk = Desk::new(&command("t", "\"no-such-program\"", "")).trusted();
    let error = desk.call("t", json!({})).await.error();
    assert!(matches!(error.cause(), Cause::Spawn { .. }), "{error:?}");
    assert!(error.to_string().contains("no-such-program"), "{error}");
    assert_eq!(desk.record(), "allowed, host_failure");
}

#[tokio::test]
async fn a_flood_of_output_is_bounded_and_kept_up_to_its_limit() {
    let desk = Desk::new(&script("t", "yes", "limits.output = \"64KiB\"")).trusted();
    let error = desk.call("t", json!({})).await.error();
    let Cause::Stopped(Stop::LimitReached { limit, printed, .. }) = error.into_cause() else {
        panic!("no limit")
    };
    assert_eq!((limit, printed.stdout.len()), (Limit::Output, 64 << 10));
    let flood = script("t", "echo so far; yes >&2", "limits.output = \"64KiB\"");
    let desk = Desk::new(&flood).trusted();
    let executed = desk.call("t", json!({})).await;
    assert_eq!(executed.details.stdout, b"so far\n");
    assert_eq!(executed.details.stderr.len(), 64 << 10);
    assert_eq!(desk.record(), "allowed, limit");
}

#[tokio::test]
async fn how_a_command_ended_is_kept() {
    for (text, status, words) in [
        ("exit 7", Status::Exited(7), "exited with status 7."),
        ("exit 137", Status::Exited(137), "exited with status 137."),
        (
            "kill -9 $$",
            Status::Killed(9),
            "killed by signal 9 (SIGKILL).",
        ),
        (
            "kill -TERM $$",
            Status::Killed(15),
            "killed by signal 15 (SIGTERM).",
        ),
        (
            "kill -ABRT $$",
            Status::Killed(6),
            "killed by signal 6 (SIGABRT)",
        ),
    ] {
        let desk = Desk::new(&script("t", text, "")).trusted();
        let executed = desk.call("t", json!({})).await;
        assert_eq!(executed.details.ended, Some(status), "{text}");
        let said = desk.said("t", json!({})).await.unwrap_err();
        assert!(said.contains(words), "{text}: {said}");
    }
    let desk = Desk::new(&script("t", "echo hi", "")).trusted();
    let executed = desk.call("t", json!({})).await;
    assert_eq!(executed.details.ended, Some(Status::Exited(0)));
    let desk = Desk::new(&script("t", "yes", "limits.output = \"64KiB\"")).trusted();
    assert_eq!(desk.call("t", json!({})).await.details.ended, None);
}

const TAKES: &str = "head -c 200000000 /dev/zero | tail | wc -c";

#[tokio::test]
async fn memory_is_limited_where_the_configuration_says_so() {
    assert_eq!(run(TAKES, "").await, Ok("200000000\n".to_owned()));
    let said = run(TAKES, "limits.memory = \"64MB\"").await;
    assert_ne!(said, Ok("200000000\n".to_owned()));
}

#[tokio::test]
async fn a_command_that_says_nothing_has_the_memory_that_the_users_policy_says() {
    let limit = |policy: &'static str, more: &'static str| async move {
        let desk = Desk::with_user(&script("t", "ulimit -d", more), policy).trusted();
        let memory = desk.tool("t").unwrap().preview(&desk.host).unwrap().memory;
        match memory.of {
            MemoryOf::EachProcess => {
                let kilobytes = memory.bytes.unwrap() / 1024;
                let said = desk.said("t", json!({})).await;
                assert_eq!(said, Ok(format!("{kilobytes}\n")));
            }
            other => assert_eq!(other, MemoryOf::AllProcesses),
        }
        memory.bytes.unwrap() >> 20
    };
    assert_eq!(limit("", "").await, 1024);
    assert_eq!(limit("[policy]\ncommand_memory = \"4GiB\"", "").await, 4096);
    assert_eq!(limit("[policy]\nlimits.memory = \"512MiB\"", "").await, 512);
    assert_eq!(limit("[policy]\nlimits.memory = \"128MiB\"", "").await, 128);
    let own = "limits.memory = \"64MiB\"";
    assert_eq!(limit("[policy]\ncommand_memory = \"4GiB\"", own).await, 64);
    let policy = "[policy]\ncommand_memory = \"64MB\"";
    let desk = Desk::with_user(&script("t", TAKES, ""), policy).trusted();
    assert_ne!(
        desk.said("t", json!({})).await,
        Ok("200000000\n".to_owned())
    );
}

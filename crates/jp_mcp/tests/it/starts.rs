//! Starting: lazily, in time, again after a death, and not for ever.

use std::time::Duration;

use jp_mcp::{Algorithm, Checksum, Limits, McpError, Program};
use serde_json::json;
use sha1::Digest as _;
use tokio_util::sync::CancellationToken;

use crate::kit::{Ask, COUNTERPART, call, limits, pool, pool_of, program, program_in};

#[tokio::test]
async fn nothing_starts_before_it_is_needed_and_one_process_serves_all_calls() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let starts = dir.join("starts");
    let pool = pool_of(
        program_in(&dir, &["counts", starts.to_str().unwrap()]),
        limits(),
    );
    assert!(!starts.exists());
    let calls = (0..8).map(|n| call(&pool, "echo", json!({"n": n})));
    for called in futures::future::join_all(calls).await {
        called.unwrap();
    }
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), "x");
    pool.stop().await;
    call(&pool, "echo", json!({})).await.unwrap();
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), "xx");
}

#[tokio::test]
async fn a_server_that_dies_says_why_and_is_started_again() {
    let pool = pool(&[]);
    let error = call(&pool, "crash", json!({})).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, McpError::Died { .. }), "{text}");
    assert!(
        text.contains("exited with status 3") && text.contains("stderr: out of paper"),
        "{text}"
    );
    assert_eq!(call(&pool, "echo", json!({})).await.unwrap().text(), "{}");
}

#[tokio::test]
async fn a_server_that_is_killed_during_a_call_says_so_and_the_next_call_works() {
    // A word that no other process on this machine has among its arguments.
    let word = format!("killed-{}", std::process::id());
    let (pool, ask) = (pool(&["plain", &word]), Ask::default());
    let kill = async {
        ask.arrived().await;
        kill_all(&word);
    };
    let (ended, ()) = tokio::join!(ask.call(&pool, "sleep", json!({"ms": 3_600_000})), kill);
    let error = ended.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, McpError::Died { .. }), "{text}");
    assert!(text.contains("ended before it answered"), "{text}");
    assert_eq!(call(&pool, "echo", json!({})).await.unwrap().text(), "{}");
}

/// Sends SIGKILL to every process with this argument.
fn kill_all(word: &str) {
    let mut killed = 0;
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    for entry in entries.map_while(Result::ok) {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if !arguments
            .split(|byte| *byte == 0)
            .any(|one| one == word.as_bytes())
        {
            continue;
        }
        let pid = entry.file_name();
        let done = std::process::Command::new("kill")
            .arg("-9")
            .arg(pid)
            .status();
        killed += usize::from(done.is_ok_and(|status| status.success()));
    }
    assert!(killed > 0, "no process was killed");
}

#[tokio::test]
async fn a_server_that_cannot_start_is_left_alone_after_a_few_attempts() {
    let few = Limits {
        starts: 3,
        ..limits()
    };
    let pool = pool_of(program(&["crash"]), few);
    for _ in 0..3 {
        let error = call(&pool, "echo", json!({})).await.unwrap_err();
        assert!(matches!(error, McpError::Start { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("stderr: cannot find my settings"),
            "{error}"
        );
    }
    let error = call(&pool, "echo", json!({})).await.unwrap_err();
    assert!(
        matches!(error, McpError::Flapping { times: 3, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("cannot find my settings"),
        "{error}"
    );
}

#[tokio::test]
async fn a_slow_start_is_waited_for_up_to_its_time() {
    assert!(
        call(&pool(&["slow", "300"]), "echo", json!({}))
            .await
            .is_ok()
    );
    for words in [&["slow", "60000"][..], &["deaf"], &["listless"]] {
        let pool = pool_within(words, Some(Duration::from_millis(500)), limits());
        for _ in 0..2 {
            let error = call(&pool, "echo", json!({})).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "MCP server `s` was not ready within 0.5 s",
                "{words:?}"
            );
            let listed = pool.list_tools("s", &CancellationToken::new()).await;
            assert!(
                matches!(listed, Err(McpError::StartTimeout { .. })),
                "{words:?}: {listed:?}"
            );
        }
    }
}

/// Makes a pool whose server has this time to get ready.
fn pool_within(words: &[&str], startup: Option<Duration>, limits: Limits) -> jp_mcp::Servers {
    let server = jp_mcp::Server {
        id: "s".to_owned(),
        reach: jp_mcp::Reach::Program(program(words)),
        startup,
    };
    let launcher = jp_confine::Launcher::new(COUNTERPART.into());
    let means = jp_mcp::Means {
        launcher: Some(std::sync::Arc::new(launcher)),
        limits,
        ..jp_mcp::Means::default()
    };
    jp_mcp::Servers::new([server], means)
}

#[tokio::test]
async fn the_first_list_of_tools_has_the_time_of_the_start_and_no_other() {
    let little = Limits {
        list_time: Duration::from_millis(50),
        ..limits()
    };
    for startup in [Some(Duration::from_secs(300)), None] {
        let pool = pool_within(&["slow-list", "300"], startup, little);
        call(&pool, "echo", json!({})).await.unwrap();
    }
    // A caller that waits less than the server may take hears about its own limit.
    let pool = pool_within(&["listless"], None, little);
    let ask = Ask {
        time: Duration::from_millis(300),
        ..Ask::default()
    };
    let ended = ask.call(&pool, "echo", json!({})).await;
    assert!(matches!(ended, Err(McpError::Timeout { .. })), "{ended:?}");
}

#[tokio::test]
async fn starting_ends_when_the_caller_gives_up() {
    let (pool, ask) = (pool(&["deaf"]), Ask::default());
    let cancel = ask.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    let ended = ask.call(&pool, "echo", json!({})).await;
    assert!(matches!(ended, Err(McpError::Cancelled)), "{ended:?}");
}

#[tokio::test]
async fn greetings_on_standard_output_do_no_harm_and_an_endless_line_does() {
    assert!(
        call(&pool(&["greets", "50"]), "echo", json!({}))
            .await
            .is_ok()
    );
    let small = Limits {
        message_bytes: 1_000_000,
        ..limits()
    };
    let pool = pool_of(program(&["endless"]), small);
    let error = pool
        .list_tools("s", &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            McpError::TooLarge {
                limit: 1_000_000,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn what_a_program_says_when_it_refuses_the_greeting_is_told() {
    let error = call(&pool(&["choosy"]), "echo", json!({})).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("it rejected `initialize`: no licence"),
        "{error}"
    );
    assert!(
        !error.contains('\n') && !error.contains("exited with"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_of_the_newest_revision_is_greeted_its_way() {
    let called = call(&pool(&["newer"]), "echo", json!({"a": 1}))
        .await
        .unwrap();
    assert_eq!(called.text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn only_the_program_with_the_right_checksum_is_started() {
    let bytes = std::fs::read(COUNTERPART).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let with = |algorithm, value| Program {
        checksum: Some(Checksum { algorithm, value }),
        ..program(&[])
    };
    for checksum in [
        (Algorithm::Sha256, jp_disk::Sha256::of(&bytes).to_string()),
        (
            Algorithm::Sha1,
            hex(&sha1::Sha1::digest(&bytes)).to_uppercase(),
        ),
    ] {
        let pool = pool_of(with(checksum.0, checksum.1), limits());
        call(&pool, "echo", json!({})).await.unwrap();
    }
    let pool = pool_of(with(Algorithm::Sha256, "00".repeat(32)), limits());
    let error = call(&pool, "echo", json!({})).await.unwrap_err();
    assert!(matches!(error, McpError::Checksum { .. }), "{error}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let missing = Program {
        command: "no-such-server".to_owned(),
        ..program(&[])
    };
    let error = call(&pool_of(missing, limits()), "echo", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `s` did not start: no such program: `no-such-server`"
    );
}

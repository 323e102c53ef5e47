//! Section F of the security list: processes that multiply, hide or outlive their call.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use jp_llm::{
    Executed, Host, execute_turn,
    tool::{Cause, Stop},
};
use jp_policy::{Limit, Policy};
use serde_json::json;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::kit::{Desk, Ended, call, pipe, script};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// A daemon as the book says: forked twice, in a session of its own, deaf to signals.
const DAEMON: &str =
    "setsid sh -c 'trap \"\" HUP TERM INT; (sleep 1000 & sleep 1000) & sleep 1000' &";

/// A script whose processes all hold the writing end of a pipe.
fn desk(text: &str, more: &str) -> (Desk, PathBuf) {
    let text = format!("exec 9>pipe; echo up >&9; {text}");
    let desk = Desk::new(&script("t", &text, more)).trusted();
    let path = pipe(&desk, "pipe");
    (desk, path)
}

/// Calls the script and waits until the last process that held the pipe is gone. Cancels the call
/// as soon as the script is up, if it is to be cancelled.
async fn run(text: &str, more: &str, cancels: bool) -> (Desk, Executed) {
    let (desk, path) = desk(text, more);
    let call = call(json!({}));
    let cancel = call.cancel.clone();
    let gone = watch(path, cancels.then_some(cancel));
    let executed = tokio::time::timeout(PATIENCE, desk.make("t", call))
        .await
        .unwrap();
    tokio::time::timeout(PATIENCE, gone).await.unwrap().unwrap();
    (desk, executed)
}

/// Watches the pipe on a thread of its own, which a test that fails need not wait for.
fn watch(path: PathBuf, cancel: Option<CancellationToken>) -> oneshot::Receiver<()> {
    let (gone, told) = oneshot::channel();
    std::thread::spawn(move || {
        until_gone(path, cancel);
        gone.send(())
    });
    told
}

fn until_gone(path: PathBuf, cancel: Option<CancellationToken>) {
    let mut reader = BufReader::new(File::open(path).unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    if let Some(cancel) = cancel {
        cancel.cancel();
    }
    reader.read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f63_a_fork_bomb_is_bounded_and_gone_after_cancel() {
    let bomb = "b() { b | b & b; }; b 2>/dev/null & exec sleep 1000";
    let (desk, executed) = run(bomb, "", true).await;
    assert!(executed.result.unwrap().is_cancelled());
    assert_eq!(desk.record(), "allowed, cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f63_a_fork_bomb_is_gone_when_its_time_is_over() {
    let bomb = "echo said; b() { b | b & b; }; b 2>/dev/null & exec sleep 1000";
    let (desk, executed) = run(bomb, "limits.time = \"500ms\"", false).await;
    let Cause::Stopped(Stop::LimitReached { limit, printed, .. }) = executed.error().into_cause()
    else {
        panic!("no limit")
    };
    assert_eq!((limit, &*printed.stdout), (Limit::Time, "said\n"));
    assert_eq!(desk.record(), "allowed, limit");
}

#[tokio::test]
async fn f63_open_files_are_bounded() {
    let bomb =
        "exec bash -c 'while exec {fd}</dev/null; do last=$fd; done; echo $last' 2>/dev/null";
    let desk = Desk::new(&script("t", bomb, "")).trusted();
    let said = desk.said("t", json!({})).await;
    let last: u32 = match said {
        Ok(said) => said.trim().parse().unwrap(),
        // A shell that gives up altogether is bounded as well.
        Err(said) => {
            assert!(said.contains("execution failed"), "{said}");
            0
        }
    };
    assert!(last < 256, "{last}");
    let desk = Desk::new(&script("t", "ulimit -n", "")).trusted();
    assert_eq!(desk.said("t", json!({})).await, Ok("256\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f63_everything_is_gone_after_an_output_flood() {
    let (_, executed) = run("sleep 1000 & yes", "limits.output = \"1KB\"", false).await;
    assert!(matches!(
        executed.error().cause(),
        Cause::Stopped(Stop::LimitReached {
            limit: Limit::Output,
            ..
        })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f64_a_daemon_dies_with_its_tool() {
    let (_, executed) = run(&format!("{DAEMON} echo done"), "", false).await;
    assert_eq!(executed.said(), Ok("done\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f64_a_daemon_dies_when_its_call_is_cancelled_or_over() {
    let text = format!("{DAEMON} sleep 1000");
    let (_, executed) = run(&text, "", true).await;
    assert!(executed.result.unwrap().is_cancelled());
    let (_, executed) = run(&text, "limits.time = \"300ms\"", false).await;
    assert!(matches!(
        executed.error().cause(),
        Cause::Stopped(Stop::LimitReached { .. })
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f64_a_daemon_dies_when_nobody_waits_for_its_call() {
    let (desk, path) = desk(&format!("{DAEMON} sleep 1000"), "");
    let up = CancellationToken::new();
    let (seen, call) = (up.clone(), call(json!({})));
    let gone = watch(path, Some(seen));
    tokio::select! {
        _ = desk.make("t", call) => panic!("it does not end by itself"),
        () = up.cancelled() => {}
    }
    tokio::time::timeout(PATIENCE, gone).await.unwrap().unwrap();
    assert_eq!(desk.record(), "allowed, cancelled");
}

#[tokio::test]
async fn a_process_that_closes_its_output_has_no_more_time_than_others() {
    let quiet = "sleep 9; exec >&- 2>&-; sleep 1000";
    let desk = Desk::new(&script("t", quiet, "limits.time = \"10s\"")).trusted();
    let started = std::time::Instant::now();
    let error = desk.call("t", json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::LimitReached { .. })),
        "{error:?}"
    );
    // Counting its time anew would take 19 s; a busy machine may take a few more than 10.
    assert!(
        started.elapsed() < Duration::from_secs(18),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_nobody_waits_for_is_ended() {
    let (mut desk, path) = desk("sleep 1000", "");
    let tool = Arc::new(desk.tool("t").unwrap().prepare());
    let bare = Host::builder(desk.root.clone(), Policy::default()).build();
    let host = Arc::new(std::mem::replace(&mut desk.host, bare));
    let up = CancellationToken::new();
    let (seen, calls) = (up.clone(), vec![(tool, call(json!({})))]);
    let gone = watch(path, Some(seen));
    tokio::select! {
        _ = execute_turn(calls, &host) => panic!("it does not end by itself"),
        () = up.cancelled() => {}
    }
    tokio::time::timeout(PATIENCE, gone).await.unwrap().unwrap();
}

//! Calls that are cancelled, run out of something or trap, and calls side by side.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jp_llm::{
    Events, ExecutionOutcome, execute_turn,
    tool::{Cause, Stop},
};
use jp_policy::Limit;
use jp_tool::ToolStatus;
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::{Desk, Ended, call, pipe, reader, script};

/// Tells when a call has come to its execution.
#[derive(Default)]
struct Watch {
    phases: Mutex<Vec<String>>,
    executes: Notify,
}

impl Events for Watch {
    fn report(&self, _: &str, _: &str, status: ToolStatus) {
        if status.phase == "execute" {
            self.executes.notify_one();
        }
        self.phases.lock().unwrap().push(status.phase);
    }
}

fn spinner(more: &str) -> Desk {
    let parameters = "parameters.ms.type = \"integer\"\nparameters.calls.type = \"string\"";
    Desk::new(&reader("spin", &format!("{parameters}\n{more}"))).guest("spin", "spin")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_says_so() {
    let mut desk = spinner("");
    let watch = Arc::new(Watch::default());
    desk.caller(|caller| caller.events = Some(Arc::clone(&watch) as Arc<dyn Events>));
    let spin = call(json!({}));
    let cancel = spin.cancel.clone();
    let stop = async {
        watch.executes.notified().await;
        cancel.cancel();
    };
    let (executed, ()) = tokio::join!(desk.make("spin", spin), stop);
    let expected = ExecutionOutcome::Cancelled {
        id: "c1".to_owned(),
    };
    assert_eq!(executed.result.unwrap(), expected);
    assert_eq!(desk.record(), "allowed, cancelled");
    let phases = watch.phases.lock().unwrap().join(" ");
    assert!(
        phases.starts_with("validate execute") && phases.ends_with("complete"),
        "{phases}"
    );
}

#[tokio::test]
async fn a_call_cancelled_before_it_starts_does_not_start() {
    let desk = Desk::new(&crate::kit::command("t", "\"touch ran\"", "")).trusted();
    let late = call(json!({}));
    late.cancel.cancel();
    assert!(desk.make("t", late).await.result.unwrap().is_cancelled());
    assert!(!desk.has("ran"));
    assert_eq!(desk.record(), "allowed, cancelled");
}

/// A person who never answers.
struct Silent;

#[async_trait::async_trait]
impl jp_llm::Approver for Silent {
    async fn approve(&self, _: &jp_llm::ApprovalRequest<'_>) -> jp_llm::Approval {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_a_person_thinks() {
    let mut desk = Desk::new(&reader("echo", "run = \"ask\"")).guest("echo", "echo");
    desk.caller(|caller| caller.approver = Arc::new(Silent));
    let waits = call(json!({}));
    let cancel = waits.cancel.clone();
    let stop = async { cancel.cancel() };
    let (executed, ()) = tokio::join!(desk.make("echo", waits), stop);
    assert!(executed.result.unwrap().is_cancelled());
    assert_eq!(desk.record(), "asked, cancelled");
}

#[tokio::test]
async fn a_call_nobody_waits_for_is_written_down_too() {
    let mut desk = Desk::new(&reader("echo", "run = \"ask\"")).guest("echo", "echo");
    desk.caller(|caller| caller.approver = Arc::new(Silent));
    let gave_up = tokio::time::timeout(Duration::ZERO, desk.call("echo", json!({}))).await;
    assert!(gave_up.is_err());
    assert_eq!(desk.record(), "asked, cancelled");
}

#[tokio::test]
async fn limits_name_themselves_and_the_way_to_raise_them() {
    let desk = spinner("limits.time = \"50ms\"");
    let error = desk.call("spin", json!({})).await.error();
    assert_eq!(
        error.to_string(),
        "tool `spin` ran out of time (limit: 50 ms)"
    );
    let hint = "raise it with `limits.time` under `[conversation.tools.spin]`";
    assert_eq!(error.hint(), Some(hint));
    assert_eq!(desk.record(), "allowed, limit");

    let desk = spinner("limits.fuel = 100000");
    let error = desk.call("spin", json!({})).await.error();
    assert_eq!(
        error.to_string(),
        "tool `spin` ran out of fuel (limit: 100000)"
    );

    let memory = "limits.memory = \"16MiB\"\nparameters.bytes.type = \"integer\"";
    let desk = Desk::new(&reader("grow", memory)).guest("grow", "grow");
    let error = desk.call("grow", json!({"bytes": 64 << 20})).await.error();
    assert_eq!(
        error.to_string(),
        "tool `grow` ran out of memory (limit: 16777216 bytes)"
    );
}

#[tokio::test]
async fn what_was_printed_before_a_limit_is_kept() {
    let config = "limits.output = \"2KB\"\nparameters.stdout.type = \"integer\"\n\
                  parameters.stderr.type = \"integer\"";
    let desk = Desk::new(&reader("print", config)).guest("print", "print");
    let executed = desk.call("print", json!({"stdout": 9000})).await;
    assert_eq!(executed.details.stdout.len(), 2000);
    let Cause::Stopped(Stop::LimitReached { limit, printed, .. }) = executed.error().into_cause()
    else {
        panic!("no limit")
    };
    assert_eq!((limit, printed.stdout.len()), (Limit::Output, 2000));
    assert_eq!(desk.records()[0].stdout_bytes, 2000);
}

#[tokio::test]
async fn a_trap_says_what_the_guest_said_last() {
    let desk = Desk::new(&reader("trap", "parameters.how.type = \"string\"")).guest("trap", "trap");
    let error = desk.call("trap", json!({})).await.error();
    assert!(
        matches!(error.cause(), Cause::Stopped(Stop::WasmTrap(_))),
        "{error:?}"
    );
    assert!(
        error.to_string().starts_with("Wasm tool trapped: "),
        "{error}"
    );
    assert!(
        error.to_string().contains("the probe gave up on purpose"),
        "{error}"
    );
    assert_eq!(desk.record(), "allowed, trap");
    // The next call finds everything in order.
    assert!(matches!(
        desk.call("trap", json!({})).await.error().cause(),
        Cause::Stopped(Stop::WasmTrap(_))
    ));
}

#[tokio::test]
async fn a_turn_runs_side_by_side_and_answers_in_order() {
    // Whoever opens one end of a pipe waits for whoever opens the other.
    let config = [
        script("writes", "echo met > pipe; echo wrote", ""),
        script("reads", "cat pipe", ""),
        reader("trap", ""),
        reader("echo", ""),
    ]
    .concat();
    let desk = Desk::new(&config)
        .guest("trap", "trap")
        .guest("echo", "echo")
        .trusted();
    pipe(&desk, "pipe");
    let calls = ["writes", "reads", "trap", "echo"].map(|name| {
        let tool = Arc::new(desk.tool(name).unwrap().prepare());
        let mut call = call(json!({}));
        call.id = name.to_owned();
        (tool, call)
    });
    let host = Arc::new(desk.host);
    let mut results = execute_turn(calls.into(), &host).await.into_iter();
    assert_eq!(results.next().unwrap().said(), Ok("wrote\n".to_owned()));
    assert_eq!(results.next().unwrap().said(), Ok("met\n".to_owned()));
    assert!(matches!(
        results.next().unwrap().error().cause(),
        Cause::Stopped(Stop::WasmTrap(_))
    ));
    let last = results.next().unwrap().result.unwrap();
    assert!(last.id() == "echo" && last.is_success());
}

//! Tools of this process, behind the same pipeline.

use std::sync::Arc;

use async_trait::async_trait;
use jp_llm::{
    Call, Host, ToolDefinition, ToolError,
    tool::{Cause, Stop},
};
use jp_policy::{Limit, Policy, Request};
use jp_tool::{Action, Tool, ToolRequest, ToolResponse, ToolStatus};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::kit::{Desk, Ended, call};

/// A calculator that counts its calls and waits when told to.
#[derive(Default)]
struct Adder {
    calls: u32,
    waits: Arc<Notify>,
}

#[async_trait]
impl Tool for Adder {
    fn name(&self) -> &str {
        "adder"
    }
    fn short_description(&self) -> &str {
        "Adds numbers."
    }
    fn description(&self) -> String {
        "Adds numbers that are separated by `+`.".to_owned()
    }
    fn help(&self) -> String {
        "ADDER(1)".to_owned()
    }
    fn system_prompt(&self) -> String {
        "# Adder".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"commands": {"type": "string"}},
               "required": ["commands"], "additionalProperties": false})
    }
    fn output_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn version(&self) -> &str {
        "1"
    }
    async fn execute(&mut self, req: ToolRequest) -> ToolResponse {
        self.calls += 1;
        if req.commands == "wait" {
            self.waits.notify_one();
            std::future::pending::<()>().await;
        }
        if req.commands == "flood" {
            return ToolResponse {
                stdout: "x".repeat(11_000_000),
                ..ToolResponse::default()
            };
        }
        let sum: Result<i64, _> = req
            .commands
            .split('+')
            .map(|n| n.trim().parse::<i64>())
            .sum();
        match sum {
            Ok(sum) => ToolResponse {
                stdout: format!("{sum}"),
                stderr: format!("call {}", self.calls),
                ..ToolResponse::default()
            },
            Err(error) => ToolResponse {
                stdout: "so far".to_owned(),
                stderr: error.to_string(),
                exit_code: 2,
                error: Some(req.commands),
            },
        }
    }
    async fn execute_with_status(
        &mut self,
        req: ToolRequest,
        mut status_callback: Box<dyn FnMut(ToolStatus) + Send>,
    ) -> ToolResponse {
        status_callback(ToolStatus::phase("parse"));
        self.execute(req).await
    }
}

fn adder() -> (ToolDefinition, Desk) {
    let tool = ToolDefinition::native("adder", Box::new(Adder::default()), Request::default());
    (tool, Desk::new(""))
}

fn commands(text: &str) -> Call {
    call(json!({ "commands": text }))
}

#[tokio::test]
async fn a_native_tool_is_described_and_run() {
    let (tool, desk) = adder();
    assert_eq!(tool.summary(), "Adds numbers.");
    let manual = tool.manual().unwrap();
    assert_eq!(manual.help, "ADDER(1)");
    assert_eq!(manual.system_prompt, "# Adder");
    assert_eq!(manual.output_schema, json!({"type": "object"}));
    let executed = tool.execute_detailed(commands("1 + 2"), &desk.host).await;
    assert_eq!(executed.details.stdout, b"3");
    let said = executed.said().unwrap();
    assert_eq!(said, r#"{"stdout":"3","stderr":"call 1","exit_code":0}"#);
    // It is one session.
    let said = tool
        .execute_detailed(commands("1"), &desk.host)
        .await
        .said();
    assert!(said.unwrap().contains("call 2"));
    assert_eq!(desk.records()[0].outcome, "success");
}

#[tokio::test]
async fn its_arguments_are_checked_and_its_failures_are_results() {
    let (tool, desk) = adder();
    let said = tool
        .execute_detailed(call(json!({})), &desk.host)
        .await
        .said();
    assert!(said.unwrap_err().contains("required"));
    let said = tool
        .execute_detailed(commands("x"), &desk.host)
        .await
        .said();
    let said = said.unwrap_err();
    assert!(
        said.contains("\"exit_code\":2") && said.ends_with("Trace:\nx"),
        "{said}"
    );
}

#[tokio::test]
async fn its_limits_carry_the_output_so_far() {
    let (tool, desk) = adder();
    let limit = |error: ToolError| match error.into_cause() {
        Cause::Stopped(Stop::LimitReached { limit, printed, .. }) => (limit, printed.stdout.len()),
        other => panic!("{other:?}"),
    };
    let error = tool
        .execute_detailed(commands("resource_limit"), &desk.host)
        .await
        .error();
    assert_eq!(limit(error), (Limit::Output, "so far".len()));
    let error = tool
        .execute_detailed(commands("flood"), &desk.host)
        .await
        .error();
    assert_eq!(limit(error), (Limit::Output, 10_000_000));
}

#[tokio::test]
async fn it_can_be_cancelled_while_it_runs_and_while_it_waits_for_its_session() {
    let waits = Arc::new(Notify::new());
    let adder = Adder {
        waits: Arc::clone(&waits),
        ..Adder::default()
    };
    let tool = ToolDefinition::native("adder", Box::new(adder), Request::default());
    let desk = Desk::new("");
    let (first, second) = (commands("wait"), commands("1"));
    let (stop_first, stop_second) = (first.cancel.clone(), second.cancel.clone());
    let stop = async {
        waits.notified().await;
        stop_second.cancel();
    };
    let first = tool.execute(first, &desk.host);
    let second = async {
        let (ended, ()) = tokio::join!(tool.execute(second, &desk.host), stop);
        stop_first.cancel();
        ended
    };
    let (first, second) = tokio::join!(first, second);
    assert!(first.unwrap().is_cancelled() && second.unwrap().is_cancelled());
    assert_eq!(desk.records().len(), 2);
}

#[tokio::test]
async fn showing_its_arguments_does_not_run_it() {
    let (tool, desk) = adder();
    let shown = Call {
        action: Action::FormatArguments,
        ..commands("wait")
    };
    let said = tool.execute_detailed(shown, &desk.host).await.said();
    assert_eq!(said, Ok("wait".to_owned()));
}

/// A tool that breaks.
struct Broken;

#[tokio::test]
async fn a_call_that_panics_is_written_down() {
    let tool = ToolDefinition::native("broken", Box::new(Broken), Request::default());
    let mut desk = Desk::new("");
    let bare = Host::builder(desk.root.clone(), Policy::default()).build();
    let host = Arc::new(std::mem::replace(&mut desk.host, bare));
    let results =
        jp_llm::execute_turn(vec![(Arc::new(tool.prepare()), commands("x"))], &host).await;
    assert!(matches!(&results[0].result, Err(error) if matches!(error.cause(), Cause::Host(_))));
    assert_eq!(desk.record(), "allowed, host_failure");
}

#[async_trait]
impl Tool for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    fn short_description(&self) -> &str {
        ""
    }
    fn description(&self) -> String {
        String::new()
    }
    fn help(&self) -> String {
        String::new()
    }
    fn system_prompt(&self) -> String {
        String::new()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn output_schema(&self) -> Value {
        json!({})
    }
    fn version(&self) -> &str {
        "1"
    }
    async fn execute(&mut self, _: ToolRequest) -> ToolResponse {
        panic!("it breaks")
    }
    async fn execute_with_status(
        &mut self,
        req: ToolRequest,
        _: Box<dyn FnMut(ToolStatus) + Send>,
    ) -> ToolResponse {
        self.execute(req).await
    }
}

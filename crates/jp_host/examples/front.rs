//! A whole front in one file: lists the tools of a workspace, or calls one and asks at the terminal.
//!
//! `cargo run -p jp_host --example front` and `cargo run -p jp_host --example front -- bash '{"commands":"seq 3"}'`
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a front talks to people"
)]

use std::{env, error::Error, io, process::ExitCode, sync::Arc};

use async_trait::async_trait;
use jp_host::{Location, Places, Workspace};
use jp_llm::{Approval, ApprovalRequest, Approver, AskRequest, Asker, Call, Caller};
use serde_json::Value;

/// The person at the terminal: approves calls and answers what tools ask.
struct Terminal;

#[async_trait]
impl Approver for Terminal {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let may = request.grant.capabilities().words();
        eprintln!("{} wants to run. It may: {}", request.tool, may.join("; "));
        match line("Run it? [y/N] ").as_deref() {
            Some("y") => Approval::Approved,
            Some(_) => Approval::Refused(None),
            None => Approval::Unavailable,
        }
    }
}

#[async_trait]
impl Asker for Terminal {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        // The pipeline checks that the answer fits the question.
        line(&format!("{}: {} ", request.tool, request.question.text)).map(Value::String)
    }
}

fn line(prompt: &str) -> Option<String> {
    eprint!("{prompt}");
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_owned())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let places = Places::from_environment(&|name| env::var_os(name));
    let workspace = Workspace::at(Location::find(None)?)
        .environment(env::vars_os(), |name| env::var_os(name))
        .open(&places)?
        .audited(&places)?;
    // One host serves many callers; this front has one.
    let host = workspace.host().for_caller(Caller {
        principal: jp_host::principal(),
        approver: Arc::new(Terminal),
        asker: Arc::new(Terminal),
        ..Caller::default()
    });

    let mut words = env::args().skip(1);
    let Some(tool) = words.next() else {
        for tool in workspace.tools(&host) {
            match tool {
                Ok(tool) => println!("{}\t{}", tool.name, tool.known_schema()),
                Err(error) => eprintln!("error: {error}"),
            }
        }
        return Ok(());
    };
    let call = Call {
        id: "1".to_owned(),
        arguments: serde_json::from_str(words.next().as_deref().unwrap_or("{}"))?,
        ..Call::default()
    };
    let executed = workspace.call(&tool, call, &host).await?;
    workspace.stop_servers().await;
    // `Ok` is a result for the model, the inner `Err` a tool that said no, the outer one a call without an outcome.
    match executed.result?.into_response() {
        Ok(result) => println!("{result}"),
        Err(refusal) => eprintln!("the tool said no: {refusal}"),
    }
    Ok(())
}

fn main() -> ExitCode {
    // A confined command starts as this very program, so this comes before any thread exists.
    if let Some(code) = jp_confine::enter_if_asked() {
        return code;
    }
    let done = tokio::runtime::Runtime::new().map_err(Into::into);
    match done.and_then(|runtime| runtime.block_on(run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

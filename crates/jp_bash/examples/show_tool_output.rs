//! Prints what the tool tells models, and what a call answers.
//!
//! `cargo run -p jp_bash --example show_tool_output`

#![expect(clippy::print_stdout, reason = "printing is what this is for")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use jp_bash::{BashTool, ExecutionLimits};
use jp_tool::{Tool, ToolRequest};

fn main() {
    let mut tool = BashTool::builder()
        .username("agent")
        .hostname("sandbox")
        .limits(ExecutionLimits::new().max_commands(500))
        .env("API_KEY", "secret")
        .build();
    for (name, text) in [
        ("name", tool.name().to_owned()),
        ("short_description", tool.short_description().to_owned()),
        ("description", tool.description()),
        ("system_prompt", tool.system_prompt()),
        ("help", tool.help()),
        ("input_schema", format!("{:#}", tool.input_schema())),
        ("output_schema", format!("{:#}", tool.output_schema())),
        ("version", tool.version().to_owned()),
    ] {
        println!("=== {name}()\n{text}\n");
    }
    let request = ToolRequest {
        commands: "for i in 1 2 3; do echo $i; done; whoami".to_owned(),
    };
    let on_status = Box::new(|status| println!("{status:?}"));
    println!("=== execute_with_status()");
    let mut call = pin!(tool.execute_with_status(request, on_status));
    // The tool never waits for anything outside, so one poll is enough.
    if let Poll::Ready(response) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        println!("{response:#?}");
    }
}

//! Tools that take their time, say how far they are, or change something.

use std::{fs, path::Path, thread, time::Duration};

use jp_tool::{
    Answer, Context, Outcome,
    guest::described::{Level, log, progress},
};
use serde_json::Value;

/// The file by whose presence the workspace brings one tool more.
const BROUGHT: &str = "wasm/brought_tool.wasm";

/// This component, which is also that tool.
const THIS: &str = ".jp/tools/conformance.wasm";

pub(crate) fn run(name: &str, context: &Context, arguments: &Value) -> Option<Answer> {
    Some(match name {
        "test_tool_with_progress" => with_progress(),
        "test_tool_with_logging" => with_logging(),
        "test_logging_tool" => {
            log(Level::Info, "This is a line of the log.");
            "A line was logged.".into()
        }
        "test_reconnection" => {
            pause(100);
            "The stream was kept open.".into()
        }
        "test_trigger_tool_change" => change(context),
        "greet" => format!("Hello, {}!", arguments["name"].as_str().unwrap_or("nobody")).into(),
        "slow_compute" => compute(arguments),
        "failing_job" => {
            pause(1_000);
            Outcome::failed("the job failed, as it must").into()
        }
        "protocol_error_job" => {
            pause(500);
            #[expect(clippy::panic, reason = "a tool that breaks is what is wanted")]
            {
                panic!("the job broke, as it must")
            }
        }
        _ => return None,
    })
}

fn with_progress() -> Answer {
    progress("started", Some(0.0));
    pause(50);
    progress("half way", Some(0.5));
    pause(50);
    progress("done", Some(1.0));
    "The work is done.".into()
}

fn with_logging() -> Answer {
    log(Level::Info, "Tool execution started");
    pause(50);
    log(Level::Info, "Tool processing data");
    pause(50);
    log(Level::Info, "Tool execution completed");
    "Three lines were logged.".into()
}

fn compute(arguments: &Value) -> Answer {
    let seconds = arguments["seconds"].as_f64().unwrap_or_default();
    if let Ok(time) = Duration::try_from_secs_f64(seconds) {
        thread::sleep(time);
    }
    format!("Computed for {seconds} s.").into()
}

/// Adds a tool to those that the workspace brings, or takes it away again.
fn change(context: &Context) -> Answer {
    let root = Path::new(context.root.as_str());
    let changed = match fs::remove_file(root.join(BROUGHT)) {
        Ok(()) => Ok(0),
        Err(_) => fs::copy(root.join(THIS), root.join(BROUGHT)),
    };
    match changed {
        Ok(_) => "The list of tools has changed.".into(),
        Err(error) => Outcome::fail(error).into(),
    }
}

fn pause(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

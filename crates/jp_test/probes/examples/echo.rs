//! Answers with everything it was called with; with the length of arguments that are very long.

use jp_probes::{Call, probe};
use jp_tool::{Action, Outcome};
use serde_json::json;

fn run(call: &Call) -> Outcome {
    if call.arguments.len() > 1_000_000 {
        return format!("{}", call.arguments.len()).into();
    }
    let formats = call.context.action == Action::FormatArguments;
    let echoed = json!({
        "name": call.name,
        "arguments": call.arguments,
        "answers": call.answers,
        "root": call.context.root,
        "formats": formats,
    });
    echoed.to_string().into()
}

probe!(run);

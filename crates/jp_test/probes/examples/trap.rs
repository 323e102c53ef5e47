//! Ends without an answer: by a panic, or with `{"how": "exit"}` or `{"how": "abort"}`.

use jp_probes::{Call, probe};
use jp_tool::Outcome;

#[expect(
    clippy::panic,
    clippy::exit,
    reason = "this is what the probe is there for"
)]
fn run(call: &Call) -> Outcome {
    match call.text("how").as_str() {
        "exit" => std::process::exit(3),
        "abort" => std::process::abort(),
        _ => panic!("the probe gave up on purpose"),
    }
}

probe!(run);

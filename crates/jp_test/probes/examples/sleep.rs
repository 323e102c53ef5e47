//! Sleeps `{"ms": n}` milliseconds, waiting in the host and not computing.

use std::time::Duration;

use jp_probes::{Call, probe};
use jp_tool::Outcome;

fn run(call: &Call) -> Outcome {
    std::thread::sleep(Duration::from_millis(call.number("ms") as u64));
    "awake".into()
}

probe!(run);

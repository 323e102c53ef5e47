//! Calls itself `{"depth": n}` times deep, without an end when no depth is given.

use jp_probes::{Call, probe};
use jp_tool::Outcome;

fn run(call: &Call) -> Outcome {
    let depth = call.get("depth").as_u64().unwrap_or(u64::MAX);
    format!("came back with {}", descend(depth)).into()
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    // The array keeps the compiler from making a loop of this.
    let frame = std::hint::black_box([depth; 16]);
    if depth == 0 {
        return 0;
    }
    descend(depth - 1) + std::hint::black_box(frame)[3] % 2
}

probe!(run);

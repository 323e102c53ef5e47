//! Counts its calls in a static variable: a fresh instance always answers 1.

use std::sync::atomic::{AtomicU32, Ordering};

use jp_probes::{Call, probe};
use jp_tool::Outcome;

static CALLS: AtomicU32 = AtomicU32::new(0);

fn run(_: &Call) -> Outcome {
    let before = CALLS.fetch_add(1, Ordering::Relaxed);
    format!("{}", before + 1).into()
}

probe!(run);

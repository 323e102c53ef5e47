//! Never ends, or computes for `{"ms": n}` milliseconds. `{"calls": "clock"}` or `"random"` makes it call the host all the time.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    time::{Instant, SystemTime},
};

use jp_probes::{Call, probe};
use jp_tool::Outcome;

fn run(call: &Call) -> Outcome {
    let calls = call.text("calls");
    let (started, ms) = (Instant::now(), call.number("ms") as u128);
    let mut turn = 0_u64;
    loop {
        if ms > 0 && turn.is_multiple_of(10_000) && started.elapsed().as_millis() >= ms {
            return "done".into();
        }
        match calls.as_str() {
            "clock" => drop(std::hint::black_box((Instant::now(), SystemTime::now()))),
            "random" => drop(std::hint::black_box(RandomState::new().hash_one(turn))),
            _ => {}
        }
        turn = std::hint::black_box(turn).wrapping_add(1);
    }
}

probe!(run);

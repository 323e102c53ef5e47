//! Takes `{"bytes": n}` of memory in steps of 1 MiB. With `{"careful": true}` it looks whether it
//! got them and reports how many; otherwise it dies of the first refusal.

use jp_probes::{Call, probe};
use jp_tool::Outcome;

const STEP: usize = 1024 * 1024;

fn run(call: &Call) -> Outcome {
    let wanted = call.number("bytes");
    let careful = call.get("careful") == true;
    let mut held: Vec<Vec<u8>> = Vec::new();
    while held.len() * STEP < wanted {
        let mut piece = Vec::new();
        if careful && piece.try_reserve_exact(STEP).is_err() {
            break;
        }
        piece.resize(STEP, 1);
        held.push(std::hint::black_box(piece));
    }
    format!("{}", held.len() * STEP).into()
}

probe!(run);

//! Reports what it finds around it: the values of variables, the clocks before and after a sleep of
//! `{"ms": n}`, what hash tables are seeded with, when the file `{"file": path}` was changed. Prints
//! `{"print": text}` and reads standard input.

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    io::{self, Read, Write},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use jp_probes::{Call, probe};
use jp_tool::Outcome;
use serde_json::json;

fn run(call: &Call) -> Outcome {
    let mut input = String::new();
    let stdin = io::stdin().read_to_string(&mut input);
    let mut stdout = io::stdout();
    let printed = stdout.write_all(call.text("print").as_bytes());
    let printed = printed.and_then(|()| stdout.flush());
    let changed = fs::metadata(call.text("file")).and_then(|found| found.modified());
    let (start, wall) = (Instant::now(), SystemTime::now());
    std::thread::sleep(Duration::from_millis(call.number("ms") as u64));
    let tried = json!({
        "variables": std::env::vars().collect::<Vec<_>>(),
        "stdin": stdin.map_or_else(|error| error.to_string(), |_| input),
        "printed": printed.map_or_else(|error| error.to_string(), |()| "ok".to_owned()),
        "wall": since_epoch(wall),
        "passed": start.elapsed().as_millis(),
        "seed": RandomState::new().hash_one(0),
        "changed": changed.map(since_epoch).unwrap_or_default(),
    });
    tried.to_string().into()
}

fn since_epoch(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

probe!(run);

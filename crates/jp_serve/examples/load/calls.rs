//! Calls from many connections: every one is answered and recorded, the log is intact, and memory stays flat.

use std::{thread, time::Instant};

use serde_json::json;

use crate::{Scale, Verdict, client::Client, site::Site};

/// How many connections make calls.
const CONNECTIONS: usize = 64;

/// Memory may differ by so many percent between the first calls and the last.
const FLAT: f64 = 10.0;

pub(crate) fn run(jp: &str, scale: Scale, verdict: &mut Verdict) {
    let site = Site::start(jp);
    let each = scale.of(10_000).div_ceil(CONNECTIONS);
    let count = each * CONNECTIONS;
    // What the server keeps for good, caches and threads, is there after as many calls.
    round(&site, each);
    let before = site.memory();
    let started = Instant::now();
    round(&site, each);
    let took = started.elapsed();
    let after = site.memory();
    assert_eq!(site.records(), 2 * count, "records of calls");
    assert!(site.log_is_intact(), "the log after {} calls", 2 * count);
    let per_second = count as f64 / took.as_secs_f64();
    let more = 100.0 * (after as f64 / before as f64 - 1.0);
    let text = format!(
        "calls: {count} from {CONNECTIONS} connections, none lost, all recorded, the log is intact; {per_second:.0} a \
         second; memory {before} KiB before, {after} KiB after ({more:+.1} %)"
    );
    verdict.figure(text, more.abs() <= FLAT);
}

fn round(site: &Site, each: usize) {
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut client = Client::new(site.addr);
                for n in 0..each {
                    let answer = client.call("bash", &json!({"commands": format!("echo {n}")}));
                    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
                    assert!(said.contains(&format!("\"{n}\\n\"")), "{answer}");
                }
            });
        }
    });
}

//! Loads a built `jp serve` and says what came of it: `cargo xtask load` runs this.
//!
//! Calls from many connections, connections that do nothing, lists while tools are busy, and servers
//! that are killed in the middle of their work. Fails where something is lost; prints the figures.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that fails may panic"
)]

mod client;
mod site;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use client::Client;
use site::Site;

/// How many connections make calls.
const CONNECTIONS: usize = 64;

fn main() {
    let mut words = std::env::args().skip(1);
    let jp = words
        .next()
        .unwrap_or_else(|| panic!("expected the path of jp"));
    let scale = words.next().map_or(1, |word| word.parse().unwrap());
    calls(&jp, 10_000 / scale);
    idle(&jp, 1_000 / scale);
    lists(&jp, 1_000 / scale);
    kills(&jp, 200 / scale);
}

/// Calls from many connections: every one is answered and recorded, and memory stays flat.
fn calls(jp: &str, count: usize) {
    let site = Site::start(jp);
    let each = count / CONNECTIONS;
    let round = || {
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    let mut client = Client::new(site.addr);
                    for n in 0..each {
                        let text = format!("echo {n}");
                        let answer = client.bash(&text);
                        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
                        assert!(said.contains(&format!("\"{n}\\n\"")), "{answer}");
                    }
                });
            }
        });
    };
    round();
    let before = site.memory();
    let started = Instant::now();
    round();
    let took = started.elapsed();
    let after = site.memory();
    let records = site.records();
    assert_eq!(records, 2 * each * CONNECTIONS, "records of calls");
    let per_second = (each * CONNECTIONS) as f64 / took.as_secs_f64();
    println!(
        "calls: {} from {CONNECTIONS} connections, none lost, all recorded; {per_second:.0} a second; memory {} KiB \
         after the first half, {} KiB after the second ({:+.1} %)",
        2 * each * CONNECTIONS,
        before,
        after,
        100.0 * (after as f64 / before as f64 - 1.0),
    );
}

/// Connections that have made one request and do nothing.
fn idle(jp: &str, count: usize) {
    let site = Site::start(jp);
    let mut first = Client::new(site.addr);
    first.list();
    let before = site.memory();
    let clients: Vec<Client> = (0..count)
        .map(|_| {
            let mut client = Client::new(site.addr);
            client.list();
            client
        })
        .collect();
    let each = site.memory().saturating_sub(before) as f64 / clients.len() as f64;
    println!("idle: {count} connections, {each:.1} KiB each");
}

/// Lists while tools are busy: floods, loops and sleeps, two of each at any time.
fn lists(jp: &str, count: usize) {
    let site = Site::start(jp);
    let alone = latencies(&site, count);
    let stop = AtomicBool::new(false);
    let busy = thread::scope(|scope| {
        for text in [
            "yes",
            "while :; do :; done",
            "sleep 1",
            "seq 1000000 | sort -r | tail -1",
        ] {
            for _ in 0..2 {
                let (site, stop) = (&site, &stop);
                scope.spawn(move || {
                    let mut client = Client::new(site.addr);
                    while !stop.load(Ordering::Relaxed) {
                        client.bash(text);
                    }
                });
            }
        }
        thread::sleep(Duration::from_millis(500));
        let busy = latencies(&site, count);
        stop.store(true, Ordering::Relaxed);
        busy
    });
    for (name, percent) in [("p50", 50), ("p99", 99)] {
        let at = |times: &[Duration]| times[times.len() * percent / 100];
        let (alone, busy) = (at(&alone), at(&busy));
        let ratio = busy.as_secs_f64() / alone.as_secs_f64();
        println!("lists {name}: {alone:?} idle, {busy:?} beside 8 busy calls ({ratio:.2} x)");
    }
}

fn latencies(site: &Site, count: usize) -> Vec<Duration> {
    let mut client = Client::new(site.addr);
    client.list();
    let mut times: Vec<Duration> = (0..count)
        .map(|_| {
            let started = Instant::now();
            client.list();
            started.elapsed()
        })
        .collect();
    times.sort();
    times
}

/// Servers that are killed in the middle: no accepted task is lost, and the log is intact.
fn kills(jp: &str, rounds: usize) {
    let mut site = Site::start(jp);
    let (mut accepted, mut failed, mut done) = (0_usize, 0_usize, 0_usize);
    for round in 0..rounds {
        let addr = site.addr;
        let at_work = thread::spawn(move || {
            let mut tasks = Vec::new();
            let mut client = Client::new(addr);
            while let Some(task) = client.task(round % 3) {
                tasks.push(task);
                if tasks.len() == 20 {
                    break;
                }
            }
            tasks
        });
        thread::sleep(Duration::from_micros((round as u64 * 7_919) % 60_000));
        site.kill();
        let tasks = at_work.join().unwrap();
        site.restart();
        assert!(site.log_is_intact(), "the log after kill {round}");
        let mut client = Client::new(site.addr);
        for task in tasks {
            let found = client.request("tasks/get", &task, json!({ "taskId": task }));
            accepted += 1;
            match found["result"]["status"].as_str() {
                Some("failed") => failed += 1,
                Some("completed") => done += 1,
                other => panic!("task {task} is {other:?}: {found}"),
            }
        }
    }
    println!(
        "kills: {rounds}, {accepted} accepted tasks, none lost: {done} had completed, {failed} say that they failed; the log \
         was intact after each"
    );
}

//! Warm calls: bare wasmtime and the whole pipeline, in turn, in one run.
//!
//! `cargo bench -p jp_bench --bench calls`, or with the names of cases after `--`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{
    thread,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use kit::{Workspace, bare::Bare, call, run};
use serde_json::json;
use tokio::runtime::Runtime;

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// Time between two arrivals in the spares case: 1,000 calls a second of each kind.
const PERIOD: Duration = Duration::from_micros(500);

/// One comparison.
type Case = fn(&Runtime);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let cases: [(&str, Case); 4] = [
        ("closed_loop", closed_loop),
        ("arrivals", arrivals),
        ("throughput", throughput),
        ("file_read", file_read),
    ];
    for (_, case) in cases.iter().filter(|(name, _)| wanted(name)) {
        case(&runtime);
    }
}

/// One call after the other, without spares.
fn closed_loop(runtime: &Runtime) {
    let bare = Bare::new(jp_test::guest("echo"));
    let workspace = Workspace::new(&["echo"], 0);
    let (tool, host) = (workspace.tool("echo"), &workspace.host);
    let arguments = json!({"text": "hello"});
    let (text, map) = (arguments.to_string(), arguments.as_object().unwrap());
    line(&format!(
        "futures: {} bytes bare, {} bytes whole",
        size_of_val(&bare.call(&text, None)),
        size_of_val(&run(&tool, call(map), host))
    ));
    let mut naked = Samples::new("wasmtime/bare/1");
    let mut whole = Samples::new("pipeline/no-spares/1");
    for round in 0..rounds(200) {
        for _ in 0..rounds(BATCH) {
            runtime.block_on(async {
                let started = Instant::now();
                bare.call(&text, None).await;
                (round > 0).then(|| naked.add(started.elapsed()));
            });
        }
        for _ in 0..rounds(BATCH) {
            let call = call(map);
            runtime.block_on(async {
                let started = Instant::now();
                run(&tool, call, host).await;
                (round > 0).then(|| whole.add(started.elapsed()));
            });
        }
    }
    naked.report(None);
    whole.report(Some(&naked));
}

/// Calls that arrive at a fixed rate, every second one bare, with spares.
fn arrivals(runtime: &Runtime) {
    let bare = Bare::new(jp_test::guest("echo"));
    let workspace = Workspace::new(&["echo"], 8);
    let (tool, host) = (workspace.tool("echo"), &workspace.host);
    let arguments = json!({"text": "hello"});
    let (text, map) = (arguments.to_string(), arguments.as_object().unwrap());
    let mut naked = Samples::new("wasmtime/bare-at-1000-per-s/1");
    let mut whole = Samples::new("pipeline/spares-at-1000-per-s/1");
    for round in 0..rounds(8000) {
        thread::sleep(PERIOD);
        runtime.block_on(async {
            let started = Instant::now();
            bare.call(&text, None).await;
            (round > 100).then(|| naked.add(started.elapsed()));
        });
        thread::sleep(PERIOD);
        let call = call(map);
        runtime.block_on(async {
            let started = Instant::now();
            run(&tool, call, host).await;
            (round > 100).then(|| whole.add(started.elapsed()));
        });
    }
    naked.report(None);
    whole.report(Some(&naked));
    let wasm = host.wasm().unwrap();
    let file = workspace.root().join(".jp/tools/echo.wasm");
    let prepared = runtime.block_on(wasm.prepare_path(&file, &|_| {})).unwrap();
    let used = wasm.spare_use(&prepared);
    line(&format!(
        "  spares: {} hits, {} misses",
        used.hits, used.misses
    ));
}

/// Calls per second, closed loop, with and without spares.
fn throughput(runtime: &Runtime) {
    let arguments = json!({"text": "hello"});
    let map = arguments.as_object().unwrap();
    let spaces = [Workspace::new(&["echo"], 0), Workspace::new(&["echo"], 8)];
    let mut totals = [(0_usize, Duration::ZERO); 2];
    for _ in 0..rounds(20) {
        for (space, total) in spaces.iter().zip(&mut totals) {
            let tool = space.tool("echo");
            let calls = rounds(1000);
            let started = Instant::now();
            runtime.block_on(async {
                for _ in 0..calls {
                    run(&tool, call(map), &space.host).await;
                }
            });
            total.0 += calls;
            total.1 += started.elapsed();
        }
    }
    let rate = |(calls, time): (usize, Duration)| calls as f64 / time.as_secs_f64();
    let [without, with] = totals.map(rate);
    line(&format!(
        "pipeline/throughput/1              {without:.0} calls/s without spares, {with:.0} with: {:.2} x",
        with / without
    ));
}

/// One 1 KB file read through WASI.
fn file_read(runtime: &Runtime) {
    let bare = Bare::new(jp_test::guest("jp_tool_test"));
    let workspace = Workspace::new(&["jp_tool_test"], 0);
    let (tool, host) = (workspace.tool("jp_tool_test"), &workspace.host);
    let arguments = json!({"path": "1k.txt"});
    let (text, map) = (arguments.to_string(), arguments.as_object().unwrap());
    let mut naked = Samples::new("wasmtime/read/1KiB");
    let mut whole = Samples::new("pipeline/read/1KiB");
    for round in 0..rounds(100) {
        for _ in 0..rounds(BATCH) {
            runtime.block_on(async {
                let started = Instant::now();
                assert_eq!(bare.call(&text, Some(workspace.root())).await, 1024);
                (round > 0).then(|| naked.add(started.elapsed()));
            });
        }
        for _ in 0..rounds(BATCH) {
            let call = call(map);
            runtime.block_on(async {
                let started = Instant::now();
                assert_eq!(run(&tool, call, host).await, 1024);
                (round > 0).then(|| whole.add(started.elapsed()));
            });
        }
    }
    naked.report(None);
    whole.report(Some(&naked));
}

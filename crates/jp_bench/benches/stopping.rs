//! Stopping: how long after its deadline or cancel a guest is really gone, and what a thousand
//! sleeping guests cost.
//!
//! `cargo bench -p jp_bench --bench stopping`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds};
use jp_llm::{Call, Host, PreparedTool};
use kit::{Workspace, call, run};
use serde_json::json;
use tokio::task::JoinSet;

/// How long a spinner runs before it is cancelled.
const SPIN: Duration = Duration::from_millis(20);

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores)
        .enable_all()
        .build()
        .unwrap();
    let workspace = Workspace::new(&["spin", "sleep", "echo"], 0);
    runtime.block_on(async {
        spinners(&workspace, cores, "stop/as-many-spinners-as-cores/1").await;
        siblings(&workspace, "stop/spinner-among-100-siblings/1").await;
        sleepers(&workspace).await;
    });
}

/// Starts a spinner and returns how long it outlived its cancel.
async fn spin(tool: Arc<PreparedTool>, host: Arc<Host>) -> Duration {
    let call = call(json!({}).as_object().unwrap());
    let cancel = call.cancel.clone();
    let cancelled = std::thread::spawn(move || {
        std::thread::sleep(SPIN);
        cancel.cancel();
        Instant::now()
    });
    let outcome = tool.execute(call, &host).await.unwrap();
    let ended = Instant::now();
    assert!(outcome.is_cancelled());
    ended.saturating_duration_since(cancelled.join().unwrap())
}

async fn spinners(workspace: &Workspace, count: usize, name: &'static str) {
    let mut samples = Samples::new(name);
    for _ in 0..rounds(200) {
        let mut running = JoinSet::new();
        for _ in 0..count {
            running.spawn(spin(workspace.tool("spin"), Arc::clone(&workspace.host)));
        }
        while let Some(late) = running.join_next().await {
            samples.add(late.unwrap());
        }
    }
    samples.report(None);
}

/// A spinner among a hundred other guests that compute for a while and must all finish.
async fn siblings(workspace: &Workspace, name: &'static str) {
    let mut samples = Samples::new(name);
    let mut finished = 0;
    for _ in 0..rounds(30) {
        let mut running = JoinSet::new();
        for _ in 0..100 {
            let (tool, host) = (workspace.tool("spin"), Arc::clone(&workspace.host));
            let call = call(json!({"ms": 3}).as_object().unwrap());
            running.spawn(async move { run(&tool, call, &host).await });
        }
        let late = tokio::spawn(spin(workspace.tool("spin"), Arc::clone(&workspace.host)));
        samples.add(late.await.unwrap());
        while let Some(sibling) = running.join_next().await {
            sibling.unwrap();
            finished += 1;
        }
    }
    samples.report(None);
    line(&format!("  {finished} siblings finished"));
}

/// A thousand guests asleep at once, and another call among them.
async fn sleepers(workspace: &Workspace) {
    let count = if rounds(1000) == 1 { 10 } else { 1000 };
    let (tool, echo) = (workspace.tool("sleep"), workspace.tool("echo"));
    let text = json!({"text": "hi"});
    for _ in 0..rounds(50) {
        run(&echo, call(text.as_object().unwrap()), &workspace.host).await;
    }
    let before = resident();
    let mut running = JoinSet::new();
    let cancel = tokio_util::sync::CancellationToken::new();
    for _ in 0..count {
        let (tool, host) = (Arc::clone(&tool), Arc::clone(&workspace.host));
        let sleeping = Call {
            cancel: cancel.clone(),
            ..call(json!({"ms": 20_000}).as_object().unwrap())
        };
        running.spawn(async move { tool.execute(sleeping, &host).await });
    }
    // All of them have started when the last one sleeps; nobody can see that from outside.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let held = resident().saturating_sub(before);
    let mut among = Samples::new("call/among-1000-sleepers/1");
    for _ in 0..rounds(200) {
        let started = Instant::now();
        run(&echo, call(text.as_object().unwrap()), &workspace.host).await;
        among.add(started.elapsed());
    }
    among.report(None);
    line(&format!(
        "  {} KiB resident for each of {count} sleeping calls, the guest's own pages included",
        held / count / 1024
    ));
    cancel.cancel();
    while let Some(ended) = running.join_next().await {
        assert!(ended.unwrap().unwrap().is_cancelled());
    }
}

/// Bytes of memory this process has resident.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}

//! Warm calls of a core module: bare wasmtime, `jp_wasm` alone and the whole pipeline, in turn, in one
//! run; and what the pipeline adds to a module beside what it adds to a component.
//!
//! `cargo bench -p jp_bench --bench modules`, or with the names of cases after `--`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use jp_llm::PreparedTool;
use jp_policy::Limits;
use jp_test::abi::Abi;
use jp_tool::{Action, Context, Outcome};
use jp_wasm::{
    Allocation, GuestCall, ModuleAbi, Outside, Prepared, Runtime, RuntimeOptions, WasiContext,
};
use kit::{Workspace, bare_module::BareModule};
use serde_json::{Map, Value};

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

/// Time between two calls where a component is compared with a module.
const PAUSE: Duration = Duration::from_micros(40);

const ARGUMENTS: &str = r#"{"text":"hello","count":3}"#;

fn main() {
    let executor = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for (name, spares) in [("fresh", 0), ("spares", 8)] {
        if wanted(name) {
            compare(&executor, spares);
        }
    }
    if wanted("added") {
        added(&executor);
    }
}

/// Calls through `jp_wasm`: its limits, its checks, its traces, and nothing of the pipeline.
async fn call(runtime: &Runtime, prepared: &Prepared, limits: &Limits) -> usize {
    let context = Context {
        root: "/workspace".into(),
        action: Action::Run,
    };
    let call = GuestCall {
        name: "echo",
        arguments: ARGUMENTS,
        answers: "{}",
        context: &context,
        wasi: WasiContext::default(),
        limits,
        cancel: None,
        outside: Outside::default(),
        module: ModuleAbi::default(),
    };
    match runtime.call(prepared, call).await.result {
        Ok(Outcome::Success { content }) => content.len(),
        other => panic!("{other:?}"),
    }
}

/// A module that answers with what it was given, in a buffer of its own as every real module does.
fn echo() -> Vec<u8> {
    Abi::running(
        "(local.set $i (call $alloc (local.get $len)))
         (memory.copy (local.get $i) (local.get $at) (local.get $len))
         (call $pack (local.get $i) (local.get $len))",
    )
    .bytes()
}

/// One call after the other, a fresh instance each.
fn compare(executor: &tokio::runtime::Runtime, spares: usize) {
    let bytes = echo();
    let bare = BareModule::new(&bytes, "execute");
    let runtime = Runtime::new(&RuntimeOptions {
        allocation: Allocation::Pooling,
        cache_dir: None,
        spares,
        ..RuntimeOptions::default()
    })
    .unwrap();
    let prepared = executor.block_on(runtime.prepare(&bytes, &|_| {})).unwrap();
    let limits = Limits::default();
    let mut naked = Samples::new("wasmtime/bare-module/1");
    let mut ours = Samples::new(if spares == 0 {
        "host/module-fresh/1"
    } else {
        "host/module-spares/1"
    });
    for round in 0..rounds(400) {
        for _ in 0..rounds(BATCH) {
            executor.block_on(async {
                let started = Instant::now();
                assert_eq!(bare.call(ARGUMENTS).await.len(), ARGUMENTS.len());
                (round > 0).then(|| naked.add(started.elapsed()));
            });
        }
        for _ in 0..rounds(BATCH) {
            executor.block_on(async {
                let started = Instant::now();
                assert_eq!(call(&runtime, &prepared, &limits).await, ARGUMENTS.len());
                (round > 0).then(|| ours.add(started.elapsed()));
            });
        }
    }
    naked.report(None);
    ours.report(Some(&naked));
}

/// A tool in one of the two ways to call it.
struct Both {
    tool: Arc<PreparedTool>,
    prepared: Prepared,
    alone: Samples,
    whole: Samples,
}

impl Both {
    fn new(
        executor: &tokio::runtime::Runtime,
        workspace: &Workspace,
        tool: &str,
        [alone, whole]: [&'static str; 2],
    ) -> Self {
        let file = workspace.root().join(format!(".jp/tools/{tool}.wasm"));
        let wasm = workspace.host.wasm().unwrap();
        Self {
            tool: workspace.tool(tool),
            prepared: executor
                .block_on(wasm.prepare_path(&file, &|_| {}))
                .unwrap(),
            alone: Samples::new(alone),
            whole: Samples::new(whole),
        }
    }

    /// Returns what the pipeline adds, in the middle and at the end.
    fn added(&self) -> [f64; 2] {
        [0.5, 0.99].map(|share| self.whole.percentile(share) - self.alone.percentile(share))
    }
}

/// Lets some time pass, as between real calls. Used components are taken down beside the calls, at
/// most 32 in a millisecond; without a pause the slower of two ways would have more of that done for
/// it and look quicker than it is.
fn pause() {
    let started = Instant::now();
    while started.elapsed() < PAUSE {
        std::hint::spin_loop();
    }
}

/// What the pipeline adds to `jp_wasm`: for a component and for a module, on the same host, without
/// spares.
fn added(executor: &tokio::runtime::Runtime) {
    let component = std::fs::read(jp_test::guest("echo")).unwrap();
    let tools = [("echo", component), ("echo_module", echo())];
    let workspace = Workspace::of(&tools, 0);
    let (host, limits) = (&workspace.host, Limits::default());
    let arguments: Map<String, Value> = serde_json::from_str(ARGUMENTS).unwrap();
    let names = ["host/component-fresh/1", "pipeline/component-fresh/1"];
    let component = Both::new(executor, &workspace, "echo", names);
    let names = ["host/module-fresh/1", "pipeline/module-fresh/1"];
    let module = Both::new(executor, &workspace, "echo_module", names);
    let mut both = [component, module];
    for round in 0..rounds(200) {
        for tool in &mut both {
            let wasm = host.wasm().unwrap();
            for _ in 0..rounds(BATCH) {
                pause();
                executor.block_on(async {
                    let started = Instant::now();
                    call(wasm, &tool.prepared, &limits).await;
                    (round > 0).then(|| tool.alone.add(started.elapsed()));
                });
            }
            for _ in 0..rounds(BATCH) {
                let call = kit::call(&arguments);
                pause();
                executor.block_on(async {
                    let started = Instant::now();
                    kit::run(&tool.tool, call, host).await;
                    (round > 0).then(|| tool.whole.add(started.elapsed()));
                });
            }
        }
    }
    for tool in &both {
        tool.alone.report(None);
        tool.whole.report(None);
    }
    let [to_component, to_module] = both.map(|tool| tool.added());
    for (at, [component, module]) in [
        ("p50", [to_component[0], to_module[0]]),
        ("p99", [to_component[1], to_module[1]]),
    ] {
        line(&format!(
            "pipeline/added/1                   {at} {component:9.2} us to a component  {module:9.2} us to a module"
        ));
    }
}

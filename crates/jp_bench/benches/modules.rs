//! Warm calls of a core module: bare wasmtime and `jp_wasm` alone, in turn, in one run.
//!
//! `cargo bench -p jp_bench --bench modules`, or with the names of cases after `--`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

use std::time::Instant;

use jp_bench::{Samples, rounds, wanted};
use jp_policy::Limits;
use jp_test::abi::Abi;
use jp_tool::{Action, Context, Outcome};
use jp_wasm::{Allocation, GuestCall, ModuleAbi, Prepared, Runtime, RuntimeOptions, WasiContext};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, InstancePre, Linker, Module,
    PoolingAllocationConfig, Store,
};

/// Calls of one kind before the other has its turn.
const BATCH: usize = 50;

const ARGUMENTS: &str = r#"{"text": "hello", "count": 3}"#;

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
}

/// A module in bare wasmtime, with the settings that are best for short calls.
struct Bare {
    engine: Engine,
    pre: InstancePre<()>,
}

impl Bare {
    fn new(bytes: &[u8]) -> Self {
        let mut pool = PoolingAllocationConfig::new();
        pool.linear_memory_keep_resident(256 << 10)
            .table_keep_resident(256 << 10)
            .async_stack_keep_resident(256 << 10)
            .max_memory_size(1 << 30)
            .pagemap_scan(Enabled::Auto);
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .consume_fuel(true)
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).unwrap();
        let module = Module::new(&engine, bytes).unwrap();
        let pre = Linker::new(&engine).instantiate_pre(&module).unwrap();
        Self { engine, pre }
    }

    /// Instantiates, hands over the arguments, calls, takes the answer and drops.
    async fn call(&self) -> usize {
        let mut store = Store::new(&self.engine, ());
        store.set_fuel(u64::MAX).unwrap();
        store.set_epoch_deadline(1 << 40);
        let instance = self.pre.instantiate_async(&mut store).await.unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let alloc = instance.get_typed_func::<i32, i32>(&mut store, "alloc");
        let dealloc = instance.get_typed_func::<(i32, i32), ()>(&mut store, "dealloc");
        let execute = instance.get_typed_func::<(i32, i32), i64>(&mut store, "execute");
        let len = i32::try_from(ARGUMENTS.len()).unwrap();
        let at = alloc.unwrap().call_async(&mut store, len).await.unwrap();
        let place = usize::try_from(at).unwrap();
        memory
            .write(&mut store, place, ARGUMENTS.as_bytes())
            .unwrap();
        let packed = execute
            .unwrap()
            .call_async(&mut store, (at, len))
            .await
            .unwrap();
        let (from, size) = (packed >> 32, packed & 0x7fff_ffff);
        let mut answer = vec![0; usize::try_from(size).unwrap()];
        memory
            .read(&store, usize::try_from(from).unwrap(), &mut answer)
            .unwrap();
        let dealloc = dealloc.unwrap();
        dealloc.call_async(&mut store, (at, len)).await.unwrap();
        let (from, size) = (i32::try_from(from).unwrap(), i32::try_from(size).unwrap());
        dealloc.call_async(&mut store, (from, size)).await.unwrap();
        String::from_utf8(answer).unwrap().len()
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
        calls: None,
        events: None,
        module: ModuleAbi::default(),
    };
    match runtime.call(prepared, call).await.result {
        Ok(Outcome::Success { content }) => content.len(),
        other => panic!("{other:?}"),
    }
}

/// One call after the other, a fresh instance each.
fn compare(executor: &tokio::runtime::Runtime, spares: usize) {
    // Answers in a buffer of its own, as every real module does.
    let bytes = Abi::running(
        "(local.set $i (call $alloc (local.get $len)))
         (memory.copy (local.get $i) (local.get $at) (local.get $len))
         (call $pack (local.get $i) (local.get $len))",
    )
    .bytes();
    let bare = Bare::new(&bytes);
    let runtime = Runtime::new(&RuntimeOptions {
        allocation: Allocation::Pooling,
        cache_dir: None,
        spares,
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
                assert_eq!(bare.call().await, ARGUMENTS.len());
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

//! The engines: one compile configuration, two ways to allocate instances.

use std::{sync::Arc, task::Poll};

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    UpdateDeadline, WasmBacktraceDetails, WasmFeatures,
};

use crate::{host::State, stop::Stop};

/// Guests that may be alive at once in a pooling engine, spares included.
pub(crate) const POOLED_GUESTS: u32 = 1_280;

/// Stack a guest may use. CPython needs more than wasmtime's default of 512 KiB.
const WASM_STACK: usize = 1024 * 1024;

/// Stack for the guest and the host functions it calls.
const ASYNC_STACK: usize = 2 * 1024 * 1024;

/// What stays in memory between two guests of a slot; more is given back to the system.
const KEEP_RESIDENT: usize = 256 * 1024;

/// What no tool needs and an attacker may: shared memory, a garbage collector, stack unwinding.
const OFF: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::SHARED_EVERYTHING_THREADS)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::GC_TYPES)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::LEGACY_EXCEPTIONS)
    .union(WasmFeatures::STACK_SWITCHING);

/// Ticks a guest computes before others have their turn.
const TICKS_PER_TURN: u32 = 2;

/// How instances are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Allocation {
    /// Each for itself: quick to set up, for a process that makes one call.
    #[default]
    OnDemand,
    /// From a pool: quick for every call after the first, for a process that makes many.
    Pooling,
}

/// Makes an engine. Everything here but the allocation is part of the identity of compiled code.
pub(crate) fn engine(allocation: Allocation) -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Said here, since another crate's choice of wasmtime's cargo features could turn them on.
        .wasm_features(OFF, false)
        .epoch_interruption(true)
        .consume_fuel(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(ASYNC_STACK)
        .generate_address_map(false)
        // Only a native debugger would read it, and it is a third of what a new process loads.
        .native_unwind_info(false)
        // Otherwise an environment variable decides, and artifacts of one shell fail in another.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable);
    if allocation == Allocation::Pooling {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
    }
    Engine::new(&config)
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(POOLED_GUESTS)
        .total_core_instances(POOLED_GUESTS * 4)
        .total_memories(POOLED_GUESTS + 64)
        // As many as without a pool: what runs with one allocation runs with the other.
        .max_memories_per_module(16)
        .max_tables_per_module(16)
        .total_tables(POOLED_GUESTS * 4)
        .total_stacks(POOLED_GUESTS)
        .max_memory_size(1 << 30)
        .table_elements(100_000)
        .max_component_instance_size(8 << 20)
        .max_core_instance_size(8 << 20)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(KEEP_RESIDENT)
        .max_unused_warm_slots(256)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Makes a store whose guest is asked at every tick whether it has to stop. It has no fuel yet, and no
/// tick to run in.
pub(crate) fn new_store(
    engine: &Engine,
    stop: Arc<Stop>,
    memory: usize,
) -> wasmtime::Result<Store<State>> {
    let mut store = Store::try_new(engine, State::new(stop, memory))?;
    store.limiter(|state| &mut state.limiter);
    store.epoch_deadline_callback(|mut context| {
        let state = context.data_mut();
        if let Some(reason) = state.stop.reason() {
            return Err(reason.into());
        }
        // Most calls are over before their second tick and need not make room for others.
        state.ticks = state.ticks.wrapping_add(1);
        Ok(if state.ticks.is_multiple_of(TICKS_PER_TURN) {
            UpdateDeadline::YieldCustom(1, Box::pin(yield_once()))
        } else {
            UpdateDeadline::Continue(1)
        })
    });
    Ok(store)
}

/// Lets the executor do something else once. Works on any executor.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

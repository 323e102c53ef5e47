//! The yardstick: wasmtime with its best settings and nothing around it.

use std::path::Path;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    component::{Component, Linker, ResourceTable},
};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

mod generated {
    wasmtime::component::bindgen!({
        world: "tool",
        path: "../jp_tool/wit/tool.wit",
        exports: { default: async },
    });
}

use generated::{ToolPre, jp::tool::types};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// Makes an engine of the best settings: a pool, and code that counts fuel and looks at the epoch.
pub(crate) fn engine() -> Engine {
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
    Engine::new(&config).unwrap()
}

/// One component in bare wasmtime.
pub(crate) struct Bare {
    engine: Engine,
    pre: ToolPre<State>,
}

impl Bare {
    pub(crate) fn new(wasm: &Path) -> Self {
        let engine = engine();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        let component = Component::from_file(&engine, wasm).unwrap();
        let pre = ToolPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
        Self { engine, pre }
    }

    /// Instantiates, calls and drops.
    pub(crate) async fn call(&self, arguments: &str, workspace: Option<&Path>) -> usize {
        let mut wasi = WasiCtx::builder();
        wasi.allow_blocking_current_thread(true);
        if let Some(dir) = workspace {
            wasi.preopened_dir(dir, "/workspace", FsPerms::ReadWrite)
                .unwrap();
        }
        let state = State {
            wasi: wasi.build(),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&self.engine, state);
        store.set_fuel(u64::MAX).unwrap();
        store.set_epoch_deadline(1 << 40);
        let tool = self.pre.instantiate_async(&mut store).await.unwrap();
        let context = types::Context {
            root: "/workspace".into(),
            action: types::Action::Run,
        };
        match tool
            .call_run(&mut store, &context, "echo", arguments, "{}")
            .await
            .unwrap()
        {
            types::Outcome::Success(content) => content.len(),
            other => panic!("{other:?}"),
        }
    }
}

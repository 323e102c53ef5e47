//! The yardstick of core modules: ABI 1 in wasmtime with its best settings, and nothing around it.
//!
//! Its code counts fuel and looks at the epoch as ours does, its instances come from a pool, and it
//! does all that ABI 1 asks for: arguments into a buffer the module allocated, the answer copied out
//! and checked to be UTF-8, both buffers given back. It has no deadline, no limits, nobody to cancel
//! it, and does not read the answer.

use wasmtime::{Engine, InstancePre, Linker, Module, Store};

use super::bare::engine;

/// One module in bare wasmtime.
pub(crate) struct BareModule {
    engine: Engine,
    pre: InstancePre<()>,
    entrypoint: &'static str,
}

impl BareModule {
    /// Compiles a module, which is entered by a name.
    pub(crate) fn new(bytes: &[u8], entrypoint: &'static str) -> Self {
        let engine = engine();
        let module = Module::new(&engine, bytes).unwrap();
        let pre = Linker::new(&engine).instantiate_pre(&module).unwrap();
        Self {
            engine,
            pre,
            entrypoint,
        }
    }

    /// Instantiates, hands over the arguments, calls, takes the answer and drops.
    pub(crate) async fn call(&self, arguments: &str) -> String {
        let mut store = Store::new(&self.engine, ());
        store.set_fuel(u64::MAX).unwrap();
        store.set_epoch_deadline(1 << 40);
        let instance = self.pre.instantiate_async(&mut store).await.unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let alloc = instance.get_typed_func::<i32, i32>(&mut store, "alloc");
        let dealloc = instance.get_typed_func::<(i32, i32), ()>(&mut store, "dealloc");
        let execute = instance.get_typed_func::<(i32, i32), i64>(&mut store, self.entrypoint);
        let len = i32::try_from(arguments.len()).unwrap();
        let at = alloc.unwrap().call_async(&mut store, len).await.unwrap();
        let place = usize::try_from(at).unwrap();
        memory
            .write(&mut store, place, arguments.as_bytes())
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
        String::from_utf8(answer).unwrap()
    }
}

//! WASI preview 1 for core modules: clocks, randomness, captured output and, for a program, its
//! arguments on standard input.
//!
//! wasmtime's preview 1 brings its own table and its own view of files, which would open FIFOs and
//! count no descriptors, so no directory is ever given to it.

use bytes::Bytes;
use wasmtime::Linker;
use wasmtime_wasi::{
    WasiView,
    p1::{self, WasiP1Ctx},
    p2::pipe::MemoryInputPipe,
};

use crate::host::{MAX_RESOURCES, State};

/// The only module that core modules may import from.
pub(crate) const NAME: &str = "wasi_snapshot_preview1";

/// What preview 1 works on; made when a guest first asks for it.
#[derive(Default)]
pub(crate) struct Preview1 {
    stdin: Bytes,
    context: Option<Box<WasiP1Ctx>>,
}

impl Preview1 {
    /// Sets what the guest reads. What it did before this, it did without any input.
    pub(crate) fn set_stdin(&mut self, text: &str) {
        self.stdin = Bytes::copy_from_slice(text.as_bytes());
        self.context = None;
    }
}

impl State {
    fn preview1_context(&mut self) -> &mut WasiP1Ctx {
        self.touched = true;
        let Self {
            preview1: Preview1 { stdin, context },
            surroundings,
            streams,
            ..
        } = self;
        context.get_or_insert_with(|| {
            // Nothing may block the thread: a sleep of preview 1 would, and nobody could end it.
            let mut context = surroundings
                .wasi_builder(streams.get())
                .allow_blocking_current_thread(false)
                .stdin(MemoryInputPipe::new(std::mem::take(stdin)))
                .build_p1();
            context.ctx().table.set_max_capacity(MAX_RESOURCES);
            Box::new(context)
        })
    }
}

/// Gives a linker the functions of preview 1.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    p1::add_to_linker_async(linker, State::preview1_context)
}

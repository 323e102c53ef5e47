//! Wasm tools, run by `jp_wasm`: builtins, files of the workspace, and signed tools.

mod builtin;
mod calls;
mod check;
mod component;
mod guest_events;
mod host_side;
mod lazy;
mod learn;
mod mounts;
mod outgoing;
mod scrub;

use std::sync::Arc;

use jp_policy::Form;
use jp_wasm::AbiVersion;
use relative_path::RelativePathBuf;

use super::{Entry, WasmTools};
use crate::{
    Host, ToolDefinition,
    registry::Stored,
    runtime::{ToolRuntime, UnavailableRuntime},
};
use component::ComponentRuntime;

pub use builtin::{Builtin, builtins, is_precompiled, precompile};
pub use check::{CheckedFile, check_file};
pub use jp_wasm::{Allocation, FileKind, RuntimeOptions};
pub use lazy::LazyRuntime;

/// Wasm tools, as `jp_wasm` runs them.
pub(super) struct Engine;

impl WasmTools for Engine {
    fn are_run(&self) -> bool {
        true
    }

    fn builtins(&self) -> Vec<&'static str> {
        builtins().iter().map(|builtin| builtin.name).collect()
    }

    fn is_offered(&self, builtin: &str, host: &Host) -> bool {
        builtin::find(builtin).is_some_and(|builtin| builtin.is_offered(host))
    }

    fn builtin(&self, name: &str, builtin: &str, host: &Host) -> Option<ToolDefinition> {
        builtin::find(builtin).map(|builtin| builtin.definition(name, host))
    }

    fn embedded(&self, builtin: &str) -> Arc<dyn ToolRuntime> {
        match builtin::find(builtin) {
            Some(builtin) => Arc::new(ComponentRuntime::builtin(builtin)),
            None => Arc::new(UnavailableRuntime(builtin.to_owned())),
        }
    }

    fn file(&self, path: RelativePathBuf, entry: Entry) -> Arc<dyn ToolRuntime> {
        let runtime = ComponentRuntime::file(path, entry.name);
        Arc::new(runtime.speaking(entry.function, version(entry.abi)))
    }

    fn signed(&self, _: &str, stored: Box<Stored>, entry: Entry) -> Arc<dyn ToolRuntime> {
        let runtime = ComponentRuntime::stored(stored, entry.name);
        Arc::new(runtime.speaking(entry.function, version(entry.abi)))
    }

    fn form_of(&self, bytes: &[u8]) -> Form {
        check::form_of(bytes)
    }
}

const fn version(abi: Option<u8>) -> AbiVersion {
    match abi {
        Some(2) => AbiVersion::Two,
        _ => AbiVersion::One,
    }
}

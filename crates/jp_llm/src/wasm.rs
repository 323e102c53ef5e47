//! What the pipeline needs of Wasm, behind one trait: nothing else asks whether this program runs Wasm
//! tools. With the feature `wasm-tools` they are `engine`'s; without it `no_engine.rs` stands in its place.

#[cfg(feature = "wasm-tools")]
pub(crate) mod engine;
#[cfg(not(feature = "wasm-tools"))]
#[path = "wasm/no_engine.rs"]
pub(crate) mod engine;

use std::sync::Arc;

use jp_policy::Form;
use relative_path::RelativePathBuf;

use crate::{Host, ToolDefinition, registry::Stored, runtime::ToolRuntime};

pub use engine::LazyRuntime;

/// The Wasm tools of this program.
pub(crate) const TOOLS: &dyn WasmTools = &engine::Engine;

/// Wasm tools, as the rest of the pipeline knows them.
pub(crate) trait WasmTools: Sync {
    /// Tells whether there are any.
    fn are_run(&self) -> bool;

    /// Returns the names of the builtins that are Wasm.
    fn builtins(&self) -> Vec<&'static str>;

    /// Tells whether there is anything to call a builtin for.
    fn is_offered(&self, builtin: &str, host: &Host) -> bool;

    /// Makes the definition of a builtin, which is called by another name perhaps.
    fn builtin(&self, name: &str, builtin: &str, host: &Host) -> Option<ToolDefinition>;

    /// Makes what runs a builtin.
    fn embedded(&self, builtin: &str) -> Arc<dyn ToolRuntime>;

    /// Makes what runs a file of the workspace.
    fn file(&self, path: RelativePathBuf, entry: Entry) -> Arc<dyn ToolRuntime>;

    /// Makes what runs a signed tool, by its name in the workspace.
    fn signed(&self, name: &str, stored: Box<Stored>, entry: Entry) -> Arc<dyn ToolRuntime>;

    /// Tells from bytes alone how a Wasm file runs.
    fn form_of(&self, bytes: &[u8]) -> Form;
}

/// How a Wasm file is called.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// What the guest is called by.
    pub(crate) name: String,
    /// The function of a module that is called, if it is not the usual one.
    pub(crate) function: Option<String>,
    /// The version of the module ABI, if it is not the first.
    pub(crate) abi: Option<u8>,
}

/// Tells whether this program runs Wasm tools.
#[must_use]
pub fn runs_wasm() -> bool {
    TOOLS.are_run()
}

/// Returns the names of the builtins that are Wasm; none where no Wasm tool runs.
#[must_use]
pub fn wasm_builtins() -> Vec<&'static str> {
    TOOLS.builtins()
}

/// Tells from bytes alone how a Wasm file runs, as far as that decides what it can be given. What it is
/// in the end, it says when it is called. Where no Wasm tool runs, nothing tells one file from another.
#[must_use]
pub fn form_of(bytes: &[u8]) -> Form {
    TOOLS.form_of(bytes)
}

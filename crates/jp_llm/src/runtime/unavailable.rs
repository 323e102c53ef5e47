//! A runtime for tools that are configured and cannot be run by this program.

use async_trait::async_trait;

use super::{Invocation, Run, ToolRuntime};
use crate::{
    ToolError,
    tool::{Misconfigured, WasmRefused},
};

/// Refuses every call of a Wasm tool, by the name of its file: nothing in this program runs it.
pub struct UnavailableRuntime(pub String);

#[async_trait]
impl ToolRuntime for UnavailableRuntime {
    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        let file = self.0.clone();
        let refused = Misconfigured::WasmRefused(WasmRefused::NotInThisBuild { file });
        Run::failed(ToolError::new(&*invocation.tool.name, refused))
    }
}

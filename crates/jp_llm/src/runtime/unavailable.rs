//! A runtime for tools that are configured and cannot be run by this program.

use async_trait::async_trait;

use super::{Invocation, Run, ToolRuntime};
use crate::ToolError;

/// Refuses every call, for a reason that is known when the tool is defined.
pub struct UnavailableRuntime(pub fn(&str) -> ToolError, pub String);

#[async_trait]
impl ToolRuntime for UnavailableRuntime {
    async fn run(&self, _: &Invocation<'_>) -> Run {
        Run::failed((self.0)(&self.1))
    }
}

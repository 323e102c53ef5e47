//! Events: what a call is doing, for progress bars, logs and notifications alike.

use jp_tool::ToolStatus;

/// Hears what calls are doing.
pub trait Events: Send + Sync {
    /// Hears one report about a call. Must not block.
    fn report(&self, call: &str, tool: &str, status: ToolStatus);
}

//! The pipeline: finds a tool, checks its arguments, composes its grant, runs it and writes down
//! what happened. Every front (command, server, agent loop, tests) goes through
//! [`ToolDefinition::execute`].
//!
//! Knows nothing of terminals: questions, approvals and progress leave through traits.

mod approval;
mod budget;
mod builtin;
mod events;
mod host;
mod knowledge;
mod places;
pub mod runtime;
pub mod tool;
mod trust;
mod turn;

pub use approval::{Approval, ApprovalRequest, Approver, NobodyToAsk};
pub use budget::{Budget, MAX_QUESTIONS};
#[cfg(feature = "wasm-tools")]
pub use builtin::{Builtin, builtins};
pub use events::Events;
pub use host::Host;
#[cfg(feature = "wasm-tools")]
pub use host::LazyRuntime;
pub use knowledge::{knowledge_prompt, topics};
pub use tool::{Call, Details, Executed, ExecutionOutcome, ToolDefinition, ToolDocs, ToolError};
pub use trust::{Trust, TrustError, TrustStore, TrustedWorkspace};
pub use turn::execute_turn;

//! The pipeline: finds a tool, checks its arguments, composes its grant, runs it and writes down
//! what happened. Every front (command, server, agent loop, tests) goes through
//! [`ToolDefinition::execute`].
//!
//! Knows nothing of terminals: questions, approvals and progress leave through traits.

mod approval;
mod ask;
pub mod broker;
mod budget;
#[cfg(feature = "wasm-tools")]
mod builtin;
#[cfg(feature = "wasm-tools")]
mod check;
mod events;
mod hashed;
mod host;
mod knowledge;
mod net;
mod places;
pub mod registry;
pub mod runtime;
pub mod script;
mod selection;
pub mod tool;
mod trust;
mod turn;

pub use approval::{Approval, ApprovalRequest, Approver, Delivery, DeliveryRequest, NobodyToAsk};
pub use ask::{AskRequest, Asker, InputRequest};
pub use budget::{Budget, MAX_QUESTIONS};
#[cfg(feature = "wasm-tools")]
pub use builtin::{Builtin, builtins, is_precompiled, precompile};
#[cfg(feature = "wasm-tools")]
pub use check::{CheckedFile, check_file, form_of};
pub use events::Events;
pub use hashed::sha256_file;
#[cfg(feature = "wasm-tools")]
pub use host::LazyRuntime;
pub use host::{Caller, Host, HostBuilder, LazyBroker, Variable};
pub use jp_broker::is_known as is_known_call;
#[cfg(feature = "wasm-tools")]
pub use jp_wasm::{Allocation, FileKind, RuntimeOptions};
pub use knowledge::{knowledge_prompt, topics};
pub use runtime::mcp::{McpTools, Unlisted};
pub use selection::{Selection, SelectionError, Toggle};
pub use tool::{
    Call, ChosenFile, Details, Executed, ExecutionOutcome, Preview, ToolDefinition, ToolDocs,
    ToolError,
};
pub use trust::{Looked, Trust, TrustError, TrustStore, TrustedWorkspace, Unpinned};
pub use turn::execute_turn;

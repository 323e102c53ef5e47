//! The pipeline: finds a tool, checks its arguments, composes its grant, runs it and writes down
//! what happened. Every front (command, server, agent loop, tests) goes through
//! [`PreparedTool::execute`].
//!
//! Knows nothing of terminals: questions, approvals and progress leave through traits.

#![cfg_attr(
    not(feature = "wasm-tools"),
    expect(
        dead_code,
        reason = "only Wasm tools have files, directories, variables and capability calls of their own"
    )
)]

mod approval;
mod ask;
pub mod broker;
mod budget;
mod decisions;
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
mod shown;
pub mod tool;
mod trust;
mod turn;
mod wasm;

pub use approval::{Approval, ApprovalRequest, Approver, Delivery, DeliveryRequest, NobodyToAsk};
pub use ask::{AskRequest, Asker, InputRequest};
pub use budget::{Budget, MAX_QUESTIONS};
pub use decisions::{
    About, Decisions, Denial, Digest, Known, Lasting, Unreadable, arguments_digest,
};
pub use events::Events;
pub use hashed::sha256_file;
pub use host::{Caller, Host, HostBuilder, LazyBroker, Variable};
pub use jp_broker::{is_known as is_known_call, mcp::TraceContext};
pub use knowledge::{knowledge_prompt, topics};
pub use net::{DocumentError, fetch_document};
pub use runtime::mcp::{Login, LoginFailed, McpTools, ToldMemory, Unlisted};
pub use selection::{Selection, SelectionError, Toggle};
pub use shown::{
    ShownError, Stamp, shown_file, shown_file_stamp, shown_subject, shown_subject_stamp,
};
pub use tool::{
    Call, ChosenFile, Details, Executed, ExecutionOutcome, Fact, Facts, PreparedTool, Preview,
    Said, Side, ToolDefinition, ToolDocs, ToolError, Weighed, Why,
};
pub use trust::{Looked, Trust, TrustError, TrustStore, TrustedWorkspace, Unpinned};
pub use turn::execute_turn;
#[cfg(feature = "wasm-tools")]
pub use wasm::engine::{
    Allocation, Builtin, CheckedFile, FileKind, RuntimeOptions, builtins, check_file,
    is_precompiled, precompile,
};
pub use wasm::{LazyRuntime, form_of, runs_wasm, wasm_builtins};

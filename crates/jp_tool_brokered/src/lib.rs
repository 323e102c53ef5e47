//! Tools whose work the host does: each checks its arguments and answers with one capability call.
//!
//! Every tool is a table ([`ModuleTool`]). The module that runs in the sandbox and the host that
//! describes the tool to a model read the same table, so the two cannot disagree. What a call takes
//! is in `tools/calls.rs`, which a test of `jp_broker` writes from the types of the host. Each example
//! of this package is one module for `wasm32-unknown-unknown` without a single import: one for each
//! tool, and one for all of them, which `jp` carries.
//!
//! Knows nothing of what the host does with a call, or whether the tool may make it.

pub mod abi;
mod buffers;
mod check;
mod envelope;
mod schema;
mod tool;
mod tools;

pub use tool::{Action, Argument, Kind, ModuleTool, Need};
pub use tools::{
    ALL, CODING, GITHUB, HTTP_CALL, MCP, PLANNING, REMINDERS, SEARCH_INTERNET, TASKS, TODO, WAKEUP,
    find,
};

#[cfg(test)]
mod tests;

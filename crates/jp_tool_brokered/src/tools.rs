//! The tools, one table each, and the list of them all.

// Written by a test of `jp_broker`, in lines of its own.
#[rustfmt::skip]
mod calls;
mod coding;
mod github;
mod http_call;
mod mcp;
mod planning;
mod reminders;
mod search_internet;
mod tasks;
mod todo;
mod wakeup;

pub use coding::CODING;
pub use github::GITHUB;
pub use http_call::HTTP_CALL;
pub use mcp::MCP;
pub use planning::PLANNING;
pub use reminders::REMINDERS;
pub use search_internet::SEARCH_INTERNET;
pub use tasks::TASKS;
pub use todo::TODO;
pub use wakeup::WAKEUP;

use crate::ModuleTool;

/// All tools, by name.
pub static ALL: &[&ModuleTool] = &[
    &CODING,
    &GITHUB,
    &HTTP_CALL,
    &MCP,
    &PLANNING,
    &REMINDERS,
    &SEARCH_INTERNET,
    &TASKS,
    &TODO,
    &WAKEUP,
];

/// Finds a tool by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ModuleTool> {
    ALL.iter().copied().find(|tool| tool.name == name)
}

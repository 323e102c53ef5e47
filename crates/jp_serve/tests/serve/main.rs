//! A server of a real workspace, spoken to line by line and over HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may panic"
)]

mod approvals;
mod calls;
mod changes;
mod hostile;
mod http;
mod kit;
mod lazy;
mod limits;
mod oauth;
mod principals;
mod prompts;
mod questions;
mod resources;
mod site;
mod spills;
mod tasks;
mod tls;

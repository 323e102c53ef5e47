//! MCP client: the tools of MCP servers, as programs on this machine or behind a URL.
//!
//! Entry point: [`Servers`], which knows the configured servers, starts a program when its tools are
//! first asked for, and calls them. What holds:
//!
//! - **Programs** are confined by the operating system to their own grant, like any command, and are
//!   gone with everything they started when the pool is dropped. One that dies is started again,
//!   more slowly each time and only a few times a minute.
//! - **What a server asks** of a person during a call is put to whoever made the call, and to nobody else.
//! - **URLs** are reached through [`HttpExchange`], which the maker of the pool hands in, and which
//!   checks hosts and addresses and fills in secrets. This crate opens no socket.
//! - **What a server says** is a stranger's text: bounded in every direction, free of invisible
//!   characters, and without references that would have to be fetched. What is left out is reported.
//!
//! It knows no configuration files, no environment and no models.

mod answered;
mod asking;
mod call;
mod calling;
mod challenge;
mod checksum;
mod connection;
mod content;
mod ending;
mod error;
mod events;
mod exchange;
mod glance;
mod handler;
mod hidden;
mod lines;
mod listing;
mod message;
mod news;
mod pace;
mod process;
mod request;
mod restart;
mod schema;
mod server;
mod servers;
mod sse;
mod stdio;
mod streamable;
mod tail;
mod tool;
mod trace;
mod underway;

pub use asking::{Respond, Unasked};
pub use call::{Call, Called, Progress};
pub use challenge::{Challenge, scopes};
pub use error::McpError;
pub use exchange::{
    HttpBody, HttpExchange, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse,
};
pub use jp_disk::Sha256 as Digest;
pub use listing::Tools;
pub use server::{
    Algorithm, Checksum, HttpServer, Limits, Means, Program, Reach, Server, ServerSecrets,
};
pub use servers::Servers;
pub use tail::Said;
pub use tool::ToolInfo;
pub use trace::TraceContext;

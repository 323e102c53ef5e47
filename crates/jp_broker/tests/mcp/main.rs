//! `mcp.*` and `github.*` against real MCP servers on loopback, over the real client.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod asks;
mod calls;
mod kit;
mod login;
mod secrets;
mod server;
mod sessions;
mod site;
mod streamer;
mod streams;
mod streams_broken;

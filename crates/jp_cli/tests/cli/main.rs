//! The `jp` binary from outside: each test has a workspace, a home directory and real guests of its
//! own.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod audit;
mod bash;
mod bash_record;
mod bash_scripts;
mod bash_streams;
mod book;
mod broker;
mod brought;
mod calls;
mod config;
mod doctor;
mod due;
mod exits;
mod install;
mod keys;
mod kit;
mod market;
mod mcp;
mod mcp_login;
mod mcp_start;
mod models;
mod no_registry;
mod offers;
mod output;
mod overlay;
mod pins;
mod refused;
mod registry;
mod results;
mod secrets;
mod shop;
mod terminal;
mod trust;
mod updates;

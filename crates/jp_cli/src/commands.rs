//! One module per verb: its arguments and `run`.

pub(crate) mod approve;
pub(crate) mod audit;
pub(crate) mod bash;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod due;
pub(crate) mod grants;
pub(crate) mod init;
pub(crate) mod kb;
pub(crate) mod mcp;
pub(crate) mod policy;
pub(crate) mod registry;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod tool;
pub(crate) mod trust;
#[cfg(feature = "wasm-tools")]
pub(crate) mod wasm;
#[cfg(not(feature = "wasm-tools"))]
#[path = "commands/no_wasm.rs"]
pub(crate) mod wasm;
pub(crate) mod why;

/// The version of what `--json` prints; a change that breaks readers raises it.
pub(crate) const JSON_VERSION: u64 = 1;

//! The host's side of what a call reaches outside its sandbox.
//!
//! [`http`] is the one HTTP client of the workspace: whoever needs a request on behalf of a tool
//! makes it here, under the grant of the call. This crate knows nothing of wasmtime, configuration
//! files or terminals.

pub mod http;

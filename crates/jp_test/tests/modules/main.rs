//! What a core module may and may not do as a tool: conformance with the module ABI, one test per
//! rule, with hand-written modules that break exactly that rule.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod answers;
mod capabilities;
mod files;
mod memory;
mod shape;
mod stopping;
mod wasi;

use jp_policy::Limit;
use jp_test::{Host, Kit, abi::Abi};
use jp_tool::Outcome;
use jp_wasm::{Ended, Error};

/// Calls a module on a host of its own kind and returns how that ended.
async fn call(module: &Abi, arguments: &str) -> Ended {
    Kit::new(Host::OnDemand)
        .call_bytes(&module.bytes(), arguments)
        .await
}

/// Calls a module that must not answer and returns why it did not.
async fn refused(module: &Abi) -> String {
    match call(module, "{}").await.result {
        Err(Error::Trap { reason } | Error::InstantiateModule { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

/// Returns what a module answered that must succeed.
fn content(ended: Ended) -> String {
    match ended.result {
        Ok(Outcome::Success { content }) => content,
        other => panic!("{other:?}"),
    }
}

/// Returns the message of a module that must answer with an error.
fn message(ended: Ended) -> String {
    match ended.result {
        Ok(Outcome::Error { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// Returns the limit that must have stopped a module.
fn limit(ended: &Ended) -> Limit {
    match &ended.result {
        Err(Error::Limit { limit }) => *limit,
        other => panic!("{other:?}"),
    }
}

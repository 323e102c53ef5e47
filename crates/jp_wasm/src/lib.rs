//! Runs Wasm tools, components that speak `jp:tool` as well as core modules: engine, compiled-code
//! cache, WASI, limits, spares.
//!
//! The only crate that knows wasmtime. It knows nothing of configuration files, terminals or MCP,
//! and decides nothing about what a tool may do: that is handed in with each call.
//!
//! Entry points: [`Runtime`] for hosts that keep one, [`execute`] and [`execute_from_path`] for
//! those that want a single call with default limits.

mod answer;
mod artifact;
mod blob;
mod cache;
mod call;
mod capability;
mod chosen;
mod code;
mod convert;
mod dirs;
mod engine;
mod error;
mod events;
mod execute;
mod files;
mod guest;
mod host;
mod http;
mod inspect;
mod limiter;
mod link;
mod looks;
mod module;
mod output;
mod pending;
mod prescan;
mod preview1;
mod runtime;
mod source;
mod spares;
mod stop;
mod surroundings;
mod temp;
mod ticker;

use std::path::Path;

use jp_policy::Limits;

pub use artifact::{Embedded, Prepared};
pub use call::{Ended, GuestCall, Outside, Traces};
pub use capability::{Afterwards, CapabilityCalls, CapabilityError};
pub use convert::{from_wit_outcome, to_wit_outcome, wit};
pub use engine::Allocation;
pub use error::Error;
pub use events::{GuestEvents, LogLevel};
pub use files::TempQuota;
pub use guest::ToolKind;
pub use host::{DirPerms, FilePerms, Preopen, WasiConfig, WasiContext, build_wasi_context};
pub use http::{Outgoing, OutgoingError, OutgoingRequest, OutgoingResponse};
pub use inspect::{FileKind, Inspected};
pub use jp_disk::Sha256;
pub use module::{AbiVersion, ModuleAbi};
pub use runtime::{Runtime, RuntimeOptions};
pub use spares::SpareUse;
pub use temp::ToolTemp;

/// Executes a Wasm component or module from raw bytes, with default limits.
///
/// A component must export the `run` function of the `jp:tool` contract; a module what one of the
/// module conventions asks for.
///
/// # Errors
///
/// When the call produced no outcome.
pub async fn execute(
    bytes: &[u8],
    name: &str,
    arguments: &str,
    answers: &str,
    context: jp_tool::Context,
    wasi_config: WasiConfig,
) -> Result<jp_tool::Outcome, Error> {
    let runtime = Runtime::shared()?;
    let prepared = runtime.prepare(bytes, &|_| {}).await?;
    simple_call(
        runtime,
        &prepared,
        name,
        arguments,
        answers,
        &context,
        &wasi_config,
    )
    .await
}

/// Executes a Wasm component or module from a file, with default limits.
///
/// The compiled code is kept for later calls, until the file changes.
///
/// # Errors
///
/// When the call produced no outcome.
pub async fn execute_from_path(
    path: &Path,
    name: &str,
    arguments: &str,
    answers: &str,
    context: jp_tool::Context,
    wasi_config: WasiConfig,
) -> Result<jp_tool::Outcome, Error> {
    let runtime = Runtime::shared()?;
    let prepared = runtime.prepare_path(path, &|_| {}).await?;
    simple_call(
        runtime,
        &prepared,
        name,
        arguments,
        answers,
        &context,
        &wasi_config,
    )
    .await
}

async fn simple_call(
    runtime: &Runtime,
    prepared: &Prepared,
    name: &str,
    arguments: &str,
    answers: &str,
    context: &jp_tool::Context,
    wasi_config: &WasiConfig,
) -> Result<jp_tool::Outcome, Error> {
    let call = GuestCall {
        name,
        arguments,
        answers,
        context,
        wasi: runtime.wasi_context(wasi_config)?,
        limits: &Limits::default(),
        cancel: None,
        outside: Outside::default(),
        module: ModuleAbi::default(),
    };
    runtime.call(prepared, call).await.result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_wasi_preopen_read_only() {
        let dir = tempfile::tempdir().unwrap();
        let config = WasiConfig {
            preopens: vec![Preopen {
                guest_path: "/subjects".into(),
                host_path: dir.path().to_owned(),
                dir_perms: DirPerms::Read,
                file_perms: FilePerms::Read,
            }],
        };
        let context = build_wasi_context(&config).unwrap();
        let seen: Vec<_> = context.preopens().collect();
        assert_eq!(seen, [("/subjects", DirPerms::Read)]);
    }

    #[test]
    fn a_missing_directory_is_named() {
        let config = WasiConfig {
            preopens: vec![Preopen {
                guest_path: "/subjects".into(),
                host_path: "/no/such/place".into(),
                dir_perms: DirPerms::Read,
                file_perms: FilePerms::Read,
            }],
        };
        let error = build_wasi_context(&config).err().unwrap().to_string();
        assert!(error.contains("/no/such/place"), "{error}");
    }
}

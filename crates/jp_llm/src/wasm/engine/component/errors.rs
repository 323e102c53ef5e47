//! What jp_wasm says in the words of the pipeline.

use jp_wasm::Error;

use crate::{
    ToolError,
    runtime::{Invocation, printed},
};

/// Makes the error of a tool that could not be asked what it is.
pub(super) fn described_badly(error: Error, file: &str, tool: &str) -> ToolError {
    match error {
        Error::NotFound { .. } => ToolError::WasmNotFound {
            path: file.to_owned(),
        },
        Error::Outside { .. } => ToolError::WasmRefused {
            reason: format!("{file}: it leads outside of the workspace"),
        },
        Error::Compile { reason } => ToolError::WasmCompilation(format!("{file}: {reason}")),
        Error::Instantiate { reason } => ToolError::WasmInstantiation(format!("{file}: {reason}")),
        Error::InstantiateModule { reason } => {
            ToolError::ModuleInstantiation(format!("{file}: {reason}"))
        }
        other => ToolError::WasmRefused {
            reason: format!("{file} does not say what `{tool}` is: {other}"),
        },
    }
}

/// Adds what the guest printed to the reason it trapped: often the only explanation there is.
pub(super) fn with_printed(reason: String, stdout: &[u8], stderr: &[u8]) -> String {
    let mut text = reason;
    for (name, bytes) in [("stderr", stderr), ("stdout", stdout)] {
        if !bytes.is_empty() {
            text.push_str(&format!("\n{name}: {}", excerpt(bytes)));
        }
    }
    text
}

/// Puts printed bytes into a text for people: bounded, and marked where it was cut.
fn excerpt(bytes: &[u8]) -> String {
    const MOST: usize = 2000;
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    match text.char_indices().nth_back(MOST - 1) {
        Some((start, _)) if start > 0 => format!("[{start} bytes left out]…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

pub(super) fn tool_error(
    error: Error,
    invocation: &Invocation<'_>,
    file: Option<&str>,
) -> ToolError {
    let tool = invocation.tool.name.clone();
    let named = |reason: String| match file {
        Some(file) => format!("{file}: {reason}"),
        None => reason,
    };
    match error {
        Error::NotFound { path } => ToolError::WasmNotFound {
            path: file.map_or_else(|| path.display().to_string(), str::to_owned),
        },
        Error::Outside { .. } => ToolError::WasmRefused {
            reason: named("it leads outside of the workspace".to_owned()),
        },
        Error::Compile { reason } => ToolError::WasmCompilation(named(reason)),
        Error::Read { path: _, source } => ToolError::WasmCompilation(named(source.to_string())),
        Error::Instantiate { reason } => ToolError::WasmInstantiation(named(reason)),
        Error::InstantiateModule { reason } => ToolError::ModuleInstantiation(named(reason)),
        Error::Trap { reason } => ToolError::WasmTrap(reason),
        Error::Limit { limit } => invocation.limit_reached(limit, printed(b"", b"")),
        Error::Denied { capability } => ToolError::Reached {
            tool,
            capability: capability.to_owned(),
        },
        Error::Mount { .. } | Error::Host { .. } | Error::Cancelled => ToolError::Host {
            tool,
            reason: error.to_string(),
        },
    }
}

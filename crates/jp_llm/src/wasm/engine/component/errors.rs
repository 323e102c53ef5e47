//! What jp_wasm says in the words of the pipeline.

use std::sync::Arc;

use jp_wasm::Error;

use crate::{
    ToolError,
    runtime::{Invocation, printed},
    tool::{HostError, Misconfigured, Refused, Stop, Unusable, WasmRefused},
};

impl From<Error> for HostError {
    fn from(error: Error) -> Self {
        Self::Wasm(Arc::new(error))
    }
}

/// Makes the error of a tool that could not be asked what it is.
pub(super) fn described_badly(error: Error, file: &str, tool: &str) -> ToolError {
    match file_error(error, Some(file), tool) {
        Ok(error) => error,
        Err(other) => ToolError::new(
            tool,
            Misconfigured::WasmRefused(WasmRefused::Silent {
                file: file.to_owned(),
                tool: tool.to_owned(),
                source: Box::new(other),
            }),
        ),
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

/// Makes the error of a call.
pub(super) fn tool_error(
    error: Error,
    invocation: &Invocation<'_>,
    file: Option<&str>,
) -> ToolError {
    let error = match file_error(error, file, &invocation.tool.name) {
        Ok(error) => return error,
        Err(error) => error,
    };
    match error {
        Error::Read { path: _, source } => {
            let failed = Misconfigured::WasmCompilation(Unusable::new(file, source));
            ToolError::unusable(&*invocation.tool.name, failed)
        }
        Error::Trap { reason } => invocation.error(Stop::WasmTrap(reason)),
        Error::Limit { limit } => invocation.limit_reached(limit, printed(b"", b"")),
        Error::Denied { capability } => {
            let capability = capability.to_owned();
            invocation.error(Refused::Reached { capability })
        }
        other => invocation.error(HostError::from(other)),
    }
}

/// Makes the error of a file that is not a tool; returns an error that is not about the file unchanged.
fn file_error(error: Error, file: Option<&str>, tool: &str) -> Result<ToolError, Error> {
    let wrong = match &error {
        Error::NotFound { path } => {
            let path = file.map_or_else(|| path.display().to_string(), str::to_owned);
            return Ok(ToolError::wasm_not_found(tool, path));
        }
        Error::Outside { .. } => {
            let file = file.map(str::to_owned);
            let refused = Misconfigured::WasmRefused(WasmRefused::Outside { file });
            return Ok(ToolError::new(tool, refused));
        }
        Error::Compile { .. } => Misconfigured::WasmCompilation,
        Error::Instantiate { .. } => Misconfigured::WasmInstantiation,
        Error::InstantiateModule { .. } => Misconfigured::ModuleInstantiation,
        _ => return Err(error),
    };
    let wrong = wrong(Unusable::new(file, error));
    Ok(ToolError::unusable(tool, wrong))
}

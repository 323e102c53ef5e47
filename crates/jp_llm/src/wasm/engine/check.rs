//! Whether a file is a tool, and if not, why: the checks of a call, without the call.

use std::{io, path::Path};

use jp_policy::Form;
use jp_wasm::{FileKind, Inspected, ToolKind};

use super::component::form;
use crate::{
    Host, ToolError,
    hashed::{hash, read},
    tool::{Misconfigured, WasmRefused},
};

/// What is known about a file that may be a tool.
#[derive(Debug, Clone)]
pub struct CheckedFile {
    /// How large it is.
    pub size: u64,
    /// The hash of its bytes.
    pub sha256: String,
    /// What it is.
    pub kind: FileKind,
    /// The names it imports.
    pub imports: Vec<String>,
    /// The names it exports.
    pub exports: Vec<String>,
    /// Whether there are more names than are listed.
    pub cut: bool,
    /// What it speaks: a version of the contract or of the module ABI; `None` when it is not a tool.
    pub speaks: Option<&'static str>,
    /// Whether it can open the files of its grant.
    pub sees_files: bool,
    /// How it runs, as far as that decides what it can be given; `None` when it is not a tool.
    pub form: Option<Form>,
    /// Why it cannot be called; `None` when it can.
    pub problem: Option<String>,
}

/// Checks whether a file is a component or module this host can call.
///
/// # Errors
///
/// When the file cannot be read, or this host cannot run Wasm at all.
pub async fn check_file(path: &Path, host: &Host) -> Result<CheckedFile, ToolError> {
    let bytes = read(path).map_err(|error| unread(path, error))?;
    let Inspected {
        kind,
        imports,
        exports,
        cut,
        mut problem,
    } = Inspected::of(&bytes);
    let mut tool = None;
    if problem.is_none() {
        match host.wasm()?.prepare(&bytes, &|_| {}).await {
            Ok(prepared) => tool = Some(prepared.kind()),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    Ok(CheckedFile {
        size: bytes.len() as u64,
        sha256: hash(&bytes),
        kind,
        imports,
        exports,
        cut,
        speaks: tool.map(ToolKind::speaks),
        sees_files: tool.is_some_and(ToolKind::sees_files),
        form: tool.map(form),
        problem,
    })
}

fn unread(path: &Path, source: io::Error) -> ToolError {
    let shown = path.display().to_string();
    let path = shown.clone();
    match source.kind() {
        io::ErrorKind::NotFound => ToolError::wasm_not_found(shown, path),
        _ => {
            let refused = WasmRefused::Unreadable { path, source };
            ToolError::new(shown, Misconfigured::WasmRefused(refused))
        }
    }
}

/// The interface with which a component makes requests itself.
const HTTP: &str = "wasi:http/outgoing-handler@0.2.";

/// What a component that calls the host by name exports.
const CALLS: &str = "jp:tool/guest@0.2.";

/// Tells from bytes alone how a Wasm file runs.
pub(super) fn form_of(bytes: &[u8]) -> Form {
    let seen = Inspected::of(bytes);
    let has = |names: &[String], start: &str| names.iter().any(|name| name.starts_with(start));
    let requests = has(&seen.imports, HTTP);
    match seen.kind {
        _ if seen.cut => Form::Wasm,
        FileKind::NotWasm => Form::Wasm,
        FileKind::Component if has(&seen.exports, CALLS) => Form::Caller { requests },
        FileKind::Component => Form::Component { requests },
        FileKind::Module if seen.imports.is_empty() => Form::Module,
        FileKind::Module => Form::Caller { requests: false },
    }
}

//! Whether a file is a tool, and if not, why: the checks of a call, without the call.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use jp_disk::Sha256;
use jp_policy::Form;
use jp_wasm::{FileKind, Inspected, ToolKind};

use crate::{Host, ToolError, runtime::form};

/// The largest file that is looked at; a larger one is no tool either.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

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
    /// What it speaks: a version of the contract or of the module ABI; `None` when it is no tool.
    pub speaks: Option<&'static str>,
    /// Whether it can open the files of its grant.
    pub sees_files: bool,
    /// How it runs, as far as that decides what it can be given; `None` when it is no tool.
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
    let bytes = read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ToolError::WasmNotFound {
            path: path.display().to_string(),
        },
        _ => ToolError::WasmRefused {
            reason: format!("{}: {error}", path.display()),
        },
    })?;
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

/// Hashes a file that may be a tool.
///
/// # Errors
///
/// When it cannot be read, or is too large for one.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    read(path).map(|bytes| hash(&bytes))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::of(bytes).to_string()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if found.len() > MAX_BYTES {
        return Err(io::Error::other(format!(
            "{} bytes, at most {MAX_BYTES} are allowed",
            found.len()
        )));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

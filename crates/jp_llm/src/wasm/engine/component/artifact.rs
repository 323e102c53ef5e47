//! Where the bytes of a component come from, and how they become something that can be called.

use std::{
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use jp_tool::ToolStatus;
use jp_wasm::{Embedded, Prepared, Runtime, Sha256};
use relative_path::RelativePathBuf;

use super::{super::builtin::Builtin, errors::tool_error};
use crate::{
    ToolError,
    registry::{
        SignedProblem,
        stored::{Ready, Stored},
    },
    runtime::Invocation,
    tool::Refused,
};

/// Where the bytes come from.
pub(super) enum Artifact {
    /// From this program.
    Builtin(&'static Builtin),
    /// From a file of the workspace.
    File(RelativePathBuf),
    /// From the store of signed tools, where it was found perhaps, or a file of the workspace that a signed
    /// manifest pins.
    Stored(Box<Stored>, OnceLock<PathBuf>),
}

/// Hears how many bytes are compiled.
type Notify<'a> = &'a (dyn Fn(u64) + Sync);

impl Artifact {
    pub(super) async fn prepare(
        &self,
        name: &str,
        invocation: &Invocation<'_>,
    ) -> Result<Prepared, ToolError> {
        let runtime = invocation.host.wasm()?;
        let compiled = AtomicBool::new(false);
        let notify = |bytes: u64| {
            compiled.store(true, Ordering::Relaxed);
            invocation.report(|| ToolStatus {
                message: Some(format!("compiling {name} ({} KiB)", bytes / 1024)),
                ..ToolStatus::phase("parse")
            });
        };
        let prepared = match self {
            Self::Builtin(builtin) => {
                let embedded = Embedded {
                    bytes: builtin.wasm,
                    sha256: Sha256::from_bytes(*builtin.sha256),
                    code: builtin.code,
                };
                let made = runtime.prepare_embedded(embedded, &notify).await;
                made.map_err(|error| tool_error(error, invocation, None))
            }
            Self::File(relative) => of_file(relative, runtime, &notify, invocation).await,
            Self::Stored(stored, found) => {
                of_store((stored, found), runtime, &notify, invocation).await
            }
        };
        if compiled.into_inner() {
            invocation.report(|| ToolStatus::phase("execute"));
        }
        prepared
    }
}

async fn of_file(
    relative: &RelativePathBuf,
    runtime: &Runtime,
    notify: Notify<'_>,
    invocation: &Invocation<'_>,
) -> Result<Prepared, ToolError> {
    let shown = relative.to_string();
    let (root, relative) = (invocation.host.root(), Path::new(relative.as_str()));
    let made = runtime.prepare_below(root, relative, notify).await;
    let made = made.map_err(|error| tool_error(error, invocation, Some(&shown)))?;
    match invocation.pinned() {
        Some(pin) if pin != &**made.sha256_hex() => {
            let error = invocation.error(Refused::WasmChanged { path: shown });
            Err(error.with_hint("look at the change, then run `jp trust` in the workspace again"))
        }
        _ => Ok(made),
    }
}

/// Prepares a signed tool. The hash is that of the very bytes that were compiled, so nothing that is
/// put in their place in the meantime can run.
async fn of_store(
    (stored, found): (&Stored, &OnceLock<PathBuf>),
    runtime: &Runtime,
    notify: Notify<'_>,
    invocation: &Invocation<'_>,
) -> Result<Prepared, ToolError> {
    let shown = stored.shown();
    let made = match stored.ready(found, invocation).await? {
        Ready::Path(path) => runtime.prepare_path(&path, notify).await,
        Ready::Workspace(path) => {
            let root = invocation.host.root();
            runtime.prepare_below(root, path, notify).await
        }
    };
    let made = made.map_err(|error| tool_error(error, invocation, Some(&shown)))?;
    if **made.sha256_hex() == *stored.sha256().to_string() {
        return Ok(made);
    }
    let source = format!("{shown} does not match its signed manifest").into();
    Err(ToolError::signed(
        &*invocation.tool.name,
        SignedProblem::Refused { source },
    ))
}

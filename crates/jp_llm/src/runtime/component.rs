//! Adapter: Wasm components, from a file of the workspace or from this program.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use jp_policy::Limits;
use jp_tool::{Context, DescribedTool, ToolStatus};
use jp_wasm::{
    AbiVersion, Embedded, Ended, Error, GuestCall, ModuleAbi, Prepared, Sha256, WasiContext,
};
use relative_path::RelativePathBuf;

use super::{Invocation, Run, Stopped, ToolRuntime, excerpt, printed};
use crate::{Builtin, Host, ToolError, builtin::Prepared as PreparedCall, places};

/// Runs a component or a module.
pub struct ComponentRuntime {
    artifact: Artifact,
    name: String,
    entrypoint: Option<String>,
    version: AbiVersion,
}

/// Where the bytes come from.
enum Artifact {
    Builtin(&'static Builtin),
    File(RelativePathBuf),
}

impl ComponentRuntime {
    /// Makes the runtime of a builtin.
    #[must_use]
    pub fn builtin(builtin: &'static Builtin) -> Self {
        Self {
            artifact: Artifact::Builtin(builtin),
            name: builtin.name.to_owned(),
            entrypoint: None,
            version: AbiVersion::One,
        }
    }

    /// Makes the runtime of a file in the workspace; `name` is what the guest is called by.
    #[must_use]
    pub const fn file(path: RelativePathBuf, name: String) -> Self {
        Self {
            artifact: Artifact::File(path),
            name,
            entrypoint: None,
            version: AbiVersion::One,
        }
    }

    /// Says how a module is entered and spoken to; a component takes no notice of it.
    #[must_use]
    pub fn speaking(self, entrypoint: Option<String>, version: AbiVersion) -> Self {
        Self {
            entrypoint,
            version,
            ..self
        }
    }

    fn abi(&self) -> ModuleAbi<'_> {
        ModuleAbi {
            entrypoint: self.entrypoint.as_deref(),
            version: self.version,
        }
    }

    async fn prepare(&self, invocation: &Invocation<'_>) -> Result<Prepared, ToolError> {
        let runtime = invocation.host.wasm()?;
        let compiled = AtomicBool::new(false);
        let notify = |bytes: u64| {
            compiled.store(true, Ordering::Relaxed);
            invocation.report(|| ToolStatus {
                message: Some(format!("compiling {} ({} KiB)", self.name, bytes / 1024)),
                ..ToolStatus::phase("parse")
            });
        };
        let prepared = match &self.artifact {
            Artifact::Builtin(builtin) => {
                let embedded = Embedded {
                    bytes: builtin.wasm,
                    sha256: Sha256::from_bytes(*builtin.sha256),
                    code: builtin.code,
                };
                let made = runtime.prepare_embedded(embedded, &notify).await;
                made.map_err(|error| tool_error(error, invocation, None))
            }
            Artifact::File(relative) => {
                let shown = relative.to_string();
                let (root, relative) = (&invocation.host.root, Path::new(relative.as_str()));
                let made = runtime.prepare_below(root, relative, &notify).await;
                let made = made.map_err(|error| tool_error(error, invocation, Some(&shown)))?;
                match invocation.pin {
                    Some(pin) if pin != &**made.sha256_hex() => {
                        Err(ToolError::WasmChanged { path: shown })
                    }
                    _ => Ok(made),
                }
            }
        };
        if compiled.into_inner() {
            invocation.report(|| ToolStatus::phase("execute"));
        }
        prepared
    }

    /// Opens what the grant allows and says where the guest finds it.
    fn place(
        &self,
        invocation: &Invocation<'_>,
    ) -> Result<(WasiContext, Context, Option<PreparedCall>), Run> {
        let action = invocation.call.action;
        match &self.artifact {
            Artifact::Builtin(builtin) => {
                let prepared = match builtin.prepare(invocation) {
                    Ok(prepared) => prepared,
                    Err(refusal) => return Err(Run::said(Ok(refusal))),
                };
                let context = Context {
                    root: prepared.root.into(),
                    action,
                };
                Ok((prepared.wasi.clone(), context, Some(prepared)))
            }
            Artifact::File(_) => {
                let wasi = places::open(invocation).map_err(Run::failed)?;
                Ok((
                    wasi,
                    Context {
                        root: places::WORKSPACE.into(),
                        action,
                    },
                    None,
                ))
            }
        }
    }
}

#[async_trait]
impl ToolRuntime for ComponentRuntime {
    async fn describe(&self, host: &Host) -> Result<Option<DescribedTool>, ToolError> {
        let Artifact::File(relative) = &self.artifact else {
            return Ok(None);
        };
        let runtime = host.wasm()?;
        let path = Path::new(relative.as_str());
        let failed = |error: Error| described_badly(error, relative.as_str(), &self.name);
        let prepared = runtime.prepare_below(&host.root, path, &|_| {}).await;
        let prepared = prepared.map_err(failed)?;
        let description = runtime.describe(&prepared, &Limits::default()).await;
        let Some(description) = description.map_err(failed)? else {
            return Ok(None);
        };
        let mut tools = description.tools;
        let named = tools.iter().position(|tool| tool.name == self.name);
        // A component of one tool may be configured under any name.
        match (named, tools.len()) {
            (Some(at), _) => Ok(Some(tools.swap_remove(at))),
            (None, 1) => Ok(tools.pop()),
            (None, _) => Err(ToolError::WasmRefused {
                reason: format!("{relative} holds no tool `{}`", self.name),
            }),
        }
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        // Compiling cannot be stopped, but nobody has to wait for it.
        let prepared = tokio::select! {
            biased;
            () = invocation.call.cancel.cancelled() => return Run::failed(Stopped::Cancelled),
            prepared = self.prepare(invocation) => prepared,
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Run::failed(error),
        };
        let (wasi, context, builtin) = match self.place(invocation) {
            Ok(placed) => placed,
            Err(run) => return run,
        };
        let runtime = match invocation.host.wasm() {
            Ok(runtime) => runtime,
            Err(error) => return Run::failed(error),
        };
        let answers = if invocation.answers.is_empty() {
            "{}".to_owned()
        } else {
            serde_json::to_string(invocation.answers).unwrap_or_default()
        };
        let calls = match super::calls::of(invocation) {
            Ok(calls) => calls,
            Err(error) => return Run::failed(error),
        };
        let call = GuestCall {
            name: &self.name,
            arguments: builtin
                .as_ref()
                .map_or(invocation.arguments_json, |b| b.arguments.as_str()),
            answers: &answers,
            context: &context,
            wasi,
            limits: invocation.left,
            cancel: Some(invocation.cancel()),
            calls,
            events: super::guest_events::of(invocation),
            module: self.abi(),
        };
        let Ended { result, traces } = runtime.call(&prepared, call).await;
        let result = result.map_err(|error| match error {
            Error::Cancelled => Stopped::Cancelled,
            Error::Trap { reason } => {
                ToolError::WasmTrap(with_printed(reason, &traces.stdout, &traces.stderr)).into()
            }
            Error::Limit { limit } => invocation
                .limit_reached(limit, printed(&traces.stdout, &traces.stderr))
                .into(),
            other => tool_error(other, invocation, None).into(),
        });
        let run = Run {
            result,
            stdout: traces.stdout,
            stderr: traces.stderr,
            fuel: Some(traces.fuel),
            sha256: Some(Arc::clone(prepared.sha256_hex())),
        };
        super::calls::scrubbed(invocation, run)
    }
}

/// Makes the error of a tool that could not be asked what it is.
fn described_badly(error: Error, file: &str, tool: &str) -> ToolError {
    match error {
        Error::NotFound { .. } => ToolError::WasmNotFound {
            path: file.to_owned(),
        },
        Error::Outside { .. } => ToolError::WasmRefused {
            reason: format!("{file}: it leads outside of the workspace"),
        },
        Error::Compile { reason } => ToolError::WasmCompilation(format!("{file}: {reason}")),
        Error::Instantiate { reason } => ToolError::WasmInstantiation(format!("{file}: {reason}")),
        other => ToolError::WasmRefused {
            reason: format!("{file} does not say what `{tool}` is: {other}"),
        },
    }
}

/// Adds what the guest printed to the reason it trapped: often the only explanation there is.
fn with_printed(reason: String, stdout: &[u8], stderr: &[u8]) -> String {
    let mut text = reason;
    for (name, bytes) in [("stderr", stderr), ("stdout", stdout)] {
        if !bytes.is_empty() {
            text.push_str(&format!("\n{name}: {}", excerpt(bytes)));
        }
    }
    text
}

fn tool_error(error: Error, invocation: &Invocation<'_>, file: Option<&str>) -> ToolError {
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

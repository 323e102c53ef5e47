//! Adapter: Wasm components and modules, from a file of the workspace, from the store of signed tools
//! or from this program.

mod artifact;
mod bytes;
mod errors;
mod given;

use std::{
    borrow::Cow,
    path::Path,
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use jp_policy::Limits;
use jp_tool::{Context, DescribedTool};
use jp_wasm::{AbiVersion, Ended, Error, GuestCall, ModuleAbi, Outside, ToolKind, WasiContext};
use relative_path::RelativePathBuf;

use super::{
    builtin::{Builtin, Prepared as PreparedCall},
    host_side::HostSide,
    mounts::{self, Opened},
    scrub,
};
use crate::{
    Host, ToolError, places,
    registry::Stored,
    runtime::{Form, Invocation, Run, Stopped, ToolRuntime, printed},
    tool::{Misconfigured, Stop, Ungrantable, WasmRefused},
};
use artifact::Artifact;
use errors::{described_badly, tool_error, with_printed};

/// Runs a component or a module.
pub(super) struct ComponentRuntime {
    /// Whether the schema of its arguments speaks of bytes, once that was looked at.
    takes_bytes: OnceLock<bool>,
    artifact: Artifact,
    name: String,
    entrypoint: Option<String>,
    version: AbiVersion,
}

impl ComponentRuntime {
    /// Makes the runtime of a builtin.
    pub(super) fn builtin(builtin: &'static Builtin) -> Self {
        Self {
            takes_bytes: OnceLock::new(),
            artifact: Artifact::Builtin(builtin),
            name: builtin.name.to_owned(),
            entrypoint: builtin.entrypoint(),
            version: AbiVersion::One,
        }
    }

    /// Makes the runtime of a file in the workspace; `name` is what the guest is called by.
    pub(super) const fn file(path: RelativePathBuf, name: String) -> Self {
        Self {
            takes_bytes: OnceLock::new(),
            artifact: Artifact::File(path),
            name,
            entrypoint: None,
            version: AbiVersion::One,
        }
    }

    /// Makes the runtime of a signed tool; `name` is what the guest is called by.
    pub(super) fn stored(stored: Box<Stored>, name: String) -> Self {
        Self {
            takes_bytes: OnceLock::new(),
            artifact: Artifact::Stored(stored, OnceLock::new()),
            name,
            entrypoint: None,
            version: AbiVersion::One,
        }
    }

    /// Says how a module is entered and spoken to. A component has no choice there: a call of one
    /// that is configured so is refused.
    pub(super) fn speaking(self, entrypoint: Option<String>, version: AbiVersion) -> Self {
        Self {
            entrypoint,
            version,
            ..self
        }
    }

    /// Returns the key of the configuration or manifest that means nothing for a file of this kind.
    fn unheard(&self, kind: ToolKind) -> Option<&'static str> {
        match (kind, &self.entrypoint, self.version) {
            (ToolKind::Component { .. }, Some(_), _) => Some("entrypoint"),
            (ToolKind::Component { .. }, None, AbiVersion::Two) => Some("abi"),
            _ => None,
        }
    }

    fn abi(&self) -> ModuleAbi<'_> {
        ModuleAbi {
            entrypoint: self.entrypoint.as_deref(),
            version: self.version,
        }
    }

    /// Opens what the grant allows, as far as the guest could see it, and says where the guest finds it.
    fn place(
        &self,
        invocation: &Invocation<'_>,
        kind: ToolKind,
    ) -> Result<(Opened, Context, Option<PreparedCall>), Box<Run>> {
        let action = invocation.call.action;
        match &self.artifact {
            Artifact::Builtin(builtin) => {
                let prepared = match builtin.prepare(invocation) {
                    Ok(prepared) => prepared,
                    Err(refusal) => return Err(Box::new(Run::said(Ok(refusal)))),
                };
                let context = Context {
                    root: prepared.root.into(),
                    action,
                };
                let opened = Opened::from(prepared.wasi.clone());
                Ok((opened, context, Some(prepared)))
            }
            Artifact::File(_) | Artifact::Stored(..) => {
                let opened = match kind.sees_files() {
                    true => {
                        mounts::open(invocation).map_err(|error| Box::new(Run::failed(error)))?
                    }
                    false => Opened::from(WasiContext::default()),
                };
                let root = places::WORKSPACE.into();
                Ok((opened, Context { root, action }, None))
            }
        }
    }
}

/// How a file of this kind runs, as far as that decides what it can be given.
pub(super) const fn form(kind: ToolKind) -> jp_policy::Form {
    use jp_policy::Form;
    match (kind.sees_files(), kind.calls_capabilities()) {
        (true, true) => Form::Caller {
            requests: kind.makes_requests(),
        },
        (true, false) => Form::Component {
            requests: kind.makes_requests(),
        },
        (false, _) => Form::Module,
    }
}

/// Returns what the tool asks for in this call and nothing could give to a file of this kind.
fn unbacked(invocation: &Invocation<'_>, kind: ToolKind) -> Option<jp_policy::Unbacked> {
    let (stated, form) = (&invocation.tool.stated, form(kind));
    match invocation.files.is_empty() {
        true => jp_policy::unbacked(form, &stated.capabilities, &|_| true),
        false => stated.unbacked(form, &|_| true),
    }
}

#[async_trait]
impl ToolRuntime for ComponentRuntime {
    fn takes_files(&self) -> bool {
        !matches!(self.artifact, Artifact::Builtin(_))
    }

    async fn describe(&self, host: &Host) -> Result<Option<DescribedTool>, ToolError> {
        let Artifact::File(relative) = &self.artifact else {
            return Ok(None);
        };
        let runtime = host.wasm()?;
        let path = Path::new(relative.as_str());
        let failed = |error: Error| described_badly(error, relative.as_str(), &self.name);
        let prepared = runtime.prepare_below(host.root(), path, &|_| {}).await;
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
            (None, _) => {
                let (file, tool) = (relative.to_string(), self.name.clone());
                let refused = WasmRefused::NoSuchTool { file, tool };
                Err(ToolError::new(
                    &*self.name,
                    Misconfigured::WasmRefused(refused),
                ))
            }
        }
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        if invocation.call.cancel.is_cancelled() {
            return Run::failed(Stopped::Cancelled);
        }
        // Compiling cannot be stopped, but nobody has to wait for it. Most often it was done before.
        let prepared = tokio::select! {
            biased;
            prepared = self.artifact.prepare(&self.name, invocation) => prepared,
            () = invocation.call.cancel.cancelled() => return Run::failed(Stopped::Cancelled),
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Run::failed(error),
        };
        if let Some(key) = self.unheard(prepared.kind()) {
            let refused = Misconfigured::WasmRefused(WasmRefused::Unheard { key });
            return Run::failed(invocation.error(refused));
        }
        // A module without imports has no directories: a file would be promised and not be there.
        if !invocation.files.is_empty() && !prepared.kind().sees_files() {
            return Run::failed(invocation.error(Misconfigured::TakesNoFiles));
        }
        if let Some(unbacked) = unbacked(invocation, prepared.kind()) {
            let hint = unbacked.instead();
            let error = invocation.error(Ungrantable::Unbacked(unbacked));
            return Run::failed(error.with_hint(hint));
        }
        let (opened, context, builtin) = match self.place(invocation, prepared.kind()) {
            Ok(placed) => placed,
            Err(run) => return *run,
        };
        let runtime = match invocation.host.wasm() {
            Ok(runtime) => runtime,
            Err(error) => return Run::failed(error),
        };
        let answers = if invocation.answers.is_empty() {
            Cow::Borrowed("{}")
        } else {
            Cow::Owned(serde_json::to_string(invocation.answers).unwrap_or_default())
        };
        let given = match given::of(invocation, prepared.kind(), &self.takes_bytes) {
            Ok(given) => given,
            Err(run) => return *run,
        };
        let host_side = match HostSide::of(invocation, prepared.kind(), given.blobs.as_ref()) {
            Ok(host_side) => host_side,
            Err(error) => return Run::failed(error),
        };
        let outside = host_side.as_ref().map(|side| side.outside(prepared.kind()));
        let call = GuestCall {
            name: &self.name,
            arguments: builtin
                .as_ref()
                .and_then(|builtin| builtin.arguments.as_deref())
                .or(given.arguments.as_deref())
                .unwrap_or(&invocation.arguments_json),
            answers: &answers,
            context: &context,
            wasi: opened.wasi.clone(),
            limits: invocation.left,
            cancel: Some(invocation.cancel()),
            outside: Outside {
                given: given.blobs,
                ..outside.unwrap_or_default()
            },
            module: self.abi(),
        };
        let Ended {
            result,
            beside,
            traces,
        } = runtime.call(&prepared, call).await;
        // Only now: the directory of the call's own goes with it.
        drop(opened);
        let result = result.map_err(|error| match error {
            Error::Cancelled => Stopped::Cancelled,
            Error::Trap { reason } => {
                let reason = with_printed(reason, &traces.stdout, &traces.stderr);
                invocation.error(Stop::WasmTrap(reason)).into()
            }
            Error::Limit { limit } => invocation
                .limit_reached(limit, printed(&traces.stdout, &traces.stderr))
                .into(),
            other => tool_error(other, invocation, None).into(),
        });
        let run = Run {
            result,
            beside,
            stdout: traces.stdout,
            stderr: traces.stderr,
            fuel: Some(traces.fuel),
            sha256: Some(Arc::clone(prepared.sha256_hex())),
            form: match prepared.kind() {
                ToolKind::Component { .. } => Form::Text,
                _ => Form::Json,
            },
            ended: None,
            denied: false,
        };
        let run = match &host_side {
            Some(side) => side.add_to(run),
            None => run,
        };
        scrub::scrubbed(invocation, prepared.kind(), run)
    }
}

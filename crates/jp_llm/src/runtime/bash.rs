//! Adapter: the virtual bash. The grant decides its mounts and hosts, the limits its budget.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use jp_bash::{Category, ExecOptions, ExecResult, HostDir, HostMode, OnExecute, OnOutput};
use jp_policy::{Access, FileRule, Grant, Limit};
use jp_tool::{Outcome, ToolStatus};
use serde_json::Value;

use super::{Ended, Invocation, Run, Stopped, ToolRuntime, printed, script_outcome, stopped_at};
use crate::{
    ToolError, places,
    script::{Recovery, Script, ScriptBuilder, ScriptSession, bounds},
    tool::HostError,
};

/// The option that keeps a session between calls: `session = "kept"`.
const SESSION: &str = "session";

/// As many sessions are kept; the one that was used longest ago goes first.
const MAX_KEPT: usize = 16;

/// Runs scripts. Each call has a session of its own, unless the configuration keeps one for each caller.
#[derive(Default)]
pub struct BashRuntime {
    kept: Mutex<Vec<Kept>>,
}

/// A session between two calls. Only the same caller gets it back, for a call with the same grant.
struct Kept {
    principal: String,
    grant: Arc<Grant>,
    session: ScriptSession,
}

impl BashRuntime {
    /// Makes the session of a call: what its grant shows it, within its limits.
    fn session(&self, invocation: &Invocation<'_>) -> Result<ScriptSession, ToolError> {
        let kept = match is_kept(invocation) {
            true => self.take(invocation),
            false => None,
        };
        if let Some(mut session) = kept {
            session.set_bounds(bounds(invocation.left));
            return Ok(session);
        }
        let mut builder = ScriptBuilder::new(bounds(invocation.left));
        let root = invocation.host.root();
        let capabilities = invocation.grant().capabilities();
        for rule in capabilities.files.rules() {
            if let Some((path, dir)) = beside(rule, invocation)? {
                builder = builder.show(path, dir);
            }
            let Some(below) = places::in_workspace(rule) else {
                continue;
            };
            let mode = match rule.access {
                Access::Read => HostMode::ReadOnly,
                Access::ReadWrite => HostMode::ReadWrite,
            };
            let path = rule.path.as_str();
            let dir = open(root, Path::new(below.as_str())).map_err(|source| {
                let path = path.to_owned();
                invocation.error(HostError::Open { path, source })
            })?;
            builder = builder.mount(path, dir, mode, |recovery| report(invocation, &recovery));
            if path == places::WORKSPACE {
                builder = builder.start_in(path);
            }
        }
        let network = builder.network(&capabilities.net);
        let builder = network.map_err(|error| invocation.error(HostError::Network(error)))?;
        Ok(builder.build())
    }

    fn take(&self, invocation: &Invocation<'_>) -> Option<ScriptSession> {
        let principal = &invocation.host.caller().principal;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs =
            |kept: &Kept| kept.principal == *principal && kept.grant == *invocation.grant();
        let at = kept.iter().position(theirs)?;
        Some(kept.remove(at).session)
    }

    fn keep(&self, session: ScriptSession, invocation: &Invocation<'_>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push(Kept {
            principal: invocation.host.caller().principal.clone(),
            grant: Arc::clone(invocation.grant()),
            session,
        });
    }
}

#[async_trait]
impl ToolRuntime for BashRuntime {
    fn first_phase(&self) -> &'static str {
        "parse"
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        let commands = invocation
            .arguments
            .get("commands")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if invocation.call.action.is_format_arguments() {
            return Run::said(Ok(Outcome::Success { content: commands }));
        }
        let session = match self.session(invocation) {
            Ok(session) => session,
            Err(error) => return Run::failed(error),
        };
        let script = Script {
            text: commands.into_bytes(),
            options: ExecOptions {
                on_execute: on_execute(invocation),
                ..ExecOptions::default()
            },
            on_output: Some(on_output(invocation)),
        };
        let ended = session.run_until(script, &invocation.call.cancel).await;
        let (session, result) = match ended {
            Ok(ended) => ended,
            Err(error) => return Run::failed(invocation.error(HostError::ScriptThread(error))),
        };
        if is_kept(invocation) {
            self.keep(session, invocation);
        }
        answer(invocation, result)
    }
}

/// Reports that the script's first command runs: it was read so far.
fn on_execute(invocation: &Invocation<'_>) -> Option<OnExecute> {
    let events = invocation.host.caller().events.clone()?;
    let (call, name) = (invocation.call.id.clone(), invocation.tool.name.clone());
    Some(OnExecute::new(move || {
        events.report(&call, &name, ToolStatus::phase("execute"));
    }))
}

/// Reports output while the script runs.
fn on_output(invocation: &Invocation<'_>) -> OnOutput {
    let events = invocation.host.caller().events.clone();
    let (call, name) = (invocation.call.id.clone(), invocation.tool.name.clone());
    Box::new(move |out, err| {
        let Some(events) = &events else { return };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        if !out.is_empty() {
            events.report(&call, &name, ToolStatus::stdout(text(out)));
        }
        if !err.is_empty() {
            events.report(&call, &name, ToolStatus::stderr(text(err)));
        }
    })
}

/// Turns what a script printed into what the model sees: a status other than 0 is a failure that the tool reports.
fn answer(invocation: &Invocation<'_>, result: ExecResult) -> Run {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ended = match result.error {
        Some(Category::Cancelled) => Err(Stopped::Cancelled),
        Some(Category::ResourceLimit(limit)) => Err(reached(invocation, limit, &result).into()),
        Some(Category::Internal) => {
            let said = text(&result.stderr);
            Err(invocation.error(HostError::Bash { said }).into())
        }
        _ => Ok(script_outcome(
            &text(&result.stdout),
            &text(&result.stderr),
            result.exit_code,
            Vec::new(),
        )),
    };
    Run {
        ended: ended.is_ok().then_some(Ended::Exited(result.exit_code)),
        stdout: result.stdout,
        stderr: result.stderr,
        ..Run::said(ended)
    }
}

/// Makes the error of a limit that a script reached, with everything it printed.
fn reached(invocation: &Invocation<'_>, limit: jp_bash::Limit, result: &ExecResult) -> ToolError {
    let bounds = bounds(invocation.left);
    let printed = printed(&result.stdout, &result.stderr);
    let reached = match limit {
        jp_bash::Limit::Memory => return invocation.limit_reached(Limit::Memory, printed),
        jp_bash::Limit::Output => return invocation.limit_reached(Limit::Output, printed),
        jp_bash::Limit::Time => return invocation.limit_reached(Limit::Time, printed),
        jp_bash::Limit::Files => (Limit::OpenFiles, format!("{} descriptors", bounds.files)),
        jp_bash::Limit::Commands => (Limit::Fuel, format!("{} commands", bounds.commands)),
        jp_bash::Limit::Loops => (Limit::Fuel, format!("{} loop iterations", bounds.loops)),
        jp_bash::Limit::Depth => (Limit::Fuel, format!("{} levels of nesting", bounds.depth)),
    };
    stopped_at(invocation.tool, reached, printed)
}

/// Reports what became of an apply that was killed in a directory.
fn report(invocation: &Invocation<'_>, recovery: &Recovery) {
    let said = match recovery {
        Ok(done) => format!("{done}\n"),
        Err(error) => format!("cannot undo an interrupted apply: {error}\n"),
    };
    invocation.report(|| ToolStatus::stderr(said));
}

/// Opens a directory of the workspace, which it must not leave, not even through symbolic links.
/// Opens a directory beside the workspace that the grant shows, at its own path.
fn beside<'r>(
    rule: &'r FileRule,
    invocation: &Invocation<'_>,
) -> Result<Option<(&'r str, HostDir)>, ToolError> {
    let Some(path) = rule.host_path() else {
        return Ok(None);
    };
    let found = places::beside_workspace(rule, invocation.host.policy());
    let found = found.ok_or_else(|| std::io::ErrorKind::NotFound.into());
    let opened = found.and_then(|found| HostDir::open(&found));
    let dir = opened.map_err(|source| {
        let path = path.to_owned();
        invocation.error(HostError::Open { path, source })
    })?;
    Ok(Some((path, dir)))
}

fn open(root: &Path, below: &Path) -> std::io::Result<HostDir> {
    let top = HostDir::open(root)?;
    if below.as_os_str().is_empty() {
        Ok(top)
    } else {
        top.below(below)
    }
}

fn is_kept(invocation: &Invocation<'_>) -> bool {
    invocation.tool.options.get(SESSION).and_then(Value::as_str) == Some("kept")
}

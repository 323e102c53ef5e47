//! One call from the command line: made, asked about, taken up again after each answer.

use std::{collections::BTreeMap, sync::Arc};

use jp_llm::{Call, ChosenFile, Details, Executed, ExecutionOutcome, Host, ToolDefinition};
use jp_policy::Access;
use jp_tool::Action;
use serde_json::{Map, Value};

use crate::{
    answers::Answers,
    approve::TerminalApprover,
    clock,
    error::CliError,
    interrupt::Interrupts,
    places,
    progress::Progress,
    session::{Session, block_on},
    ui::Ui,
};

/// A call as the command line has it.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Map<String, Value>,
    /// Files the person chose for it, by the names of arguments.
    pub(super) files: BTreeMap<String, ChosenFile>,
    pub(super) action: Action,
    pub(super) answers: Answers,
    /// Whether the person has approved the call beforehand.
    pub(super) agreed: bool,
}

/// A call that has ended.
pub(super) struct Called {
    pub(super) id: String,
    pub(super) executed: Executed,
    /// Whether the workspace, and not the user, has defined the tool.
    pub(super) by_workspace: bool,
    /// Answers that were given and never asked for.
    pub(super) unasked: Vec<String>,
}

/// Makes the call.
pub(super) fn make(wanted: Wanted<'_>, session: &mut Session, ui: &Ui) -> Result<Called, CliError> {
    session.audit()?;
    places::refuse_own_places(&session.host.root)?;
    let interrupts = Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for Ctrl-C".to_owned(),
        source,
    })?;
    let progress = Arc::new(Progress::default());
    let host = &mut session.host;
    host.approver = Arc::new(TerminalApprover::new(ui, &interrupts, wanted.agreed));
    if ui.err_is_terminal {
        host.events = Some(Arc::clone(&progress) as _);
    }
    let call = Call {
        id: format!("{:x}-{:x}", clock::now(), std::process::id()),
        arguments: wanted.arguments,
        files: wanted.files,
        action: wanted.action,
        principal: places::principal(),
        cancel: interrupts.cancel,
        ..Call::default()
    };
    let id = call.id.clone();
    let mut answers = wanted.answers;
    let (session, name) = (&*session, wanted.name);
    block_on(async {
        let asked = session.ask_server_of(name, &call.cancel).await;
        // Made all the same when the server does not answer: a call that fails leaves a record.
        let tool = ToolDefinition::for_call(name, &call, &session.loaded, &session.host);
        let tool = match (asked, tool.await) {
            (Ok(()), Ok(tool)) => tool,
            // Whatever the person stopped has failed, and not of its own.
            (Err(_), _) | (_, Err(_)) if call.cancel.is_cancelled() => {
                session.stop_servers().await;
                return Ok(cancelled(id));
            }
            (Err(error), _) => return Err(error),
            (Ok(()), Err(error)) => return Err(error.into()),
        };
        refuse_changes(&tool, &call.files)?;
        let rounds = rounds(&tool, call, &session.host, &mut answers, &progress, ui);
        let executed = rounds.await;
        session.stop_servers().await;
        Ok(Called {
            id,
            executed: executed?,
            by_workspace: tool.defined_by == jp_config::Layer::Workspace,
            unasked: answers.left().map(str::to_owned).collect(),
        })
    })?
}

/// Makes what came of a call that was stopped before its tool was found.
fn cancelled(id: String) -> Called {
    Called {
        executed: Executed {
            result: Ok(ExecutionOutcome::Cancelled { id: id.clone() }),
            details: Details::default(),
        },
        id,
        by_workspace: false,
        unasked: Vec::new(),
    }
}

/// Refuses to let a tool change a file when it only asks to read: whoever wrote `:rw` expects a change.
fn refuse_changes(
    tool: &ToolDefinition,
    files: &BTreeMap<String, ChosenFile>,
) -> Result<(), CliError> {
    let request = &tool.request;
    let when = request.conditional.iter().map(|more| more.needs.selected);
    let asked = when.fold(request.capabilities.selected, Ord::max);
    let mut chosen = files.iter();
    let to_change = chosen.find(|(_, file)| file.access == Access::ReadWrite);
    match (asked, to_change) {
        (Some(Access::Read), Some((argument, file))) => Err(CliError::Usage {
            message: format!(
                "`{}` only reads the files you choose, so it cannot be given {} to change",
                tool.name,
                file.path.display()
            ),
            hint: Some(format!(
                "let it read: `--file {argument}={}`",
                file.path.display()
            )),
        }),
        _ => Ok(()),
    }
}

/// Calls the tool until it has no question left, or one that nobody answers.
async fn rounds(
    tool: &ToolDefinition,
    mut call: Call,
    host: &Host,
    answers: &mut Answers,
    progress: &Progress,
    ui: &Ui,
) -> Result<Executed, CliError> {
    let mut before: Option<Executed> = None;
    loop {
        let mut executed = progress
            .show(ui, tool.execute_detailed(call.clone(), host))
            .await;
        if let Some(before) = before.take() {
            add(&mut executed, before);
        }
        let Ok(ExecutionOutcome::NeedsInput { question, .. }) = &executed.result else {
            return Ok(executed);
        };
        let found = answers.find(&tool.name, question, ui, &call.cancel).await?;
        match found {
            Some(answer) => {
                call.answers.insert(question.id.clone(), answer);
            }
            None if call.cancel.is_cancelled() => {
                let id = call.id.clone();
                executed.result = Ok(ExecutionOutcome::Cancelled { id });
                return Ok(executed);
            }
            None => return Ok(executed),
        }
        before = Some(executed);
    }
}

/// Adds what earlier rounds of the call printed and used.
fn add(executed: &mut Executed, before: Executed) {
    let (details, before) = (&mut executed.details, before.details);
    details.stdout.splice(0..0, before.stdout);
    details.stderr.splice(0..0, before.stderr);
    details.duration += before.duration;
    details.fuel = match (details.fuel, before.fuel) {
        (Some(now), Some(then)) => Some(now.saturating_add(then)),
        (now, then) => now.or(then),
    };
}

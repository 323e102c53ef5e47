//! One call from the command line.

use std::{collections::BTreeMap, sync::Arc};

use jp_host::CallError;
use jp_llm::{
    Call, Caller, ChosenFile, Details, Executed, ExecutionOutcome, Selection, ToolDefinition,
};
use jp_policy::Access;
use jp_tool::Action;
use serde_json::{Map, Value};

use crate::{
    answers::{Answers, TerminalAsker},
    approve::TerminalApprover,
    clock,
    error::CliError,
    interrupt::Interrupts,
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
    /// The names of the tool's arguments, as far as they are known.
    pub(super) arguments: Vec<String>,
}

/// Makes the call, as the person at the terminal.
pub(super) fn make(
    wanted: Wanted<'_>,
    session: Session,
    ui: &Ui,
) -> Result<(Called, Session), CliError> {
    let session = session.audited()?;
    let interrupts = Interrupts::listen().map_err(|source| CliError::System {
        what: "cannot listen for Ctrl-C".to_owned(),
        source,
    })?;
    let progress = Arc::new(Progress::default());
    let asker = TerminalAsker::new(wanted.answers, ui, &interrupts.cancel, &progress);
    let asker = Arc::new(asker);
    let events = ui.err_is_terminal.then(|| Arc::clone(&progress) as _);
    let session = session.with_caller(Caller {
        principal: jp_host::principal(),
        policy: None,
        // A person who types its name has asked for it.
        selection: Selection::naming(wanted.name),
        approver: Arc::new(TerminalApprover::new(ui, &interrupts, wanted.agreed)),
        asker: Arc::clone(&asker) as _,
        events,
    });
    let call = Call {
        id: clock::call_id(),
        arguments: wanted.arguments,
        files: wanted.files,
        action: wanted.action,
        cancel: interrupts.cancel,
        ..Call::default()
    };
    let mut called = block_on(progress.show(ui, run(wanted.name, call, &session)))??;
    if let Some(error) = asker.failed() {
        return Err(error);
    }
    called.unasked = asker.unasked();
    Ok((called, session))
}

async fn run(name: &str, call: Call, session: &Session) -> Result<Called, CliError> {
    let id = call.id.clone();
    let tool = match session.find(name, &call, session.host()).await {
        Ok(tool) => tool,
        // Whatever the person stopped has failed, and not of its own.
        Err(_) if call.cancel.is_cancelled() => {
            session.stop_servers().await;
            return Ok(cancelled(id));
        }
        Err(CallError::Server(error)) => return Err(CliError::Server(error)),
        Err(CallError::Tool(error)) => return Err(error.into()),
    };
    refuse_changes(&tool, &call.files)?;
    let executed = tool.execute_detailed(call, session.host()).await;
    session.stop_servers().await;
    let properties = tool.known_schema().get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    Ok(Called {
        id,
        executed,
        arguments: properties.map(|(name, _)| name.clone()).collect(),
        by_workspace: tool.defined_by == jp_config::Layer::Workspace,
        unasked: Vec::new(),
    })
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
        arguments: Vec::new(),
    }
}

/// Refuses to let a tool change a file when it only asks to read: a user who wrote `:rw` expects a change.
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

//! What came of a call, for programs and for people.

use jp_llm::{
    Details, Executed, ExecutionOutcome, Host, ToolError, Trust,
    runtime::{Ended, Form},
    tool::{Cause, Printed, Refused, Stop},
};
use jp_tool::{Outcome, Problem};
use serde_json::{Value, json};

use super::{call::Called, invalid};
use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    page::Page,
    text,
    ui::{Style, Ui},
    view::{self, View},
    words,
};

/// The most that is shown of what a stopped tool had printed.
const MAX_PRINTED: usize = 2000;

/// How a call ended, as exit codes and `--json` tell it apart.
pub(super) enum Ending<'a> {
    Success(&'a str),
    SaidNo(&'a str),
    /// The tool said no because the host refused what it asked for.
    Denied(&'a str),
    /// The tool never ran: a person or the configuration said no.
    Skipped(&'a str),
    /// The tool never ran: the arguments are wrong.
    Invalid(&'a str),
    NeedsInput(&'a jp_tool::Question),
    Cancelled,
    Failed(&'a ToolError),
}

impl<'a> Ending<'a> {
    pub(super) fn of(executed: &'a Executed) -> Self {
        let ran = executed.details.outcome.is_some();
        match &executed.result {
            Err(error) => Self::Failed(error),
            Ok(ExecutionOutcome::Cancelled { .. }) => Self::Cancelled,
            Ok(ExecutionOutcome::NeedsInput { question, .. }) => Self::NeedsInput(question),
            Ok(ExecutionOutcome::Completed { result, .. }) => match result {
                Ok(content) if ran => Self::Success(content),
                Ok(content) => Self::Skipped(content),
                Err(message) if executed.details.denied => Self::Denied(message),
                Err(message) if ran => Self::SaidNo(message),
                Err(message) => Self::Invalid(message),
            },
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Success(_) => Exit::Done,
            Self::SaidNo(_) => Exit::SaidNo,
            Self::Skipped(_) | Self::Denied(_) => Exit::Denied,
            Self::Invalid(_) => Exit::Usage,
            Self::NeedsInput(_) => Exit::NeedsInput,
            Self::Cancelled => Exit::Cancelled,
            Self::Failed(error) => error.verdict().into(),
        }
    }
}

/// Writes a call down for programs.
pub(super) fn json(tool: &str, called: &Called) -> Value {
    let Executed { details, .. } = &called.executed;
    let ending = Ending::of(&called.executed);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut document = json!({
        "version": JSON_VERSION,
        "tool": tool,
        "id": called.id,
        "outcome": outcome(&ending, details),
        "content": called.executed.parts(),
        "structured": called.executed.structured(),
        "stdout": text(&details.stdout),
        "stderr": text(&details.stderr),
        "fuel": details.fuel,
        "duration_ms": details.duration.as_secs_f64() * 1000.0,
        "sha256": details.sha256.as_deref(),
        "grant": &*details.grant,
        "exit_code": details.ended.and_then(Ended::exit_code),
        "signal": details.ended.and_then(signal),
    });
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    if !(is_text(&details.stdout) && is_text(&details.stderr)) {
        // Bytes that are not valid UTF-8 were replaced; readers must know.
        document["lossy"] = true.into();
    }
    if let Ending::Failed(error) = ending {
        document["error"] = failure(error);
    }
    document
}

/// Writes down why there was no call at all.
pub(super) fn json_of_error(tool: &str, error: &ToolError) -> Value {
    json!({"version": JSON_VERSION, "tool": tool, "id": null, "outcome": {"type": "failed"},
        "content": [], "structured": null, "stdout": "", "stderr": "", "fuel": null, "duration_ms": 0.0, "sha256": null,
        "grant": "", "exit_code": null, "signal": null, "error": failure(error)})
}

/// Writes down the signal that ended a command, if one did.
fn signal(ended: Ended) -> Option<Value> {
    let number = ended.signal()?;
    Some(json!({"number": number, "name": ended.signal_name()}))
}

fn failure(error: &ToolError) -> Value {
    json!({"kind": error.kind().as_str(), "message": error.to_string(), "hint": error.hint()})
}

fn outcome(ending: &Ending<'_>, details: &Details) -> Value {
    match ending {
        Ending::Success(content) => json!({"type": "success", "content": content}),
        Ending::SaidNo(message) | Ending::Denied(message) => match &details.outcome {
            Some(Outcome::Error {
                message,
                trace,
                transient,
            }) => {
                json!({"type": "error", "message": message, "trace": trace, "transient": transient})
            }
            _ => json!({"type": "error", "message": message, "trace": [], "transient": false}),
        },
        Ending::Skipped(content) => json!({"type": "skipped", "content": content}),
        Ending::Invalid(message) => json!({"type": "invalid", "message": message}),
        Ending::NeedsInput(question) => json!({"type": "needs_input", "question": question}),
        Ending::Cancelled => json!({"type": "cancelled"}),
        Ending::Failed(_) => json!({"type": "failed"}),
    }
}

/// Shows a call to a person.
pub(super) fn show(
    tool: &str,
    called: &Called,
    (host, verbose): (&Host, bool),
    ui: &Ui,
) -> Result<(), CliError> {
    match Ending::of(&called.executed) {
        Ending::Success(content) if ui.out_is_terminal && view::of(content).is_some() => {
            view(content, ui)?;
        }
        Ending::Success(content) => match called.executed.details.form {
            Form::Text => ui.result(content)?,
            Form::Json => ui.json_result(content)?,
        },
        Ending::SaidNo(message) | Ending::Denied(message) => {
            said_no(message, &called.executed.details, ui);
        }
        Ending::Skipped(content) => ui.say(text::escape(content)),
        Ending::Invalid(message) => {
            let hint =
                format!("`jp tool show {tool}` explains its arguments; `-v` shows its schema");
            let known: Vec<&str> = called.arguments.iter().map(String::as_str).collect();
            match verbose {
                true => ui.error(message, Some(&hint)),
                false => ui.error(&invalid::for_people(message, &known), Some(&hint)),
            }
        }
        Ending::NeedsInput(question) => {
            ui.json(&json!(question))?;
            let id = &question.id;
            ui.hint(&format!("answer it with --answer {id}=VALUE"));
        }
        Ending::Cancelled => ui.say("cancelled"),
        Ending::Failed(error) => failed(error, called, host, ui),
    }
    Ok(())
}

/// Shows what a tool of jp answered, to a person.
fn view(content: &str, ui: &Ui) -> Result<(), CliError> {
    match view::of(content) {
        Some(View::Table(header, rows)) => {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            ui.table(&header, &rows)
        }
        Some(View::Fields(fields)) => {
            let width = fields.iter().map(|(name, _)| name.chars().count()).max();
            let mut page = Page::new(width.unwrap_or(0).min(30) + 1);
            for (name, value) in fields {
                page.field(&name, &value);
            }
            ui.bytes(page.as_bytes())
        }
        Some(View::Sentence(sentence)) => ui.line(sentence),
        None => Ok(()),
    }
}

/// Shows what a tool complained about: a command with its streams, others with the code they gave.
fn said_no(message: &str, details: &Details, ui: &Ui) {
    match &details.beside.problem {
        None => ui.error(message, None),
        Some(Problem {
            code: Some(code),
            message,
        }) => ui.error(&format!("{message} ({code})"), None),
        Some(Problem {
            code: None,
            message,
        }) => {
            ui.error(message, None);
            printed(&String::from_utf8_lossy(&details.stdout), ui);
            printed(&String::from_utf8_lossy(&details.stderr), ui);
        }
    }
}

fn failed(error: &ToolError, called: &Called, host: &Host, ui: &Ui) {
    ui.error(&error.to_string(), error.hint());
    if let Cause::Stopped(Stop::LimitReached {
        printed: so_far, ..
    }) = error.cause()
    {
        let Printed { stdout, stderr } = so_far;
        if !(stdout.is_empty() && stderr.is_empty()) {
            ui.say(ui.paint(Style::Faint, "it had printed:"));
            printed(stdout, ui);
            printed(stderr, ui);
        }
    }
    match host.trust() {
        Trust::Stale if called.by_workspace && wants_trust(error) => ui.say(
            "note: you trusted this workspace, and it has changed since; look at the change, then \
             run `jp trust` again",
        ),
        // A denial for want of trust has said so itself.
        Trust::Untrusted
            if called.by_workspace
                && wants_trust(error)
                && !matches!(error.cause(), Cause::Refused(Refused::Denied { .. })) =>
        {
            ui.say(
                "note: you have not trusted this workspace; `jp trust` shows what it asks for, \
                 and trusts it",
            )
        }
        _ => {}
    }
}

/// Returns whether trust in the workspace would change anything about an error. To advise it elsewhere
/// would be to ask for trust that does not help.
const fn wants_trust(error: &ToolError) -> bool {
    matches!(
        error.cause(),
        Cause::Refused(
            Refused::Denied { .. }
                | Refused::NotApproved
                | Refused::WasmUnseen { .. }
                | Refused::WasmChanged { .. }
        )
    )
}

fn printed(output: &str, ui: &Ui) {
    let output = output.trim_end();
    if output.is_empty() {
        return;
    }
    let left_out = output.chars().count().saturating_sub(MAX_PRINTED);
    let kept: String = output.chars().skip(left_out).collect();
    if left_out > 0 {
        ui.say(format_args!("[{left_out} characters left out]…"));
    }
    ui.say(text::escape(&kept));
}

/// Shows what a tool printed beside its result, and what the call used.
pub(super) fn verbose(details: &Details, ui: &Ui) {
    for (name, bytes) in [("stdout", &details.stdout), ("stderr", &details.stderr)] {
        if !bytes.is_empty() {
            ui.say(ui.paint(Style::Faint, format_args!("{name} of the tool:")));
            printed(&String::from_utf8_lossy(bytes), ui);
        }
    }
    let fuel = details
        .fuel
        .map_or_else(String::new, |fuel| format!(", {fuel} fuel"));
    let line = format!(
        "took {}{fuel}, granted {}",
        words::duration(details.duration),
        text::escape(&details.grant)
    );
    ui.say(ui.paint(Style::Faint, line));
}

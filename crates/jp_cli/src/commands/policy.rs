//! `jp policy check`: whether a call would be allowed, and what decides that.

mod line;

use clap::{Args, Subcommand};
use jp_config::tool::RunMode;
use jp_llm::{
    Call, Caller, Known, PreparedTool, Selection, ToolDefinition, ToolError, Trust,
    tool::{Cause, Refused},
};
use jp_policy::{Capability, Denied};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use self::line::Line;
use super::JSON_VERSION;
use crate::{
    arguments,
    error::CliError,
    exit::Exit,
    session::{Session, block_on},
    text,
    ui::Ui,
    words,
};

/// The verbs of `jp policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say whether a call would be allowed, and what decides it
    Check(CheckArgs),
}

/// Arguments of `jp policy check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is called. The exit code is 0 when the call would run without asking,
1 when you would be asked, 126 when it would be refused.

Examples:
  jp policy check learn topic=skills
  jp policy check fetch url=https://example.com --json
  jp policy check fetch --for claude    as it would be for another principal")]
pub(crate) struct CheckArgs {
    /// The tool
    name: String,
    /// The arguments: a JSON object, key=value words, or -
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
    /// Who would make the call; you unless set
    #[arg(long = "for", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What would become of a call.
struct Verdict {
    word: &'static str,
    /// Why, in a sentence.
    why: String,
    /// The key that decides, and where it stands.
    key: Option<String>,
    line: Option<Line>,
    /// What the call would get.
    may: Vec<String>,
    hint: Option<String>,
    exit: Exit,
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    let Command::Check(args) = command;
    check(args, ui)
}

fn check(args: &CheckArgs, ui: &Ui) -> Result<Exit, CliError> {
    let given = arguments::read(&args.arguments)?;
    let principal = args.principal.clone().unwrap_or_else(jp_host::principal);
    let session = Session::open(ui)?.with_caller(Caller {
        principal,
        selection: Selection::naming(&args.name),
        ..Caller::default()
    });
    let tool = block_on(defined(&args.name, &session))??;
    let verdict = judge(&tool, given, &session)?;
    if args.json {
        ui.json(&json!({
            "version": JSON_VERSION,
            "tool": args.name,
            "verdict": verdict.word,
            "why": verdict.why,
            "key": verdict.key,
            "file": verdict.line.as_ref().map(|line| line.file.display().to_string()),
            "line": verdict.line.as_ref().map(|line| line.number),
            "may": verdict.may,
            "hint": verdict.hint,
        }))?;
        return Ok(verdict.exit);
    }
    ui.line(format_args!("{}: {}", verdict.word, verdict.why))?;
    if let Some(key) = &verdict.key {
        let place = match &verdict.line {
            Some(line) => format!("{}:{}", line.file.display(), line.number),
            None => "no file sets it".to_owned(),
        };
        ui.line(format_args!(
            "  decided by: {} ({place})",
            text::escape_line(key)
        ))?;
    }
    if !verdict.may.is_empty() {
        let may = verdict.may.join("; ");
        ui.line(format_args!("  it may:     {}", text::escape_line(&may)))?;
    }
    if let Some(hint) = &verdict.hint {
        ui.hint(hint);
    }
    Ok(verdict.exit)
}

/// Finds the tool, and reads what was decided about it.
async fn defined(name: &str, session: &Session) -> Result<PreparedTool, CliError> {
    let asked = session.ask_server_of(name, &CancellationToken::new()).await;
    session.stop_servers().await;
    asked.map_err(CliError::Server)?;
    if let Some(decisions) = session.host().decisions() {
        let read = decisions.refresh().await;
        read.map_err(super::approve::failed)?;
    }
    let tool = ToolDefinition::new(name, session.loaded(), session.host())?.prepare();
    tool.described(session.host()).await?;
    Ok(tool)
}

fn judge(
    tool: &PreparedTool,
    given: Map<String, Value>,
    session: &Session,
) -> Result<Verdict, CliError> {
    let call = Call {
        arguments: given,
        ..Call::default()
    };
    let preview = match tool.preview_call(call, session.host()) {
        Err(error) => return denied(&error, session),
        Ok(Err(invalid)) => return Err(CliError::usage(invalid.told)),
        Ok(Ok(preview)) => preview,
    };
    let may = words::capabilities(preview.grant.capabilities());
    let key = format!("conversation.tools.{}.run", tool.name);
    let path = ["conversation", "tools", tool.name.as_str(), "run"];
    let line = Line::find(&session.loaded().files, &path);
    let verdict = |word, why: String, exit| Verdict {
        word,
        why,
        key: None,
        line: None,
        may: may.clone(),
        hint: None,
        exit,
    };
    match preview.known {
        Known::Never { by } => {
            let why = format!(
                "you decided that it never runs ({})",
                text::escape_line(&by)
            );
            return Ok(Verdict {
                hint: Some(
                    "`jp grants` lists what you decided, and `jp revoke` takes it back".to_owned(),
                ),
                ..verdict("denied", why, Exit::Denied)
            });
        }
        Known::Allowed { by } if preview.run != RunMode::Unattended => {
            let why = format!("you allowed it ({})", text::escape_line(&by));
            return Ok(verdict("allowed", why, Exit::Done));
        }
        Known::Ticket if preview.run != RunMode::Unattended => {
            let why = "you allowed this very call once, and it was not made yet".to_owned();
            return Ok(verdict("allowed", why, Exit::Done));
        }
        Known::Allowed { .. } | Known::Ticket | Known::Nothing => {}
    }
    let (word, exit) = match preview.run {
        RunMode::Unattended => ("allowed", Exit::Done),
        RunMode::Ask | RunMode::Edit => ("asks", Exit::SaidNo),
        RunMode::Skip => ("denied", Exit::Denied),
    };
    let is_said = tool.run == Some(preview.run);
    let why = match (is_said, preview.run) {
        (true, mode) => format!("`run` says {}", words::runs(mode)),
        (false, RunMode::Unattended) => {
            "it changes nothing and reaches nobody, so nobody is asked".to_owned()
        }
        (false, _) if tool.run.is_some() => {
            "you would be asked: `run` of a workspace you have not trusted as it is does not count"
                .to_owned()
        }
        (false, _) => "you would be asked: it may change something or reach somebody".to_owned(),
    };
    let line = line.filter(|_| is_said);
    Ok(Verdict {
        key: line.is_some().then_some(key),
        line,
        ..verdict(word, why, exit)
    })
}

/// Says what refuses a call.
fn denied(error: &ToolError, session: &Session) -> Result<Verdict, CliError> {
    let Cause::Refused(refused) = error.cause() else {
        return Err(CliError::usage(error.to_string()));
    };
    let files = &session.loaded().files;
    let (key, line) = match refused {
        Refused::Denied {
            denied: Denied::ByHost { capability },
            ..
        } => {
            let key = key_of(capability);
            let line = Line::find(files, &["policy", key]);
            (Some(format!("policy.{key}")), line)
        }
        Refused::Denied {
            denied: Denied::ByApp { .. },
            untrusted: true,
            ..
        } => {
            let trust = match session.host().trust() {
                Trust::Stale => "the workspace has changed since you trusted it",
                _ => "you have not trusted the workspace",
            };
            (Some(trust.to_owned()), None)
        }
        Refused::Denied {
            denied: Denied::ByApp { capability },
            ..
        } => {
            let key = key_of(capability);
            let line = Line::find(files, &["capabilities", key]);
            (Some(format!("capabilities.{key}")), line)
        }
        _ => (None, None),
    };
    Ok(Verdict {
        word: "denied",
        why: error.to_string(),
        key,
        line,
        may: Vec::new(),
        hint: error.hint().map(str::to_owned),
        exit: Exit::Denied,
    })
}

/// Returns the key of a policy that a capability is about.
const fn key_of(capability: &Capability) -> &'static str {
    match capability {
        Capability::Files(_) => "files",
        Capability::Selected(_) => "selected",
        Capability::Net(_) => "net",
        Capability::Subprocess => "subprocess",
        Capability::Brokered(_) => "calls",
        Capability::Env(_) => "env",
        Capability::Ambient(name) => name,
    }
}

//! `jp tool list`.

use std::collections::BTreeSet;

use clap::Args;
use jp_config::tool::Enable;
use jp_llm::{Caller, Host, ToolDefinition, ToolError, registry::Listed};
use serde_json::{Value, json};

use super::{
    origin::{BROKEN, LOCKED},
    toggles::Toggles,
};
use crate::{
    commands::{JSON_VERSION, init::shown},
    error::CliError,
    exit::Exit,
    session::Session,
    text,
    ui::Ui,
    words,
};

/// The status of a tool with nothing behind it.
const UNBACKED: &str = "not set up";

/// Arguments of `jp tool list`.
#[derive(Debug, Args)]
#[command(after_help = "\
STATUS says who decides that a call runs, or why none does:
  ask          you are asked before each call
  unattended   nobody is asked
  edit         you can edit the arguments before each call
  skip         never; the model sees that
  denied       a call would be refused: `jp tool show NAME` says why
  disabled     the configuration says `enable = false`
  explicit     offered to a model only when it is asked for by its name
  locked       a tool of a registry that jp.lock pins and this machine has
               verified; `jp tool show NAME` says who decides
  not set up   nothing does what it asks jp for: the summary names the key of
               your configuration that says who does
  broken       it cannot work as it is: the summary says why, and `jp doctor`
               how to fix it

-t and -T turn tools on and off from left to right, and list what a model would
be offered then: `-t NAME` turns on one, also an explicit one; without a name
they turn all tools but explicit ones, those that are disabled and those that
are always on.

Examples:
  jp tool list
  jp tool list --offered
  jp tool list -T -t read             nothing but `read` and what is always on
  jp tool list --json | jq -r '.tools[].name'")]
pub(crate) struct ListArgs {
    /// List only what a model would be offered
    #[arg(long)]
    offered: bool,
    #[command(flatten)]
    toggles: Toggles,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists the tools.
pub(crate) fn run(args: &ListArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?.with_caller(Caller {
        selection: args.toggles.selection(),
        ..Caller::default()
    });
    let exit = session.ask_and_stop_servers(ui)?.unwrap_or(Exit::Done);
    if args.json || args.offered || args.toggles.are_set() {
        let mut tools = ToolDefinition::all(session.loaded(), session.host());
        tools.sort_by(|(a, _), (b, _)| a.cmp(b));
        args.toggles.check(&tools)?;
        if args.offered || args.toggles.are_set() {
            tools.retain(|(_, tool)| is_offered(tool, session.host()));
        }
        if args.json {
            let tools = tools.iter();
            let tools = tools.map(|(name, tool)| entry(name, tool, &session));
            let tools: Vec<Value> = tools.collect();
            ui.json(&json!({"version": JSON_VERSION, "tools": tools}))?;
            return Ok(exit);
        }
        let rows: Vec<_> = tools
            .iter()
            .map(|(name, tool)| row(name, tool, &session))
            .collect();
        ui.table(&["NAME", "SOURCE", "STATUS", "SUMMARY"], &rows)?;
        return Ok(exit);
    }
    let rows = rows(&session);
    if rows.is_empty() {
        ui.say(
            "There are no tools; add one as [conversation.tools.NAME] to .jp/config.toml, or install \
             one: `jp tool search WORD`.",
        );
        return Ok(exit);
    }
    ui.table(&["NAME", "SOURCE", "STATUS", "SUMMARY"], &rows)?;
    if session.host().is_no_workspace() {
        ui.say(format_args!(
            "{} is not a workspace, so tools see no files in it: jp's own files lie there.",
            shown(session.host().root())
        ));
        ui.hint("`jp init` makes a workspace: a directory whose files tools may see");
    }
    Ok(exit)
}

fn is_offered(tool: &Result<ToolDefinition, ToolError>, host: &Host) -> bool {
    tool.as_ref().is_ok_and(|tool| tool.is_offered(host))
}

/// Makes the rows of all tools. Of those that `jp.lock` pins no manifest is read: there can be many.
fn rows(session: &Session) -> Vec<Vec<String>> {
    let (loaded, host) = (session.loaded(), session.host());
    let mut rows = Vec::new();
    let mut known = BTreeSet::new();
    for (name, tool) in ToolDefinition::unsigned(loaded, host) {
        rows.push(row(&name, &tool, session));
        known.insert(name);
    }
    for tool in host
        .registry()
        .into_iter()
        .flat_map(|registry| registry.list(loaded, host.root()))
    {
        if known.insert(tool.name.to_string()) {
            rows.push(locked(&tool));
        }
    }
    for name in loaded.config.tooling.keys() {
        if known.insert(name.clone()) {
            rows.push(row(name, &ToolDefinition::new(name, loaded, host), session));
        }
    }
    rows.sort();
    rows
}

fn locked(tool: &Listed) -> Vec<String> {
    let cell = |text: &str, most| text::shorten(&text::one_line(text), most).into_owned();
    let (status, about) = match (&tool.problem, &tool.deprecated) {
        (Some(problem), _) => (BROKEN, problem.to_string()),
        (None, Some(reason)) => (LOCKED, format!("deprecated: {reason}")),
        (None, None) => (LOCKED, tool.summary.clone()),
    };
    vec![
        tool.name.to_string(),
        format!("registry {}", tool.version),
        status.to_owned(),
        cell(&about, 100),
    ]
}

fn row(name: &str, tool: &Result<ToolDefinition, ToolError>, session: &Session) -> Vec<String> {
    let cell = |text: &str, most| text::shorten(&text::one_line(text), most).into_owned();
    match tool {
        Ok(tool) => vec![
            cell(name, 40),
            cell(&tool.source.to_string(), 30),
            status(tool, session).to_owned(),
            match unbacked(tool, session) {
                Some(setting) => format!("needs `{setting}`: {}", cell(tool.summary(), 60)),
                None => cell(tool.summary(), 100),
            },
        ],
        Err(error) => vec![
            cell(name, 40),
            String::new(),
            BROKEN.to_owned(),
            cell(&error.to_string(), 100),
        ],
    }
}

/// Who decides that a call runs, in one word.
fn mode(tool: &ToolDefinition, host: &Host) -> &'static str {
    if !tool.is_enabled() {
        return "disabled";
    }
    if tool.enable() == Enable::Explicit && !tool.is_offered(host) {
        return "explicit";
    }
    match tool.preview(host) {
        Ok(preview) => words::run_mode(preview.run),
        Err(_) => "denied",
    }
}

/// What a tool's status is for people: who decides that it runs, unless nothing is there that would do it.
fn status(tool: &ToolDefinition, session: &Session) -> &'static str {
    let mode = mode(tool, session.host());
    match unbacked(tool, session) {
        Some(_) if mode != "disabled" => UNBACKED,
        _ => mode,
    }
}

/// Returns the key that has to be set before a tool can do anything: who does what it asks jp for.
fn unbacked(tool: &ToolDefinition, session: &Session) -> Option<&'static str> {
    let broker = &session.loaded().config.broker;
    let needed = [
        ("search.internet", "broker.search", broker.search.is_none()),
        ("llm.generate", "broker.llm", broker.llm.is_none()),
        (
            "coding.generate",
            "broker.coding",
            broker.coding.is_none() && broker.llm.is_none(),
        ),
        ("stt.transcribe", "broker.stt", broker.stt.is_none()),
    ];
    let mut names = tool.request.capabilities.brokered.names();
    // One that asks for other things too does those.
    let (name, None) = (names.next()?, names.next()) else {
        return None;
    };
    let mut missing = needed.into_iter().filter(|(_, _, is_missing)| *is_missing);
    let missing = missing.find(|(needs, ..)| *needs == name.as_str());
    missing.map(|(_, setting, _)| setting)
}

fn entry(name: &str, tool: &Result<ToolDefinition, ToolError>, session: &Session) -> Value {
    let host = session.host();
    let needs = tool.as_ref().ok().and_then(|tool| unbacked(tool, session));
    let mut entry = match tool {
        Ok(tool) => json!({
            "name": name,
            "source": tool.source.to_string(),
            "enabled": tool.is_enabled(),
            "offered": tool.is_offered(host),
            "run": mode(tool, host),
            "summary": tool.summary(),
            "parameters": tool.known_schema(),
        }),
        Err(error) => json!({"name": name, "error": error.to_string()}),
    };
    if let Some(setting) = needs {
        entry["needs"] = setting.into();
    }
    entry
}

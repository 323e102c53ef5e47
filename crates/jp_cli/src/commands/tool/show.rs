//! `jp tool show`.

use std::fmt::Write;

use clap::Args;
use jp_config::Layer;
use jp_llm::ToolDefinition;
use jp_policy::Limits;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    session::{Session, block_on},
    text,
    ui::Ui,
    words,
};

/// Arguments of `jp tool show`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  jp tool show learn\n  jp tool show learn --json | jq .parameters"
)]
pub(crate) struct ShowArgs {
    /// The tool
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows a tool.
pub(crate) fn run(args: &ShowArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let tool = block_on(defined(&args.name, &session))??;
    let sha256 = sha256(&tool, &session);
    if args.json {
        ui.json(&describe(&tool, sha256.as_deref(), &session))?;
    } else {
        ui.bytes(page(&tool, sha256.as_deref(), &session).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Finds a tool and lets it say what it is, where only the tool or its server knows.
async fn defined(name: &str, session: &Session) -> Result<ToolDefinition, CliError> {
    let asked = session.ask_server_of(name, &CancellationToken::new()).await;
    session.stop_servers().await;
    asked?;
    let mut tool = ToolDefinition::new(name, &session.loaded, &session.host)?;
    if let Some(described) = tool.described(&session.host).await?.cloned() {
        let docs = &mut tool.docs;
        docs.summary.get_or_insert(described.summary);
        docs.description = docs.description.take().or(described.description);
    }
    Ok(tool)
}

/// Returns the hash of the tool's Wasm file, if it has one that can be read.
#[cfg(feature = "wasm-tools")]
fn sha256(tool: &ToolDefinition, session: &Session) -> Option<String> {
    let tools = &session.loaded.config.conversation.tools.tools;
    let relative = tools.get(&tool.name)?.wasm()?;
    let path = jp_config::resolve_wasm(&session.workspace.root, relative).ok()?;
    jp_llm::sha256_file(&path).ok()
}

#[cfg(not(feature = "wasm-tools"))]
fn sha256(_: &ToolDefinition, _: &Session) -> Option<String> {
    None
}

fn describe(tool: &ToolDefinition, sha256: Option<&str>, session: &Session) -> Value {
    let preview = tool.preview(&session.host);
    let (grant, run, limits) = match &preview {
        Ok(preview) => (
            Some(preview.grant.capabilities().to_string()),
            words::run_mode(preview.run),
            Some(limits(preview.grant.limits())),
        ),
        Err(_) => (None, "denied", None),
    };
    json!({
        "version": JSON_VERSION,
        "name": tool.name,
        "source": tool.source.to_string(),
        "enabled": tool.is_enabled(),
        "run": run,
        "summary": tool.docs.summary,
        "description": tool.docs.description,
        "examples": tool.docs.examples,
        "parameters": tool.known_schema(),
        "request": tool.request.capabilities.to_string(),
        "grant": grant,
        "limits": limits,
        "denied": preview.err().map(|error| error.to_string()),
        "wasm": tool.wasm,
        "sha256": sha256,
    })
}

fn limits(limits: &Limits) -> Value {
    json!({
        "time_ms": u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX),
        "memory_bytes": limits.memory_bytes,
        "output_bytes": limits.output_bytes,
        "fuel": limits.fuel,
        "open_files": limits.open_files,
    })
}

fn page(tool: &ToolDefinition, sha256: Option<&str>, session: &Session) -> String {
    let mut out = String::new();
    let mut field = |name: &str, value: &str| {
        let value = text::escape(value.trim_end()).replace('\n', "\n             ");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name:<12} {value}");
    };
    field("name", &tool.name);
    let by = match tool.defined_by {
        Layer::User => "",
        Layer::Workspace => " (defined by this workspace)",
    };
    field("source", &format!("{}{by}", tool.source));
    let texts = [
        ("summary", &tool.docs.summary),
        ("description", &tool.docs.description),
        ("examples", &tool.docs.examples),
        ("wasm", &tool.wasm),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            field(name, text);
        }
    }
    if let Some(sha256) = sha256 {
        field("sha256", sha256);
    }
    let config = session
        .loaded
        .config
        .conversation
        .tools
        .tools
        .get(&tool.name);
    if let Some(command) = config.and_then(|config| config.command()) {
        field("command", &words::command(command));
    }
    field(
        "asks for",
        &words::capabilities(&tool.request.capabilities).join("; "),
    );
    match tool.preview(&session.host) {
        Ok(preview) => {
            field(
                "gets",
                &words::capabilities(preview.grant.capabilities()).join("; "),
            );
            field("limits", &words::limits(&preview.grant));
            field("runs", words::run_mode(preview.run));
        }
        Err(error) => {
            field("denied", &error.to_string());
            if let Some(hint) = error.hint() {
                field("hint", &hint);
            }
        }
    }
    if !tool.is_enabled() {
        field("disabled", "set `enable = true` for the tool");
    }
    field("parameters", &format!("{:#}", tool.known_schema()));
    out
}

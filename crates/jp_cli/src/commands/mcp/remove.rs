//! `jp mcp remove`.

use std::path::Path;

use clap::Args;
use jp_config::{Layer, Loaded, tool::ToolSource};
use jp_llm::broker::open_secrets;
use serde_json::json;

use super::{file, wanted::written};
use crate::{
    commands::JSON_VERSION, error::CliError, exit::Exit, places, session::sources, text, ui::Ui,
};

/// Arguments of `jp mcp remove`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jp mcp remove forge")]
pub(crate) struct RemoveArgs {
    /// Its name
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Removes a server.
pub(crate) fn run(args: &RemoveArgs, ui: &Ui) -> Result<Exit, CliError> {
    let workspace = places::workspace(ui)?;
    let loaded = jp_config::load(&sources(&workspace, ui))?;
    let name = args.name.as_str();
    if loaded.config.providers.mcp.get(name).is_none() {
        return Err(super::unknown(name, &loaded));
    }
    let tools = tools(name, &loaded);
    let mut removed = Vec::new();
    for project in [false, true] {
        let file = file(project, ui)?;
        if take_out(name, &tools, &file)? {
            removed.push(file);
        }
    }
    let [first, ..] = removed.as_slice() else {
        return Err(elsewhere(name, &loaded));
    };
    let left = jp_config::load(&sources(&workspace, ui))?;
    if left.config.providers.mcp.get(name).is_some() {
        return Err(elsewhere(name, &left));
    }
    let secrets = secrets(name);
    if args.json {
        ui.json(
            &json!({"version": JSON_VERSION, "removed": name, "files": removed,
            "secrets": secrets}),
        )?;
        return Ok(Exit::Done);
    }
    ui.say(format_args!(
        "Removed MCP server {} from {}.",
        text::one_line(name),
        written(first)
    ));
    for secret in secrets {
        ui.hint(&format!(
            "`jp secret rm {secret}` forgets its secret, if nothing else needs it"
        ));
    }
    Ok(Exit::Done)
}

/// Says where a server is configured that is in none of the two files.
fn elsewhere(name: &str, loaded: &Loaded) -> CliError {
    let files: Vec<String> = loaded.files.iter().map(|file| written(file)).collect();
    let whose = match loaded.server_defined_by(name) {
        Layer::User => "your own configuration",
        Layer::Workspace => "this workspace",
    };
    CliError::Usage {
        message: format!("cannot remove MCP server `{name}`: a further file of {whose} has it"),
        hint: Some(format!(
            "take `[providers.mcp.{name}]` out of the right one of {}",
            files.join(", ")
        )),
    }
}

/// Returns the keys of the entries of its tools.
fn tools(server: &str, loaded: &Loaded) -> Vec<String> {
    let tools = loaded.config.conversation.tools.tools.iter();
    let ours = tools.filter(
        |(_, tool)| matches!(&tool.source, ToolSource::Mcp { server: of, .. } if of == server),
    );
    ours.map(|(id, _)| id.clone()).collect()
}

/// Takes a server and its tools out of a file, as far as it has them.
fn take_out(name: &str, tools: &[String], file: &Path) -> Result<bool, CliError> {
    let key = |parts: [&str; 3]| parts.map(str::to_owned).to_vec();
    let mut keys = vec![key(["providers", "mcp", name])];
    keys.extend(
        tools
            .iter()
            .map(|tool| key(["conversation", "tools", tool])),
    );
    let mut has = false;
    for key in keys {
        if !jp_config::holds(file, &key)? {
            continue;
        }
        has = true;
        jp_config::unset(file, &key)?;
    }
    Ok(has)
}

/// Returns the secrets that are meant for the server alone.
fn secrets(name: &str) -> Vec<String> {
    let store = places::own()
        .broker()
        .ok()
        .map(|places| open_secrets(&places));
    let Some(Ok(store)) = store else {
        return Vec::new();
    };
    let secrets = store.list().unwrap_or_default().into_iter();
    let ours = secrets.filter(|secret| secret.audience.iter().all(|to| to.is_server(name)));
    ours.map(|secret| secret.name.to_string()).collect()
}

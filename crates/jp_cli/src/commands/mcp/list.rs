//! `jp mcp list`.

use clap::Args;
use jp_config::{Layer, McpProviderConfig};
use jp_llm::{McpTools, broker::Reach};
use serde_json::{Value, json};

use crate::{
    commands::JSON_VERSION, error::CliError, exit::Exit, session::Session, text, ui::Ui, words,
};

/// Arguments of `jp mcp list`.
#[derive(Debug, Args)]
#[command(after_help = "\
TOOLS is how many tools the server told of when it was asked last; no server is
started for this list. `jp tool list` asks all of them.

Examples:
  jp mcp list
  jp mcp list --json | jq -r '.servers[].name'")]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists the servers.
pub(crate) fn run(args: &ListArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let servers = session.loaded().config.providers.mcp.iter();
    let mut servers: Vec<Server<'_>> = servers
        .map(|(name, config)| Server::of(name, config, &session))
        .collect();
    servers.sort_by_key(|server| server.name);
    if args.json {
        let servers: Vec<Value> = servers.iter().map(Server::json).collect();
        ui.json(&json!({"version": JSON_VERSION, "servers": servers}))?;
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        ui.say("No MCP servers.");
        ui.hint("`jp mcp import` adds those that other clients know; `jp mcp add` adds one");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = servers.iter().map(Server::row).collect();
    ui.table(&["NAME", "FROM", "TOOLS", "REACHED"], &rows)?;
    for server in &servers {
        if let Some(reason) = &server.refused {
            ui.warning(&format!(
                "MCP server {} may not be used: {reason}",
                server.name
            ));
        }
    }
    Ok(Exit::Done)
}

struct Server<'a> {
    name: &'a str,
    from: &'static str,
    tools: Option<Vec<String>>,
    reached: String,
    may: Vec<String>,
    refused: Option<String>,
}

impl<'a> Server<'a> {
    fn of(name: &'a str, config: &McpProviderConfig, session: &Session) -> Self {
        let mcp = session.host().mcp().map(AsRef::as_ref);
        let told = mcp.and_then(|mcp: &McpTools| mcp.told(name));
        let reach = mcp.and_then(|mcp| Some(&mcp.servers().get(name)?.reach));
        let program = config.command.iter().chain(&config.arguments);
        let program: Vec<&str> = program.map(String::as_str).collect();
        let mut wanted = config.request().capabilities;
        wanted.subprocess = false;
        Self {
            name,
            from: match session.loaded().server_defined_by(name) {
                Layer::User => "you",
                Layer::Workspace => "this workspace",
            },
            tools: told.map(|told| {
                let tools = told.tools.iter();
                tools.map(|tool| tool.name.clone()).collect()
            }),
            reached: config.url.clone().unwrap_or_else(|| program.join(" ")),
            may: words::capabilities(&wanted),
            refused: match reach {
                Some(Reach::Refused { reason }) => Some(reason.clone()),
                _ => None,
            },
        }
    }

    fn row(&self) -> Vec<String> {
        let tools = match (&self.refused, &self.tools) {
            (Some(_), _) => "refused".to_owned(),
            (None, Some(tools)) => tools.len().to_string(),
            (None, None) => "not asked yet".to_owned(),
        };
        vec![
            text::one_line(self.name),
            self.from.to_owned(),
            tools,
            text::short_line(&self.reached, 200),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "from": self.from,
            "reached": self.reached,
            "may": self.may,
            "tools": self.tools,
            "refused": self.refused,
        })
    }
}

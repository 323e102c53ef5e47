//! `jp tool lock`: makes `jp.lock` say what the workspace names, tools of MCP servers included.

use std::collections::BTreeMap;

use clap::Args;
use jp_config::tool::{ToolConfig, ToolSource};
use jp_llm::{McpTools, runtime::mcp::Defined};
use jp_registry::{Installer, McpPin, McpTool, Mode};
use tokio_util::sync::CancellationToken;

use super::{
    install::{self, Changing, listen},
    installed::Report,
};
use crate::{
    error::CliError,
    exit::Exit,
    session::{Session, block_on},
    text,
    ui::Ui,
};

/// Arguments of `jp tool lock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Installs what [tooling] names and jp.lock does not have in a version that fits,
verifies what it has, and pins what comes with the workspace and what the tools
of MCP servers show the model: from then on a file that is swapped, or a server
that changes a description or a schema, is stopped until you have looked at the
difference.

Examples:
  jp tool lock             bring jp.lock up to date
  jp tool lock --locked    fail if that would change it
  jp tool lock --yes       accept what changed")]
pub(crate) struct LockArgs {
    #[command(flatten)]
    changing: Changing,
}

/// Brings the lock file up to date.
pub(crate) fn run(args: &LockArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let changing = args.changing;
    let mut installer = changing.installer(&session, &interrupts.cancel, ui)?;
    let mut report = Report::new(changing.is_json(), ui);
    install::lock_all(&session, &mut installer, &mut report)?;
    let nothing = report.is_empty();
    let servers = pin_servers(&session, &installer, &interrupts.cancel, ui)?;
    if nothing && servers == Pinned::None {
        ui.say("The workspace names no tools of registries, of its own or of MCP servers.");
        return Ok(Exit::Done);
    }
    let exit = if nothing {
        Exit::Done
    } else {
        report.finish()?
    };
    Ok(match (exit, servers) {
        (Exit::Done, Pinned::Refused(why)) => why,
        (exit, _) => exit,
    })
}

/// What became of the tools of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pinned {
    /// There are none.
    None,
    /// All are as they were, or accepted.
    All,
    /// Some were not accepted, or could not be looked at.
    Refused(Exit),
}

/// Pins what the tools of MCP servers show the model.
fn pin_servers(
    session: &Session,
    installer: &Installer<'_>,
    cancel: &CancellationToken,
    ui: &Ui,
) -> Result<Pinned, CliError> {
    let Some(mcp) = session.host().mcp().filter(|_| session.needs_servers()) else {
        return Ok(Pinned::None);
    };
    if installer.mode == Mode::Offline {
        return Ok(Pinned::None);
    }
    let silent = block_on(async {
        let silent = session.ask_servers(cancel).await;
        session.stop_servers().await;
        silent
    })?;
    if cancel.is_cancelled() {
        return Ok(Pinned::Refused(Exit::Cancelled));
    }
    // "Nothing changed" must not be the answer for a server that was not asked.
    let mut result = match installer.mode {
        Mode::Locked if !silent.is_empty() => Pinned::Refused(Exit::SaidNo),
        _ => Pinned::All,
    };
    for unlisted in silent {
        ui.warning(&unlisted.error.to_string());
    }
    for (server, defined) in by_server(session, mcp, ui) {
        let tools: Vec<McpTool<'_>> = defined
            .iter()
            .map(|tool| McpTool {
                name: &tool.tool.tool,
                shown: &tool.shown,
            })
            .collect();
        match installer.accept_mcp(server, &tools) {
            Ok(pins) => {
                let new = pins.iter().filter(|pin| **pin != McpPin::Same).count();
                if new > 0 {
                    let server = text::one_line(server);
                    ui.say(format_args!("Pinned {new} tool(s) of MCP server {server}."));
                }
            }
            Err(error) => {
                let shown = CliError::install(error);
                ui.error(&shown.to_string(), shown.hint().as_deref());
                result = Pinned::Refused(shown.exit());
            }
        }
    }
    Ok(result)
}

/// Collects the configured tools of each server, as the server describes them.
fn by_server<'a>(session: &'a Session, mcp: &McpTools, ui: &Ui) -> BTreeMap<&'a str, Vec<Defined>> {
    let mut servers: BTreeMap<&str, Vec<Defined>> = BTreeMap::new();
    let tools = &session.loaded().config.conversation.tools;
    let mut add =
        |name: &str, server: &'a str, tool: &ToolConfig| match mcp.define(name, server, tool) {
            Ok(defined) => servers.entry(server).or_default().push(defined),
            Err(error) => ui.warning(&error.to_string()),
        };
    for (name, tool) in &tools.tools {
        let is_family = tools.families().any(|family| family.key == name);
        match &tool.source {
            ToolSource::Mcp { server, .. } if !is_family => add(name, server, tool),
            _ => {}
        }
    }
    for family in tools.families() {
        let told = mcp.told(family.server);
        for told in told.iter().flat_map(|told| &told.tools) {
            let id = family.id(&told.name);
            if !tools.names(family.server, &told.name)
                && let Some(config) = tools.get_of_family(&id)
            {
                add(&id, family.server, config.tool());
            }
        }
    }
    servers
}

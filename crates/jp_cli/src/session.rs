//! What nearly every command starts with: an open workspace.

use std::{env, ops::Deref};

use jp_config::Sources;
use jp_host::{Location, Opening, Workspace};
use jp_llm::{Caller, PreparedTool, ToolDefinition, broker::McpError};
use tokio_util::sync::CancellationToken;

use crate::{error::CliError, exit::Exit, places, ui::Ui};

/// The workspace of a command.
pub(crate) struct Session(Workspace);

impl Deref for Session {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.0
    }
}

impl Session {
    /// Opens the workspace, and shows what its writers may want to know.
    pub(crate) fn open(ui: &Ui) -> Result<Self, CliError> {
        let opened = opening(places::workspace(ui)?, ui).open(&places::own())?;
        for warning in &opened.loaded().warnings {
            ui.warning(&warning.to_string());
        }
        Ok(Self(opened))
    }

    /// Opens the workspace and says nothing about it.
    pub(crate) fn open_quietly(ui: &Ui) -> Result<Self, CliError> {
        let location = jp_host::Location::find(ui.global.dir.as_deref())?;
        Ok(Self(opening(location, ui).open(&places::own())?))
    }

    /// Says who makes calls.
    pub(crate) fn with_caller(self, caller: Caller) -> Self {
        Self(self.0.with_host(|host| host.for_caller(caller)))
    }

    /// Opens the audit log. Every command that runs tools must.
    pub(crate) fn audited(self) -> Result<Self, CliError> {
        Ok(Self(self.0.audited(&places::own())?))
    }

    /// Says how far the user trusts the workspace, as of now.
    pub(crate) fn trusted_as(self, trust: jp_llm::Trust) -> Self {
        Self(
            self.0
                .with_host(|host| host.into_builder().trust(trust).build()),
        )
    }

    /// Finds a tool and lets it say what it is, where only the tool or its server knows.
    pub(crate) async fn told_tool(&self, name: &str) -> Result<PreparedTool, CliError> {
        let asked = self.ask_server_of(name, &CancellationToken::new()).await;
        self.stop_servers().await;
        asked.map_err(CliError::Server)?;
        let tool = ToolDefinition::new(name, self.loaded(), self.host())?.prepare();
        tool.described(self.host()).await?;
        Ok(tool)
    }

    /// Asks the MCP servers of all tools what their tools are. Those that do not answer are reported;
    /// with how the command ends if one of them does not work that is not `optional`.
    pub(crate) fn ask_and_stop_servers(&self, ui: &Ui) -> Result<Option<Exit>, CliError> {
        if !self.needs_servers() {
            return Ok(None);
        }
        let silent = block_on(async {
            let silent = self.ask_servers(&CancellationToken::new()).await;
            self.stop_servers().await;
            silent
        })?;
        let mut exit = None;
        for unlisted in silent {
            let refused = matches!(unlisted.error, McpError::Refused { .. });
            if unlisted.optional || refused {
                ui.warning(&unlisted.error.to_string());
                continue;
            }
            let error = CliError::Server(unlisted.error);
            exit.get_or_insert(error.exit());
            let hint = format!(
                "`optional = true` under `[providers.mcp.{}]` lets jp go on without it",
                unlisted.server
            );
            ui.error(&error.to_string(), Some(&hint));
        }
        Ok(exit)
    }
}

/// Returns where the configuration of a workspace is read from.
pub(crate) fn sources(location: &Location, ui: &Ui) -> Sources {
    opening(location.clone(), ui).sources(&places::own())
}

/// Says how the command line wants a workspace to be opened.
pub(crate) fn opening(location: Location, ui: &Ui) -> Opening {
    let warned = ui.clone();
    Workspace::at(location)
        .configured_with(ui.global.config.clone(), ui.global.cfg.clone())
        .environment(env::vars_os(), |name| env::var_os(name))
        .warning(move |problem| warned.warning(problem))
}

/// Runs a future on this thread; file operations and guests share it, which saves every hand-over.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // A guest that computes yields every millisecond; timers must be looked at each time.
        .event_interval(1)
        .build()
        .map_err(|source| CliError::System {
            what: "cannot start".to_owned(),
            source,
        })?;
    let result = runtime.block_on(work);
    // A thread may still wait for a key; nobody waits for that thread.
    runtime.shutdown_background();
    Ok(result)
}

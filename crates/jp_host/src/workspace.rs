//! An open workspace: its configuration, its tools, and calls of them.

use std::sync::Arc;

use jp_audit::Options;
use jp_config::{Loaded, tool::ToolSource};
use jp_llm::{Call, Executed, Host, ToolDefinition, ToolError, Unlisted, broker::McpError};
use jp_policy::{Ceilings, Policy};
use tokio_util::sync::CancellationToken;

use crate::{Location, OpenError, Places};

/// A workspace as it was when it was opened. Calls may be made from many threads at once.
pub struct Workspace {
    location: Location,
    loaded: Loaded,
    host: Host,
    audit: Options,
}

/// Why a call was not made.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The MCP server of the tool does not answer.
    #[error(transparent)]
    Server(McpError),
    /// There is no such tool, or its configuration cannot work.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Workspace {
    pub(crate) fn new(location: Location, loaded: Loaded, host: Host) -> Self {
        Self {
            location,
            loaded,
            host,
            audit: Options::default(),
        }
    }

    /// Says how the log will be kept.
    pub(crate) fn audited_with(self, audit: Options) -> Self {
        Self { audit, ..self }
    }

    /// Returns where it is.
    #[must_use]
    pub const fn location(&self) -> &Location {
        &self.location
    }

    /// Returns its configuration.
    #[must_use]
    pub const fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Returns the host that its calls run on, for a caller without a name whom nobody can ask;
    /// [`Host::for_caller`] makes that of another.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Records every call from now on. A front that runs tools must call this.
    ///
    /// # Errors
    ///
    /// When the audit log cannot be opened.
    pub fn audited(mut self, places: &Places) -> Result<Self, OpenError> {
        let log = Arc::new(places.open_log(self.audit.clone())?);
        self.host = self.host.into_builder().audit(log).build();
        Ok(self)
    }

    /// Lets other things be put into the host.
    #[must_use]
    pub fn with_host(mut self, change: impl FnOnce(Host) -> Host) -> Self {
        self.host = change(self.host);
        self
    }

    /// Returns what the workspace allows the tools it takes from others.
    #[must_use]
    pub fn app_policy(&self) -> Policy {
        Policy {
            capabilities: self.loaded.config.app_capabilities(),
            ceilings: Ceilings::default(),
        }
    }

    /// Returns all tools, as one caller has them. One whose configuration cannot work is an error in
    /// its place. Nothing is compiled and no server is started for it.
    pub fn tools(&self, host: &Host) -> impl Iterator<Item = Result<ToolDefinition, ToolError>> {
        let all = ToolDefinition::all(&self.loaded, host);
        all.into_iter().map(|(_, tool)| tool)
    }

    /// Finds a tool for a call and makes it. A tool of an MCP server is asked for there first.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or it cannot be had. Such a call leaves a record too.
    pub async fn call(&self, tool: &str, call: Call, host: &Host) -> Result<Executed, CallError> {
        let tool = self.find(tool, &call, host).await?;
        Ok(tool.execute_detailed(call, host).await)
    }

    /// Finds the tool of a call.
    ///
    /// # Errors
    ///
    /// As [`Workspace::call`].
    pub async fn find(
        &self,
        tool: &str,
        call: &Call,
        host: &Host,
    ) -> Result<ToolDefinition, CallError> {
        let asked = self.ask_server_of(tool, &call.cancel).await;
        // Looked for all the same when the server does not answer: a call that fails leaves a record.
        let found = ToolDefinition::for_call(tool, call, &self.loaded, host).await;
        asked.map_err(CallError::Server)?;
        Ok(found?)
    }

    /// Asks the MCP server of a tool what its tools are, if the tool is one of a server.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub async fn ask_server_of(
        &self,
        tool: &str,
        cancel: &CancellationToken,
    ) -> Result<(), McpError> {
        let config = self.loaded.config.conversation.tools.get(tool);
        let (Some(config), Some(mcp)) = (config, self.host.mcp()) else {
            return Ok(());
        };
        let ToolSource::Mcp { server, .. } = config.source() else {
            return Ok(());
        };
        mcp.list(server, cancel).await.map(|_| ())
    }

    /// Returns whether a tool of the configuration is one of an MCP server.
    #[must_use]
    pub fn needs_servers(&self) -> bool {
        let needed = |mcp: &Arc<jp_llm::McpTools>| mcp.are_needed(&self.loaded);
        self.host.mcp().is_some_and(needed)
    }

    /// Asks the MCP servers of all tools what their tools are, and returns those that do not answer.
    pub async fn ask_servers(&self, cancel: &CancellationToken) -> Vec<Unlisted> {
        match self.host.mcp() {
            Some(mcp) if mcp.are_needed(&self.loaded) => mcp.prepare(&self.loaded, cancel).await,
            _ => Vec::new(),
        }
    }

    /// Ends the MCP servers that were started.
    pub async fn stop_servers(&self) {
        if let Some(mcp) = self.host.mcp() {
            mcp.servers().stop().await;
        }
    }
}

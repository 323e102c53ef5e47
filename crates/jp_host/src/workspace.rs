//! An open workspace: its configuration, its tools, and calls of them.

use std::sync::Arc;

use jp_audit::Options;
use jp_config::{Loaded, tool::ToolSource};
use jp_llm::{
    Call, Executed, Host, PreparedTool, ToolDefinition, ToolError, Unlisted, broker::McpError,
};
use jp_policy::{Ceilings, Policy};
use tokio_util::sync::CancellationToken;

use crate::{Here, Location, OpenError, Places, prepared::Prepared};

/// A workspace as it was when it was opened. Calls may be made from many threads at once.
pub struct Workspace {
    location: Location,
    loaded: Loaded,
    host: Host,
    audit: Options,
    prepared: Prepared,
    approvals: Option<Here>,
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
    pub(crate) fn new(
        location: Location,
        loaded: Loaded,
        host: Host,
        approvals: Option<Here>,
    ) -> Self {
        Self {
            location,
            loaded,
            host,
            audit: Options::default(),
            prepared: Prepared::default(),
            approvals,
        }
    }

    /// Returns what the user decided about calls in this workspace, where that can be remembered.
    #[must_use]
    pub const fn approvals(&self) -> Option<&Here> {
        self.approvals.as_ref()
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
    pub fn audited(self, places: &Places) -> Result<Self, OpenError> {
        let log = Arc::new(places.open_log(self.audit.clone())?);
        Ok(self.with_host(|host| host.into_builder().audit(log).build()))
    }

    /// Lets other things be put into the host.
    #[must_use]
    pub fn with_host(mut self, change: impl FnOnce(Host) -> Host) -> Self {
        self.host = change(self.host);
        self.prepared = Prepared::default();
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
    pub fn tools(&self, host: &Host) -> impl Iterator<Item = Result<Arc<PreparedTool>, ToolError>> {
        let names = ToolDefinition::names(&self.loaded, host).into_iter();
        names.map(|name| match self.prepared(&name, host) {
            Some(tool) => Ok(tool),
            None => {
                let made = ToolDefinition::new(&name, &self.loaded, host);
                made.map(|tool| self.keep(&name, tool, host))
            }
        })
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

    /// Finds the tool of a call. One that was found before is the same, with all that was compiled for
    /// it, unless its files or what its server tells of it have changed since.
    ///
    /// # Errors
    ///
    /// As [`Workspace::call`].
    pub async fn find(
        &self,
        tool: &str,
        call: &Call,
        host: &Host,
    ) -> Result<Arc<PreparedTool>, CallError> {
        // What a server tells may have changed, so that is asked first.
        let of_server = |tool: &Arc<PreparedTool>| matches!(tool.source, ToolSource::Mcp { .. });
        if let Some(known) = self.prepared(tool, host).filter(|tool| !of_server(tool)) {
            return Ok(known);
        }
        let asked = self.ask_server_of(tool, &call.cancel).await;
        // Looked for all the same when the server does not answer: a call that fails leaves a record.
        let known = asked.is_ok().then(|| self.prepared(tool, host)).flatten();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = ToolDefinition::for_call(tool, call, &self.loaded, host).await;
        asked.map_err(CallError::Server)?;
        Ok(self.keep(tool, found?, host))
    }

    /// Returns a tool that was prepared before for callers of the same host.
    fn prepared(&self, name: &str, host: &Host) -> Option<Arc<PreparedTool>> {
        let ours = self.host.shares_all_with(host);
        ours.then(|| self.prepared.get(name, host)).flatten()
    }

    /// Prepares a tool, and keeps it for callers of the same host.
    fn keep(&self, name: &str, tool: ToolDefinition, host: &Host) -> Arc<PreparedTool> {
        let tool = Arc::new(tool.prepare());
        if self.host.shares_all_with(host) {
            self.prepared.keep(name, Arc::clone(&tool));
        }
        tool
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
        let config = self.loaded.config.conversation.tools.find(tool);
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

    /// Waits until MCP servers say that their tools changed, and asks them again; for ever where there are
    /// none. One caller waits at a time.
    pub async fn servers_changed(&self, cancel: &CancellationToken) {
        match self.host.mcp() {
            Some(mcp) => mcp.changed(cancel).await,
            None => std::future::pending().await,
        }
    }

    /// Returns a number that differs when what MCP servers have told of their tools does.
    #[must_use]
    pub fn servers_told(&self) -> u64 {
        self.host.mcp().map_or(0, |mcp| mcp.times_told())
    }

    /// Asks those MCP servers what their tools are that have never told it. The others are not started.
    pub async fn ask_unknown_servers(&self, cancel: &CancellationToken) -> Vec<Unlisted> {
        match self.host.mcp() {
            Some(mcp) => mcp.prepare_unknown(&self.loaded, cancel).await,
            None => Vec::new(),
        }
    }

    /// Ends the MCP servers that were started.
    pub async fn stop_servers(&self) {
        if let Some(mcp) = self.host.mcp() {
            mcp.servers().stop().await;
        }
    }
}

//! What nearly every command starts with: the workspace, its configuration, and a host for calls.

use std::{env, sync::Arc};

use jp_audit::{Log, Options};
use jp_config::{Loaded, Sources, load, tool::ToolSource};
use jp_confine::Launcher;
use jp_llm::{
    Host, LazyBroker, McpTools, Trust, TrustStore,
    broker::{self, McpError, McpExchange, Means},
};

use jp_policy::{Ceilings, Policy};
use tokio_util::sync::CancellationToken;

use crate::{
    error::CliError,
    exit::Exit,
    places::{self, Workspace},
    registry,
    ui::Ui,
};

/// A loaded workspace.
pub(crate) struct Session {
    pub(crate) workspace: Workspace,
    pub(crate) loaded: Loaded,
    pub(crate) host: Host,
}

impl Session {
    /// Loads the configuration and makes a host. Engines are made when they are first needed.
    pub(crate) fn open(ui: &Ui) -> Result<Self, CliError> {
        let workspace = Workspace::open(ui)?;
        places::check_config_dir()?;
        let loaded = load(&sources(&workspace, ui))?;
        for warning in &loaded.warnings {
            ui.warning(&warning.to_string());
        }
        let mut host = host(&workspace, &loaded, ui)?;
        host.trust = trust(&workspace, &loaded)?;
        outward(&mut host, &loaded);
        let mut session = Self {
            workspace,
            loaded,
            host,
        };
        session.host.registry = registry::tools(&session)?.map(Arc::new);
        Ok(session)
    }

    /// Returns what the workspace allows the tools it takes from others.
    pub(crate) fn app_policy(&self) -> Policy {
        Policy {
            capabilities: self.loaded.config.app_capabilities(),
            ceilings: Ceilings::default(),
        }
    }

    /// Asks the MCP server of a tool what its tools are, if the tool is one of a server.
    pub(crate) async fn ask_server_of(
        &self,
        tool: &str,
        cancel: &CancellationToken,
    ) -> Result<(), CliError> {
        let config = self.loaded.config.conversation.tools.get(tool);
        let (Some(config), Some(mcp)) = (config, &self.host.mcp) else {
            return Ok(());
        };
        let ToolSource::Mcp { server, .. } = config.source() else {
            return Ok(());
        };
        let listed = mcp.list(server, cancel).await;
        listed.map(|_| ()).map_err(CliError::Server)
    }

    /// Asks the MCP servers of all tools what their tools are. Those that do not answer are told of;
    /// with how the command ends if one of them does not work that is not `optional`.
    pub(crate) fn ask_servers(&self, ui: &Ui) -> Result<Option<Exit>, CliError> {
        let Some(mcp) = self
            .host
            .mcp
            .as_ref()
            .filter(|mcp| mcp.are_needed(&self.loaded))
        else {
            return Ok(None);
        };
        let silent = block_on(async {
            let silent = mcp.prepare(&self.loaded, &CancellationToken::new()).await;
            mcp.servers().stop().await;
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

    /// Ends the MCP servers that were started.
    pub(crate) async fn stop_servers(&self) {
        if let Some(mcp) = &self.host.mcp {
            mcp.servers().stop().await;
        }
    }

    /// Opens the audit log. Whoever runs tools must.
    pub(crate) fn audit(&mut self) -> Result<(), CliError> {
        let log = Log::open(&places::audit_dir()?, Options::default())?;
        self.host.audit = Some(Arc::new(log));
        Ok(())
    }
}

/// Returns where the configuration of a workspace is read from.
pub(crate) fn sources(workspace: &Workspace, ui: &Ui) -> Sources {
    let ours = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let name = name.into_string().ok()?;
        let value = value.into_string().ok()?;
        name.starts_with("JP_CFG_").then_some((name, value))
    };
    Sources {
        user_config_dir: places::config_dir(),
        workspace_root: Some(workspace.root.clone()),
        cwd: workspace.cwd.clone(),
        files: ui.global.config.clone(),
        env: env::vars_os().filter_map(ours).collect(),
        assignments: ui.global.cfg.clone(),
    }
}

#[cfg_attr(
    not(feature = "wasm-tools"),
    expect(unused_variables, reason = "only the runtime of Wasm tools warns")
)]
fn host(workspace: &Workspace, loaded: &Loaded, ui: &Ui) -> Result<Host, CliError> {
    let config = loaded.config.policy.clone().unwrap_or_default();
    let policy = config.to_policy().map_err(|error| CliError::Policy {
        reason: error.to_string(),
    })?;
    let mut host = Host::new(workspace.root.clone(), policy);
    host.unconfined = config.unconfined;
    host.command_memory = config.command_memory.map(|size| size.0);
    host.knowledge = loaded.config.kb.clone();
    host.places = places::granted(&workspace.root);
    host.temp_dir = places::cache_dir().map(|cache| cache.join("tmp"));
    host.variable = Arc::new(|name| env::var_os(name));
    // Without a launcher commands are refused, with the reason.
    host.launcher = Launcher::current_exe().ok().map(Arc::new);
    #[cfg(feature = "wasm-tools")]
    {
        let runtime = jp_llm::LazyRuntime::new(jp_llm::RuntimeOptions {
            allocation: jp_llm::Allocation::OnDemand,
            cache_dir: places::code_dir(),
            spares: 0,
        });
        let ui = ui.clone();
        host.wasm = runtime.warning(move |problem| {
            ui.warning(&format!("{problem}; tools are compiled anew each time"));
        });
    }
    Ok(host)
}

/// Sets up what reaches beyond this process: MCP servers and the broker. Nothing is started or opened
/// before it is needed.
fn outward(host: &mut Host, loaded: &Loaded) {
    let Ok(places) = places::broker() else {
        return;
    };
    let means = Means {
        launcher: host.launcher.clone(),
        unconfined: host.unconfined,
        http: Some(Arc::new(McpExchange::new(broker::secret_source(&places)))),
        ..Means::default()
    };
    let tools = McpTools::new(loaded, host, means.clone(), &|name| env::var_os(name));
    let tools = Arc::new(tools);
    host.mcp = Some(Arc::clone(&tools));
    let config = loaded.config.broker.clone();
    host.broker = LazyBroker::new(move || {
        let servers = Arc::clone(tools.servers());
        broker::open(&config, &places, Some(servers), means.clone())
    });
}

fn trust(workspace: &Workspace, loaded: &Loaded) -> Result<Trust, CliError> {
    match places::trust_file() {
        Ok(file) => Ok(TrustStore::open(&file)?.check(&workspace.root, loaded)),
        // Nobody has a place to remember trust in, so nothing is trusted.
        Err(_) => Ok(Trust::Untrusted),
    }
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

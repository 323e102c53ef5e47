//! The configured servers: under which grant each runs, and what their tools are.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use jp_broker::mcp::{
    Algorithm, Checksum, HttpServer, McpError, Means, Program, Reach, Server, Servers, Tools,
};
use jp_config::{
    ChecksumAlgorithm, Layer, Loaded, McpProviderConfig,
    tool::{Enable, ToolConfig, ToolConfigWithDefaults, ToolSource},
};
use jp_policy::{Capabilities, Denied, Grant, compose};
use tokio_util::sync::CancellationToken;

use super::{Described, ServerTool, describe};
use crate::{Host, ToolDocs, ToolError, places, tool::HostError};

/// The servers of a configuration, and the tools they have told of.
pub struct McpTools {
    servers: Arc<Servers>,
    optional: BTreeSet<String>,
    requests: BTreeMap<String, Capabilities>,
    listed: RwLock<BTreeMap<String, Arc<Tools>>>,
    /// What each server is, as the memory knows it; nothing of one that may not be used.
    known_as: BTreeMap<String, String>,
    memory: Arc<dyn ToldMemory>,
}

/// Remembers what servers told of their tools when they were asked last, so that nobody has to start one
/// to list them. What is remembered is only shown: before a call its server is asked.
pub trait ToldMemory: Send + Sync {
    /// Returns what was kept of a server.
    fn recall(&self, server: &str) -> Option<Tools>;

    /// Keeps what a server told. That it cannot be kept stops nothing.
    fn keep(&self, server: &str, tools: &Tools);
}

/// Remembers nothing.
struct NoMemory;

impl ToldMemory for NoMemory {
    fn recall(&self, _: &str) -> Option<Tools> {
        None
    }

    fn keep(&self, _: &str, _: &Tools) {}
}

/// A server that did not tell its tools, and why.
#[derive(Debug)]
pub struct Unlisted {
    /// The server's id.
    pub server: String,
    /// Whether the configuration says that jp goes on without it.
    pub optional: bool,
    /// Why.
    pub error: McpError,
}

/// What a definition is made of.
pub struct Defined {
    /// What people and models are told about the tool.
    pub docs: ToolDocs,
    /// The JSON Schema of its arguments, which a stranger made.
    pub schema: serde_json::Value,
    /// The JSON Schema that its structured results must fit, if the server declares one.
    pub output_schema: Option<serde_json::Value>,
    /// Which tool it is.
    pub tool: ServerTool,
    /// All that the server says about it, which is what a person accepts.
    pub shown: serde_json::Value,
}

impl McpTools {
    /// Makes the pool of all configured servers; nothing is started.
    ///
    /// `variable` returns the value of a variable of the environment, of which a server sees those
    /// that its configuration names.
    #[must_use]
    pub fn new(
        loaded: &Loaded,
        host: &Host,
        means: Means,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let configured = &loaded.config.providers.mcp;
        let servers = configured.iter().map(|(id, config)| Server {
            id: id.clone(),
            reach: reach(config, loaded.server_defined_by(id), host, variable),
            startup: match config.startup_timeout_secs {
                0 => None,
                seconds => Some(Duration::from_secs(seconds)),
            },
        });
        let optional = configured.iter().filter(|(_, config)| config.optional);
        Self {
            servers: Arc::new(Servers::new(servers, means)),
            optional: optional.map(|(id, _)| id.clone()).collect(),
            requests: configured
                .iter()
                .map(|(id, config)| (id.clone(), config.request().capabilities))
                .collect(),
            listed: RwLock::default(),
            known_as: BTreeMap::new(),
            memory: Arc::new(NoMemory),
        }
    }

    /// Says what remembers the tools that servers told before. A server whose entry has changed since is
    /// another one.
    #[must_use]
    pub fn remembering(
        mut self,
        memory: Arc<dyn ToldMemory>,
        loaded: &Loaded,
        host: &Host,
    ) -> Self {
        let usable = |id: &str| {
            let server = self.servers.get(id);
            server.is_some_and(|server| !matches!(server.reach, Reach::Refused { .. }))
        };
        let configured = loaded.config.providers.mcp.iter();
        self.known_as = configured
            .filter(|(id, _)| usable(id))
            .filter_map(|(id, config)| {
                let entry = serde_json::to_string(config).ok()?;
                let root = host.root().to_string_lossy();
                // A program of the workspace is another one in another workspace.
                let is_of_here = loaded.server_defined_by(id) == Layer::Workspace
                    || config
                        .command
                        .as_ref()
                        .is_some_and(|command| command.contains('/'));
                let root = if is_of_here { &*root } else { "" };
                Some((id.clone(), format!("{id}\n{root}\n{entry}")))
            })
            .collect();
        self.memory = memory;
        self
    }

    /// Returns what a server told of its tools, now or when it was asked last. Nothing is started.
    #[must_use]
    pub fn told(&self, server: &str) -> Option<Arc<Tools>> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(tools) = listed.get(server) {
            return Some(Arc::clone(tools));
        }
        drop(listed);
        let recalled = Arc::new(self.memory.recall(self.known_as.get(server)?)?);
        let mut listed = self.listed.write().unwrap_or_else(PoisonError::into_inner);
        // It may have been asked meanwhile.
        let tools = listed.entry(server.to_owned()).or_insert(recalled);
        Some(Arc::clone(tools))
    }

    /// Returns the pool, which is also what `mcp.*` works on.
    #[must_use]
    pub const fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    /// Tells whether a configured tool is one of a server.
    #[must_use]
    pub fn are_needed(&self, loaded: &Loaded) -> bool {
        let mut tools = loaded.config.conversation.tools.iter();
        tools.any(|(_, tool)| server_of(&tool).is_some())
    }

    /// Asks the servers of all enabled tools for their tools, side by side, and returns those that
    /// did not answer.
    pub async fn prepare(&self, loaded: &Loaded, cancel: &CancellationToken) -> Vec<Unlisted> {
        let tools = loaded.config.conversation.tools.iter();
        let needed: BTreeSet<String> = tools.filter_map(|(_, tool)| server_of(&tool)).collect();
        let mut unlisted = Vec::new();
        let mut tasks = tokio::task::JoinSet::new();
        for id in needed {
            let (servers, cancel) = (Arc::clone(&self.servers), cancel.clone());
            tasks.spawn(async move {
                let listed = servers.list_tools(&id, &cancel).await;
                (id, listed)
            });
        }
        while let Some(done) = tasks.join_next().await {
            match done {
                Ok((id, Ok(tools))) => self.keep(id, tools),
                Ok((server, Err(error))) => unlisted.push(Unlisted {
                    optional: self.optional.contains(&server),
                    server,
                    error,
                }),
                // A panic in there is not ours to hide; the tools of that server stay unknown.
                Err(_) => {}
            }
        }
        unlisted.sort_by(|a, b| a.server.cmp(&b.server));
        unlisted
    }

    /// Asks one server for its tools.
    ///
    /// # Errors
    ///
    /// When the server cannot be used or does not answer.
    pub async fn list(
        &self,
        server: &str,
        cancel: &CancellationToken,
    ) -> Result<Arc<Tools>, McpError> {
        let tools = self.servers.list_tools(server, cancel).await?;
        self.keep(server.to_owned(), Arc::clone(&tools));
        Ok(tools)
    }

    /// Returns what a server asks for, which is what each of its tools needs.
    #[must_use]
    pub fn capabilities_of(&self, server: &str) -> Capabilities {
        self.requests.get(server).cloned().unwrap_or_default()
    }

    /// Makes what the definition of a configured tool needs, from what its server listed before.
    ///
    /// # Errors
    ///
    /// When the server was not asked, has no such tool, or the configuration does not fit the tool.
    pub fn define(
        &self,
        name: &str,
        server: &str,
        config: &ToolConfig,
    ) -> Result<Defined, ToolError> {
        let failed = |error: HostError| ToolError::new(name, error);
        let Some(tools) = self.told(server) else {
            let server = server.to_owned();
            return Err(failed(HostError::Untold { server }));
        };
        let called = config.source.tool_name().unwrap_or(name);
        let Some(info) = tools.get(called) else {
            let start = format!("tool `{called}` ");
            let why = tools.notes.iter().find(|note| note.starts_with(&start));
            let why = why.map_or_else(|| "there is no such tool".to_owned(), Clone::clone);
            return Err(ToolError::not_found(format!(
                "{name} (MCP server `{server}`: {why})"
            )));
        };
        let Described { docs, schema } =
            describe(info, config).map_err(|error| failed(error.into()))?;
        Ok(Defined {
            docs,
            schema,
            output_schema: info.output_schema.clone().map(serde_json::Value::Object),
            shown: info.to_json(),
            tool: ServerTool {
                servers: Arc::clone(&self.servers),
                server: server.to_owned(),
                tool: called.to_owned(),
                digest: info.digest(),
                told: Arc::clone(&tools),
            },
        })
    }

    /// Tells whether a tool was made from the latest list of its server.
    pub(crate) fn has_told(&self, tool: &ServerTool) -> bool {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        let told = listed.get(&tool.server);
        Arc::ptr_eq(&self.servers, &tool.servers)
            && told.is_some_and(|told| Arc::ptr_eq(told, &tool.told))
    }

    fn keep(&self, server: String, tools: Arc<Tools>) {
        let mut listed = self.listed.write().unwrap_or_else(PoisonError::into_inner);
        let before = listed.insert(server.clone(), Arc::clone(&tools));
        drop(listed);
        let is_new = before.is_none_or(|before| before != tools);
        if let Some(known_as) = self.known_as.get(&server).filter(|_| is_new) {
            self.memory.keep(known_as, &tools);
        }
    }
}

fn server_of(tool: &ToolConfigWithDefaults) -> Option<String> {
    match tool.source() {
        ToolSource::Mcp { server, .. } if tool.enable() != Enable::Off => Some(server.clone()),
        _ => None,
    }
}

/// Decides how a server is reached, under what the user's policy leaves of what it asks for.
fn reach(
    config: &McpProviderConfig,
    defined_by: Layer,
    host: &Host,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Reach {
    if defined_by == Layer::Workspace && !host.trust().is_trusted() {
        let reason = "this workspace defines it, and you have not trusted the workspace; if you know \
                      what it does, run `jp trust` in it";
        return Reach::Refused {
            reason: reason.to_owned(),
        };
    }
    // Its program is what the workspace says it is, by a name that the user's own server may have too.
    if defined_by == Layer::Workspace && has_secret(config) {
        let reason = "it wants secrets in its environment, which only servers of your own \
                      configuration get: `jp mcp add` adds one there";
        return Reach::Refused {
            reason: reason.to_owned(),
        };
    }
    // A person has seen what it is, so only the user's policy bounds it.
    match compose(host.policy(), host.policy(), &config.request()) {
        Err(denied) => Reach::Refused {
            reason: refusal(&denied),
        },
        Ok(grant) => match (&config.command, &config.url) {
            (Some(command), _) => Reach::Program(program(command, config, &grant, host, variable)),
            (None, Some(url)) => Reach::Url(HttpServer {
                url: url.clone(),
                headers: config.headers.clone().into_iter().collect(),
                net: grant.capabilities().net.clone(),
            }),
            (None, None) => Reach::Refused {
                reason: "it has neither a `command` nor a `url`".to_owned(),
            },
        },
    }
}

fn has_secret(config: &McpProviderConfig) -> bool {
    config
        .environment
        .iter()
        .any(|(_, value)| wants_secret(value))
}

fn wants_secret(value: &str) -> bool {
    value.contains("{{secret:")
}

fn refusal(denied: &Denied) -> String {
    let hint = denied
        .setting()
        .map(|line| format!("; add `{line}` under `[policy]` in your own configuration"));
    format!("{denied}{}", hint.unwrap_or_default())
}

fn program(
    command: &str,
    config: &McpProviderConfig,
    grant: &Grant,
    host: &Host,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Program {
    let capabilities = grant.capabilities();
    let (read, write) = places::host_paths(host, &capabilities.files);
    let sees_root = read.iter().chain(&write).any(|path| *path == host.root());
    // As a shell in the workspace would find it.
    let command = match command.contains('/') {
        true => host.root().join(command).to_string_lossy().into_owned(),
        false => command.to_owned(),
    };
    let variables = config.variables.iter();
    let variables = variables.filter_map(|name| Some((name.into(), variable(name)?)));
    let said = config.environment.iter();
    let (secret, plain): (Vec<_>, Vec<_>) = said.partition(|(_, value)| wants_secret(value));
    let plain = plain
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    Program {
        command,
        arguments: config.arguments.clone(),
        env: variables.chain(plain).collect(),
        secret_env: secret
            .into_iter()
            .map(|(name, value)| (name.into(), value.clone()))
            .collect(),
        checksum: config.checksum.as_ref().map(|checksum| Checksum {
            algorithm: match checksum.algorithm {
                ChecksumAlgorithm::Sha256 => Algorithm::Sha256,
                ChecksumAlgorithm::Sha1 => Algorithm::Sha1,
            },
            value: checksum.value.clone(),
        }),
        cwd: if sees_root {
            host.root().to_owned()
        } else {
            "/tmp".into()
        },
        read,
        write,
        net: capabilities.net.clone(),
        memory_bytes: host.usual_memory_of_a_program(),
    }
}

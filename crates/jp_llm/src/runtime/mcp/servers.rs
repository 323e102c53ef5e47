//! The configured servers: under which grant each runs, and what their tools are.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jp_broker::mcp::{
    Algorithm, Begun, By, Checksum, HttpFailure, HttpFailureKind, HttpServer, LoggedIn, LoginError,
    LoginOptions, McpError, McpExchange, Means, Program, Reach, Server, Servers, Tools,
};
use jp_config::{
    ChecksumAlgorithm, Layer, Loaded, McpProviderConfig, OauthConfig, OauthGrant,
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
    /// How jp logs in to servers, as the configuration says.
    logins: BTreeMap<String, LoginOptions>,
    exchange: Option<Arc<McpExchange>>,
    listed: RwLock<BTreeMap<String, Arc<Tools>>>,
    /// How often what they told was something else.
    told: AtomicU64,
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
            logins: configured
                .iter()
                .filter_map(|(id, config)| Some((id.clone(), options(config.oauth.as_ref()?))))
                .collect(),
            exchange: None,
            listed: RwLock::default(),
            told: AtomicU64::new(0),
            known_as: BTreeMap::new(),
            memory: Arc::new(NoMemory),
        }
    }

    /// Says what reaches servers behind URLs, so that people can log in to them.
    #[must_use]
    pub fn with_exchange(self, exchange: Arc<McpExchange>) -> Self {
        Self {
            exchange: Some(exchange),
            ..self
        }
    }

    /// Tells whether a server said that it wants a login, or another than it was sent.
    #[must_use]
    pub fn wants_login(&self, server: &str) -> bool {
        let behind = self.behind_url(server);
        behind.is_ok_and(|(exchange, reach)| exchange.wants_login(reach))
    }

    /// Begins a login to a server, which must allow these scopes besides what the server asks for.
    ///
    /// # Errors
    ///
    /// When the server cannot be logged in to.
    pub async fn begin_login(
        &self,
        server: &str,
        scopes: &[String],
        cancel: &CancellationToken,
    ) -> Result<Login, LoginFailed> {
        let (exchange, reach) = self.behind_url(server)?;
        if !exchange.wants_login(reach) {
            // A server says what a login must be for when it is asked for something. Whether it can be
            // used without one does not matter here.
            match self.servers.list_tools(server, cancel).await {
                Err(McpError::Cancelled) => return Err(LoginError::Cancelled.into()),
                Err(
                    error @ McpError::Http {
                        source:
                            HttpFailure {
                                kind: HttpFailureKind::Denied | HttpFailureKind::Failed,
                                ..
                            },
                        ..
                    },
                ) => return Err(error.into()),
                _ => {}
            }
        }
        let mut options = self.logins.get(server).cloned().unwrap_or_default();
        options.scopes.extend_from_slice(scopes);
        Ok(match options.by {
            By::Person => Login::Begun(Box::new(exchange.begin_login(reach, options).await?)),
            By::Itself => Login::Done(exchange.log_in_alone(reach, options).await?),
        })
    }

    /// Forgets the login to a server; returns whether there was one.
    ///
    /// # Errors
    ///
    /// When there is no such server, or its login cannot be forgotten.
    pub fn logout(&self, server: &str) -> Result<bool, LoginFailed> {
        let (exchange, reach) = self.behind_url(server)?;
        Ok(exchange.logout(reach)?)
    }

    fn behind_url(&self, server: &str) -> Result<(&Arc<McpExchange>, &HttpServer), LoginFailed> {
        let exchange = self.exchange.as_ref().ok_or(LoginFailed::NoPlace)?;
        let Some(found) = self.servers.get(server) else {
            let known = self.servers.servers().map(|server| server.id.as_str());
            return Err(LoginFailed::Unknown {
                server: jp_text::short_line(server, 100),
                known: known.collect::<Vec<_>>().join(", "),
            });
        };
        match &found.reach {
            Reach::Url(reach) => Ok((exchange, reach)),
            Reach::Program(_) => Err(LoginFailed::Program {
                server: server.to_owned(),
            }),
            Reach::Refused { reason } => Err(LoginFailed::Server(McpError::Refused {
                server: server.to_owned(),
                reason: reason.clone(),
            })),
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
        self.ask(needed(loaded), cancel).await
    }

    /// Asks those of the servers that have never told their tools, now or before; the others are not started.
    pub async fn prepare_unknown(
        &self,
        loaded: &Loaded,
        cancel: &CancellationToken,
    ) -> Vec<Unlisted> {
        let mut unknown = needed(loaded);
        unknown.retain(|server| self.told(server).is_none());
        self.ask(unknown, cancel).await
    }

    async fn ask(&self, needed: BTreeSet<String>, cancel: &CancellationToken) -> Vec<Unlisted> {
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

    /// Waits until servers say that their tools changed, and asks them again. However often they say it,
    /// each is asked once for all that it said meanwhile. One caller waits at a time.
    pub async fn changed(&self, cancel: &CancellationToken) {
        for server in self.servers.changed().await {
            // One that does not answer says why when one of its tools is called.
            let _ = self.list(&server, cancel).await;
        }
    }

    /// Returns a number that differs when what servers have told does.
    #[must_use]
    pub fn times_told(&self) -> u64 {
        self.told.load(Ordering::Acquire)
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
        let is_news = listed.get(&server).is_none_or(|known| *known != tools);
        listed.insert(server.clone(), Arc::clone(&tools));
        drop(listed);
        if !is_news {
            return;
        }
        self.told.fetch_add(1, Ordering::AcqRel);
        if let Some(known_as) = self.known_as.get(&server) {
            self.memory.keep(known_as, &tools);
        }
    }
}

/// How far a login is.
pub enum Login {
    /// It waits for its person.
    Begun(Box<Begun>),
    /// Nobody was needed.
    Done(LoggedIn),
}

/// Why nobody logged in to a server.
#[derive(Debug, thiserror::Error)]
pub enum LoginFailed {
    /// There is no place to keep logins.
    #[error("there is no place to keep logins in: no home directory is known")]
    NoPlace,
    /// There is no such server.
    #[error("unknown MCP server `{server}`; configured: {known}")]
    Unknown {
        /// What was asked for.
        server: String,
        /// Those there are.
        known: String,
    },
    /// The server is a program.
    #[error(
        "MCP server `{server}` is a program on this machine, and only servers behind a URL are logged in to"
    )]
    Program {
        /// The server.
        server: String,
    },
    /// The server cannot be reached.
    #[error(transparent)]
    Server(#[from] McpError),
    /// The login came to nothing.
    #[error(transparent)]
    Login(#[from] LoginError),
}

fn options(config: &OauthConfig) -> LoginOptions {
    LoginOptions {
        client_id: config.client_id.clone(),
        client_secret: config.client_secret.clone(),
        issuer: config.issuer.clone(),
        client_metadata_url: config.client_metadata_url.clone(),
        scopes: config.scopes.clone(),
        by: match config.grant {
            OauthGrant::AuthorizationCode => By::Person,
            OauthGrant::ClientCredentials => By::Itself,
        },
    }
}

/// Returns the servers of all enabled tools.
fn needed(loaded: &Loaded) -> BTreeSet<String> {
    let tools = loaded.config.conversation.tools.iter();
    tools.filter_map(|(_, tool)| server_of(&tool)).collect()
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

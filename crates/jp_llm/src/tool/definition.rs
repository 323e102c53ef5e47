//! What a tool is: its name, what a model is told about it, and how it runs.

use std::sync::{Arc, OnceLock};

use jp_config::{
    Layer, Loaded,
    tool::{Enable, ParametersStyle, ResultMode, RunMode, ToolConfigWithDefaults, ToolSource},
};
use jp_policy::Request;
use jp_tool::{DescribedTool, Tool};
#[cfg(feature = "wasm-tools")]
use relative_path::RelativePathBuf;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

#[cfg(feature = "wasm-tools")]
use super::convention;
use super::{
    Call, ToolError,
    arguments::{Checker, SchemaBy},
    execute::Composed,
    record,
};
#[cfg(feature = "wasm-tools")]
use crate::runtime::ComponentRuntime;
use crate::{
    Host,
    runtime::{BashRuntime, CommandRuntime, NativeRuntime, ToolRuntime},
};

/// The builtin that runs scripts in the virtual bash.
const BASH: &str = "bash";

/// What people and models are told about a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolDocs {
    /// One line.
    pub summary: Option<String>,
    /// All of it.
    pub description: Option<String>,
    /// How it is used.
    pub examples: Option<String>,
}

/// A tool that can be called.
pub struct ToolDefinition {
    /// Its id.
    pub name: String,
    /// What people and models are told about it.
    pub docs: ToolDocs,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// Where it comes from.
    pub source: ToolSource,
    /// What it asks for. Not to be changed once the tool was called.
    pub request: Request,
    /// Whether the workspace had a part in its definition.
    pub defined_by: Layer,
    /// The path of its Wasm file in the workspace, if it has one.
    pub wasm: Option<String>,
    /// Who decides that it runs, if the configuration says so.
    pub run: Option<RunMode>,
    /// Who decides that its result is delivered.
    pub result: ResultMode,
    /// How its arguments are shown.
    pub parameters_style: ParametersStyle,
    /// Answers that are always the same.
    pub fixed_answers: Map<String, Value>,
    /// Free options of the configuration.
    pub options: Map<String, Value>,
    pub(crate) enable: Enable,
    pub(crate) runtime: Arc<dyn ToolRuntime>,
    /// Whether only the tool itself knows what it takes.
    undeclared: bool,
    described: OnceCell<Option<DescribedTool>>,
    schema_by: SchemaBy,
    checker: OnceLock<Result<Checker, String>>,
    pub(crate) composed: OnceLock<Composed>,
    /// What the tools ask for on whose data this one works.
    pub(crate) others: Vec<(String, Request)>,
}

impl ToolDefinition {
    /// Finds a tool by its id: in the configuration, or else among the builtins.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its configuration cannot work.
    pub fn new(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        let mut found = Self::find(name, loaded, host)?;
        let owners = jp_broker::owners(&found.request.capabilities.brokered);
        found.others = owners
            .into_iter()
            .filter(|owner| *owner != name)
            .filter_map(|owner| {
                let other = Self::find(owner, loaded, host).ok()?;
                Some((owner.to_owned(), other.request))
            })
            .collect();
        Ok(found)
    }

    fn find(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        if let Some(config) = loaded.config.conversation.tools.get(name) {
            return Self::configured(name, &config, loaded.defined_by(name), host);
        }
        #[cfg(feature = "wasm-tools")]
        let brought = convention::path_of(name, &host.root);
        #[cfg(feature = "wasm-tools")]
        let brought = match (find_builtin(name, name, host), brought) {
            // A file of the workspace must not pass for a builtin, nor be passed over in silence.
            (Ok(_), Some(path)) => {
                return Err(ToolError::Shadowed {
                    name: name.to_owned(),
                    path: path.into_string(),
                });
            }
            (Err(_), Some(path)) => Ok(Self::brought(name, path)),
            (found, None) => found,
        };
        #[cfg(not(feature = "wasm-tools"))]
        let brought = find_builtin(name, name, host);
        brought.map_err(|_| ToolError::NotFound {
            name: name.to_owned(),
        })
    }

    /// Finds a tool for a call. A call of a tool that is not there, or cannot work, leaves a record
    /// too.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its configuration cannot work.
    pub fn for_call(
        name: &str,
        call: &Call,
        loaded: &Loaded,
        host: &Host,
    ) -> Result<Self, ToolError> {
        Self::new(name, loaded, host).map_err(|error| {
            let written = record::write_unmade(name, call, host, &error);
            written.err().unwrap_or(error)
        })
    }

    /// Returns all tools there are: the configured ones, and the builtins that have something to
    /// offer. A tool whose configuration cannot work is an error in its place.
    pub fn all(loaded: &Loaded, host: &Host) -> Vec<(String, Result<Self, ToolError>)> {
        let tools = &loaded.config.conversation.tools;
        let names = tools.tools.keys().cloned();
        #[cfg(feature = "wasm-tools")]
        let names = names.chain(
            crate::builtins()
                .iter()
                .filter(|builtin| {
                    !tools.tools.contains_key(builtin.name) && builtin.is_offered(host)
                })
                .map(|builtin| builtin.name.to_owned()),
        );
        let bash = (!tools.tools.contains_key(BASH)).then(|| BASH.to_owned());
        let names = names.chain(bash);
        #[cfg(feature = "wasm-tools")]
        let names = names.chain(brought_names(loaded, host));
        names
            .map(|name| (name.clone(), Self::new(&name, loaded, host)))
            .collect()
    }

    /// The virtual bash: the one builtin that is no component.
    fn bash(name: &str) -> Self {
        let tool = jp_bash::BashTool::default();
        let docs = ToolDocs {
            summary: Some(tool.short_description().to_owned()),
            description: Some(tool.description()),
            examples: None,
        };
        let source = ToolSource::Builtin { tool: None };
        let runtime = Arc::new(BashRuntime::default());
        let schema = tool.input_schema();
        Self::bare(name, docs, schema, source, Request::default(), runtime)
    }

    /// Puts a tool of this process into the pipeline.
    #[must_use]
    pub fn native(name: &str, tool: Box<dyn Tool>, request: Request) -> Self {
        let docs = ToolDocs {
            summary: Some(tool.short_description().to_owned()),
            description: Some(tool.description()),
            examples: None,
        };
        let schema = tool.input_schema();
        let source = ToolSource::Builtin { tool: None };
        let runtime = Arc::new(NativeRuntime::new(tool));
        Self {
            schema_by: SchemaBy::Others,
            ..Self::bare(name, docs, schema, source, request, runtime)
        }
    }

    fn bare(
        name: &str,
        docs: ToolDocs,
        schema: Value,
        source: ToolSource,
        request: Request,
        runtime: Arc<dyn ToolRuntime>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            docs,
            schema,
            source,
            request,
            defined_by: Layer::User,
            wasm: None,
            run: None,
            result: ResultMode::default(),
            parameters_style: ParametersStyle::default(),
            fixed_answers: Map::new(),
            options: Map::new(),
            enable: Enable::On,
            runtime,
            undeclared: false,
            described: OnceCell::new(),
            schema_by: SchemaBy::Us,
            checker: OnceLock::new(),
            composed: OnceLock::new(),
            others: Vec::new(),
        }
    }

    /// A module that lies in the workspace under a name of the convention.
    #[cfg(feature = "wasm-tools")]
    fn brought(name: &str, path: RelativePathBuf) -> Self {
        let docs = ToolDocs {
            summary: Some(format!("The module {path} of this workspace")),
            ..ToolDocs::default()
        };
        let source = ToolSource::Local { tool: None };
        let runtime = Arc::new(ComponentRuntime::file(path.clone(), name.to_owned()));
        let request = Request::default();
        Self {
            defined_by: Layer::Workspace,
            wasm: Some(path.into_string()),
            ..Self::bare(name, docs, any_object(), source, request, runtime)
        }
    }

    #[cfg(feature = "wasm-tools")]
    fn builtin(name: &str, builtin: &'static crate::Builtin, host: &Host) -> Self {
        let docs = ToolDocs {
            summary: builtin.summary(),
            description: Some(builtin.description(host)),
            ..ToolDocs::default()
        };
        let source = ToolSource::Builtin { tool: None };
        let request = Request {
            capabilities: builtin.capabilities(),
            ..Request::default()
        };
        let runtime = Arc::new(ComponentRuntime::builtin(builtin));
        Self::bare(name, docs, builtin.schema(), source, request, runtime)
    }

    fn configured(
        name: &str,
        config: &ToolConfigWithDefaults,
        defined_by: Layer,
        host: &Host,
    ) -> Result<Self, ToolError> {
        let tool = config.tool();
        let mut definition = match config.source() {
            ToolSource::Builtin { tool } => {
                find_builtin(name, tool.as_deref().unwrap_or(name), host)?
            }
            #[cfg(feature = "wasm-tools")]
            ToolSource::Local { .. } if config.wasm().is_none() && config.command().is_none() => {
                by_name(name, host)?
            }
            ToolSource::Mcp { server, .. } => Self::of_server(name, server, config, host)?,
            source => {
                let docs = ToolDocs::default();
                let runtime = local_runtime(name, config)?;
                // What a module takes nobody but the module knows, unless parameters are written down.
                let schema = match tool.abi {
                    Some(_) if tool.parameters.is_empty() => any_object(),
                    _ => config.parameters_schema(),
                };
                Self::bare(
                    name,
                    docs,
                    schema,
                    source.clone(),
                    config.request(),
                    runtime,
                )
            }
        };
        // What a server says about its tools was put together with the configuration already.
        if !matches!(config.source(), ToolSource::Mcp { .. }) {
            let own = |text: &Option<String>, given: Option<String>| text.clone().or(given);
            definition.docs = ToolDocs {
                summary: own(&tool.summary, definition.docs.summary),
                description: own(&tool.description, definition.docs.description),
                examples: own(&tool.examples, definition.docs.examples),
            };
        }
        definition.configure_grant(name, config);
        definition.undeclared =
            config.wasm().is_some() && tool.abi.is_none() && tool.parameters.is_empty();
        definition.request.limits = config.request().limits;
        definition.source = config.source().clone();
        definition.defined_by = defined_by;
        definition.wasm = config.wasm().map(ToString::to_string).or(definition.wasm);
        definition.run = config.run();
        definition.result = config.result();
        definition.parameters_style = config.style().parameters;
        definition.fixed_answers = tool
            .questions
            .iter()
            .filter_map(|(id, question)| Some((id.clone(), question.answer.clone()?)))
            .collect();
        definition.options = tool
            .options
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        definition.enable = config.enable();
        Ok(definition)
    }

    /// A tool of an MCP server, as the server described it.
    fn of_server(
        name: &str,
        server: &str,
        config: &ToolConfigWithDefaults,
        host: &Host,
    ) -> Result<Self, ToolError> {
        let Some(servers) = &host.mcp else {
            return Err(ToolError::McpUnavailable {
                server: server.to_owned(),
            });
        };
        let defined = servers.define(name, server, config.tool())?;
        let request = Request {
            capabilities: servers.capabilities_of(server),
            ..config.request()
        };
        let source = config.source().clone();
        Ok(Self {
            schema_by: SchemaBy::Others,
            ..Self::bare(
                name,
                defined.docs,
                defined.schema,
                source,
                request,
                defined.runtime,
            )
        })
    }

    /// Takes from the configuration what a tool of ours may be given.
    ///
    /// The files and hosts of the virtual bash are whatever the user grants it; what a component of
    /// ours is given, the host prepares, and only what the host does for it can be narrowed or
    /// widened. Absent and empty differ: an empty list is nothing.
    fn configure_grant(&mut self, name: &str, config: &ToolConfigWithDefaults) {
        let wanted = config.request().capabilities;
        if matches!(config.source(), ToolSource::Builtin { tool } if tool.as_deref().unwrap_or(name) == BASH)
        {
            self.request.capabilities = wanted;
            return;
        }
        // A server's grant is the server's, not the tool's.
        if matches!(config.source(), ToolSource::Mcp { .. }) {
            return;
        }
        let grant = &config.tool().grant;
        if grant.calls.is_some() {
            self.request.capabilities.brokered = wanted.brokered;
        }
        if grant.net.is_some() {
            self.request.capabilities.net = wanted.net;
        }
    }

    /// Returns what a model is told in one line.
    #[must_use]
    pub fn summary(&self) -> &str {
        let text = self
            .docs
            .summary
            .as_ref()
            .or(self.docs.description.as_ref());
        text.map_or("", String::as_str)
    }

    /// Returns the schema of its arguments: its own, once it was asked, or the configured one.
    #[must_use]
    pub fn known_schema(&self) -> &Value {
        match self.described.get() {
            Some(Some(tool)) => &tool.parameters,
            _ => &self.schema,
        }
    }

    /// Asks the tool what it is, if its configuration does not say what it takes; once.
    ///
    /// # Errors
    ///
    /// When it should say and does not.
    pub async fn described(&self, host: &Host) -> Result<Option<&DescribedTool>, ToolError> {
        if !self.undeclared {
            return Ok(None);
        }
        let asked = self
            .described
            .get_or_try_init(|| self.runtime.describe(host));
        Ok(asked.await?.as_ref())
    }

    /// Tells whether models are offered the tool.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        !matches!(self.enable, Enable::Off)
    }

    /// Returns the checks of its arguments, made when the tool is first called.
    pub(crate) fn checker(&self) -> Result<&Checker, ToolError> {
        let (schema, by) = match self.described.get() {
            Some(Some(tool)) => (&tool.parameters, SchemaBy::Others),
            _ => (&self.schema, self.schema_by),
        };
        let made = self.checker.get_or_init(|| Checker::new(schema, by));
        made.as_ref().map_err(|reason| ToolError::Host {
            tool: self.name.clone(),
            reason: format!("the schema of its arguments is no JSON Schema: {reason}"),
        })
    }
}

fn find_builtin(name: &str, builtin: &str, host: &Host) -> Result<ToolDefinition, ToolError> {
    #[cfg(feature = "wasm-tools")]
    if let Some(found) = crate::builtins().iter().find(|known| known.name == builtin) {
        return Ok(ToolDefinition::builtin(name, found, host));
    }
    if builtin == BASH {
        return Ok(ToolDefinition::bash(name));
    }
    let _ = host;
    Err(ToolError::UnknownBuiltin(builtin.to_owned()))
}

/// Finds a local tool whose configuration names no file: by convention, or else among the builtins.
#[cfg(feature = "wasm-tools")]
fn by_name(name: &str, host: &Host) -> Result<ToolDefinition, ToolError> {
    match convention::path_of(name, &host.root) {
        Some(path) => Ok(ToolDefinition::brought(name, path)),
        None => find_builtin(name, name, host).map_err(|_| ToolError::CommandMissing),
    }
}

/// Returns the tools a workspace brings by convention, without those that are configured.
#[cfg(feature = "wasm-tools")]
fn brought_names(loaded: &Loaded, host: &Host) -> impl Iterator<Item = String> {
    let tools = &loaded.config.conversation.tools.tools;
    convention::all(&host.root)
        .into_iter()
        .filter(|name| !tools.contains_key(name) && find_builtin(name, name, host).is_err())
}

/// The schema of arguments that only the tool itself can judge.
fn any_object() -> Value {
    serde_json::json!({ "type": "object" })
}

/// Chooses how a configured tool runs: its Wasm file wins over its command.
fn local_runtime(
    name: &str,
    config: &ToolConfigWithDefaults,
) -> Result<Arc<dyn ToolRuntime>, ToolError> {
    let called = config.source().tool_name().unwrap_or(name).to_owned();
    match (config.wasm(), config.command()) {
        #[cfg(feature = "wasm-tools")]
        (Some(path), _) => {
            let tool = config.tool();
            let version = match tool.abi {
                Some(2) => jp_wasm::AbiVersion::Two,
                _ => jp_wasm::AbiVersion::One,
            };
            let runtime = ComponentRuntime::file(path.to_owned(), called);
            Ok(Arc::new(runtime.speaking(tool.entrypoint.clone(), version)))
        }
        #[cfg(not(feature = "wasm-tools"))]
        (Some(path), _) => {
            use crate::runtime::UnavailableRuntime;
            let refuse = |path: &str| ToolError::WasmRefused {
                reason: format!("{path}: this build of jp runs no Wasm tools"),
            };
            Ok(Arc::new(UnavailableRuntime(refuse, path.to_string())))
        }
        (None, Some(command)) => Ok(Arc::new(CommandRuntime::new(command.clone(), called))),
        (None, None) => Err(ToolError::CommandMissing),
    }
}

//! What a tool is: its name, what a model is told about it, and how it runs.

use std::sync::{Arc, OnceLock};

use jp_config::{
    Layer, Loaded,
    tool::{Enable, ParametersStyle, ResultMode, RunMode, ToolConfigWithDefaults, ToolSource},
};
use jp_policy::Request;
#[cfg(feature = "wasm-tools")]
use jp_policy::{Access, Capabilities, GuestPath};
use jp_tool::Tool;
use serde_json::{Map, Value};

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
    runtime::{BashRuntime, CommandRuntime, NativeRuntime, ToolRuntime, UnavailableRuntime},
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
    schema_by: SchemaBy,
    checker: OnceLock<Result<Checker, String>>,
    pub(crate) composed: OnceLock<Composed>,
}

impl ToolDefinition {
    /// Finds a tool by its id: in the configuration, or else among the builtins.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its configuration cannot work.
    pub fn new(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        if let Some(config) = loaded.config.conversation.tools.get(name) {
            return Self::configured(name, &config, loaded.defined_by(name), host);
        }
        #[cfg(feature = "wasm-tools")]
        if let Some(builtin) = crate::builtins()
            .iter()
            .find(|builtin| builtin.name == name)
        {
            return Ok(Self::builtin(name, builtin, host));
        }
        if name == BASH {
            return Ok(Self::bash(name));
        }
        Err(ToolError::NotFound {
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
                    !tools.tools.contains_key(builtin.name) && (builtin.is_offered)(host)
                })
                .map(|builtin| builtin.name.to_owned()),
        );
        let bash = (!tools.tools.contains_key(BASH)).then(|| BASH.to_owned());
        names
            .chain(bash)
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
            schema_by: SchemaBy::Us,
            checker: OnceLock::new(),
            composed: OnceLock::new(),
        }
    }

    #[cfg(feature = "wasm-tools")]
    fn builtin(name: &str, builtin: &'static crate::Builtin, host: &Host) -> Self {
        let description = (builtin.description)(host);
        let docs = ToolDocs {
            description: Some(description),
            ..ToolDocs::default()
        };
        let source = ToolSource::Builtin { tool: None };
        let mut capabilities = Capabilities::default();
        for path in builtin
            .reads
            .iter()
            .filter_map(|path| GuestPath::new(path).ok())
        {
            capabilities = capabilities.with_files(path, Access::Read);
        }
        let request = Request {
            capabilities,
            ..Request::default()
        };
        let runtime = Arc::new(ComponentRuntime::builtin(builtin));
        Self::bare(name, docs, (builtin.schema)(), source, request, runtime)
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
            source => {
                let docs = ToolDocs::default();
                let runtime = local_runtime(name, config)?;
                let schema = config.parameters_schema();
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
        let own = |text: &Option<String>, given: Option<String>| text.clone().or(given);
        definition.docs = ToolDocs {
            summary: own(&tool.summary, definition.docs.summary),
            description: own(&tool.description, definition.docs.description),
            examples: own(&tool.examples, definition.docs.examples),
        };
        // The files and hosts of the virtual bash are whatever the user grants it; what a component
        // of ours is given, the host prepares.
        if matches!(config.source(), ToolSource::Builtin { tool } if tool.as_deref().unwrap_or(name) == BASH)
        {
            definition.request.capabilities = config.request().capabilities;
        }
        definition.request.limits = config.request().limits;
        definition.source = config.source().clone();
        definition.defined_by = defined_by;
        definition.wasm = config.wasm().map(ToString::to_string);
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

    /// Tells whether models are offered the tool.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        !matches!(self.enable, Enable::Off)
    }

    /// Returns the checks of its arguments, made when the tool is first called.
    pub(crate) fn checker(&self) -> Result<&Checker, ToolError> {
        let made = self
            .checker
            .get_or_init(|| Checker::new(&self.schema, self.schema_by));
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

/// Chooses how a configured tool runs: its Wasm file wins over its command.
fn local_runtime(
    name: &str,
    config: &ToolConfigWithDefaults,
) -> Result<Arc<dyn ToolRuntime>, ToolError> {
    if let ToolSource::Mcp { server, .. } = config.source() {
        let refuse = |server: &str| ToolError::McpUnavailable {
            server: server.to_owned(),
        };
        return Ok(Arc::new(UnavailableRuntime(refuse, server.clone())));
    }
    let called = config.source().tool_name().unwrap_or(name).to_owned();
    match (config.wasm(), config.command()) {
        #[cfg(feature = "wasm-tools")]
        (Some(path), _) => Ok(Arc::new(ComponentRuntime::file(path.to_owned(), called))),
        #[cfg(not(feature = "wasm-tools"))]
        (Some(path), _) => {
            let refuse = |path: &str| ToolError::WasmRefused {
                reason: format!("{path}: this build of jp runs no Wasm tools"),
            };
            Ok(Arc::new(UnavailableRuntime(refuse, path.to_string())))
        }
        (None, Some(command)) => Ok(Arc::new(CommandRuntime::new(command.clone(), called))),
        (None, None) => Err(ToolError::CommandMissing),
    }
}

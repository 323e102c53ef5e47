//! Tools as the configuration writes them down.

use jp_config::{
    Layer, Loaded,
    tool::{ToolConfig, ToolConfigWithDefaults, ToolSource, WorkspaceAccess},
};
use jp_policy::Request;

use super::{
    Misconfigured, ToolDefinition, ToolDocs, ToolError,
    arguments::SchemaBy,
    find::find_builtin,
    kinds::{BASH, any_object},
    word,
};
use crate::{
    Host,
    tool::{body::Body, stamp::ReadFrom},
    wasm::Entry,
};

/// The function of a module that is called unless another one is named.
const ENTRYPOINT: &str = "execute";

impl ToolDefinition {
    pub(super) fn configured(
        name: &str,
        config: &ToolConfigWithDefaults,
        loaded: &Loaded,
        host: &Host,
    ) -> Result<Self, ToolError> {
        let found = by_convention(name, config, host);
        let is_found = found.is_some();
        let config = found.as_ref().unwrap_or(config);
        let tool = config.tool();
        let mut definition = match config.source() {
            ToolSource::Builtin { tool } => {
                find_builtin(name, tool.as_deref().unwrap_or(name), host)?
            }
            ToolSource::Local { .. } if is_nowhere(config) => {
                let builtin = find_builtin(name, name, host);
                let builtin = builtin.map_err(|_| command_missing(name))?;
                refuse_unheard(name, tool)?;
                builtin
            }
            ToolSource::Mcp { server, .. } => Self::of_server(name, server, config, host)?,
            ToolSource::Registry { tool } => {
                Self::signed(tool.as_deref().unwrap_or(name), loaded, host)?.renamed(name)
            }
            source => {
                let path = config.wasm().filter(|_| is_found);
                let docs = ToolDocs {
                    summary: path.map(|path| format!("The module {path} of this workspace")),
                    ..ToolDocs::default()
                };
                let body = local_body(name, config)?;
                // Only the module knows what it takes, unless parameters are configured.
                let unknown = tool.abi.is_some() || is_found;
                let schema = match unknown && tool.parameters.is_empty() {
                    true => any_object(),
                    false => config.parameters_schema(),
                };
                Self::bare(name, docs, schema, source.clone(), config.request(), body)
            }
        };
        // What a server says about its tools was put together with the configuration already, and what
        // a signed manifest says was accepted as it is.
        if !matches!(
            config.source(),
            ToolSource::Mcp { .. } | ToolSource::Registry { .. }
        ) {
            let own = |text: &Option<String>, given: Option<String>| text.clone().or(given);
            definition.docs = ToolDocs {
                summary: own(&tool.summary, definition.docs.summary),
                description: own(&tool.description, definition.docs.description),
                examples: own(&tool.examples, definition.docs.examples),
            };
        }
        let limits = config.request().limits;
        if matches!(config.source(), ToolSource::Registry { .. }) {
            // What a signed tool asks for its manifest says, and how much of it unless we know better.
            let asked = &mut definition.request.limits;
            asked.memory = limits.memory.or(asked.memory);
            asked.time_ms = limits.time_ms.or(asked.time_ms);
            asked.fuel = limits.fuel.or(asked.fuel);
            asked.output = limits.output.or(asked.output);
        } else {
            definition.configure_grant(name, config);
            definition.request.limits = limits;
        }
        if config.wasm().is_some() {
            definition.stated.capabilities = tool.grant.stated();
        }
        definition.undeclared =
            config.wasm().is_some() && tool.abi.is_none() && tool.parameters.is_empty();
        if let Some(path) = config.wasm()
            && (is_found || definition.undeclared)
        {
            let path = path.to_path(host.root());
            definition.read_from.push(ReadFrom::new(path));
        }
        definition.source = config.source().clone();
        definition.defined_by = match definition.app {
            // Only the workspace's own word says that it uses the tool.
            Some(_) => Layer::Workspace,
            None => loaded.defined_by(name),
        };
        definition.wasm = config.wasm().map(ToString::to_string).or(definition.wasm);
        definition.run = config.run();
        definition.result = config.result();
        let style = config.style();
        definition.parameters_style = style.parameters;
        definition.inline_results = style.inline_results;
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
        let Some(servers) = host.mcp() else {
            let server = server.to_owned();
            return Err(ToolError::new(
                name,
                Misconfigured::McpUnavailable { server },
            ));
        };
        let defined = servers.define(name, server, config.tool())?;
        if let Some(registry) = host.registry() {
            registry.check_server_tool(name, server, &defined)?;
        }
        let request = Request {
            capabilities: servers.capabilities_of(server),
            ..config.request()
        };
        let source = config.source().clone();
        Ok(Self {
            output_schema: defined.output_schema,
            schema_by: SchemaBy::Others,
            ..Self::bare(
                name,
                defined.docs,
                defined.schema,
                source,
                request,
                Body::Server(defined.tool),
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
}

/// Tells whether a local tool's configuration says nothing about what runs.
fn is_nowhere(config: &ToolConfigWithDefaults) -> bool {
    config.wasm().is_none() && config.command().is_none()
}

/// Finds a local tool whose configuration names no file by its name: everything that is configured
/// holds for the file as if its path were written down.
fn by_convention(
    name: &str,
    config: &ToolConfigWithDefaults,
    host: &Host,
) -> Option<ToolConfigWithDefaults> {
    let is_local = matches!(config.source(), ToolSource::Local { .. });
    let path = super::convention::path_of(name, host.root());
    path.filter(|_| is_local && is_nowhere(config))
        .map(|path| config.found_at(path))
}

/// Refuses what a builtin ignores, in the entry of a local tool that turns out to be one.
fn refuse_unheard(name: &str, tool: &ToolConfig) -> Result<(), ToolError> {
    let grant = &tool.grant;
    let files = !matches!(grant.workspace, None | Some(WorkspaceAccess::None));
    let entry = |entry: &String| entry != ENTRYPOINT;
    let keys = [
        ("entrypoint", tool.entrypoint.as_ref().is_some_and(entry)),
        ("abi", tool.abi.is_some_and(|abi| abi != 1)),
        ("parameters", !tool.parameters.is_empty()),
        ("grant.workspace", files),
        ("grant.files", !grant.files.is_empty()),
        ("grant.selected", grant.selected.is_some()),
        ("grant.env", !grant.env.is_empty()),
    ];
    match keys.into_iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => {
            let error = ToolError::new(name, Misconfigured::Unheard { key });
            Err(error.with_hint(format!(
                "remove `{key}` to use the builtin, or put the tool's own file at \
                 `wasm/{}_tool.wasm`",
                word(name)
            )))
        }
        None => Ok(()),
    }
}

/// Chooses how a configured tool runs: its Wasm file wins over its command.
fn local_body(name: &str, config: &ToolConfigWithDefaults) -> Result<Body, ToolError> {
    let called = config.source().tool_name().unwrap_or(name).to_owned();
    match (config.wasm(), config.command()) {
        (Some(path), _) => {
            let tool = config.tool();
            let entry = Entry {
                name: called,
                function: tool.entrypoint.clone(),
                abi: tool.abi,
            };
            Ok(Body::File(path.to_owned(), entry))
        }
        (None, Some(command)) => Ok(Body::Command(command.clone(), called)),
        (None, None) => Err(command_missing(name)),
    }
}

fn command_missing(name: &str) -> ToolError {
    ToolError::new(name, Misconfigured::CommandMissing)
        .with_hint("add `wasm = \".jp/tools/NAME.wasm\"` or `command = \"…\"` to the tool")
}

//! A tool together with what holds for all tools. `'*'` is looked at when a value is asked for.

use jp_policy::{Access, Capabilities, Files, Request};
use relative_path::{RelativePath, RelativePathBuf};
use serde_json::{Map as Object, Value};

use super::{
    CommandConfig, Enable, ResultMode, RunMode, StyleConfig, TaskMode, ToolConfig, ToolDefaults,
    ToolSource, WorkspaceAccess, parameter::required,
};
use crate::policy::rule;

/// A tool together with what holds for all tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfigWithDefaults {
    tool: ToolConfig,
    defaults: ToolDefaults,
}

impl ToolConfigWithDefaults {
    /// Puts a tool and the defaults together.
    #[must_use]
    pub const fn new(tool: ToolConfig, defaults: ToolDefaults) -> Self {
        Self { tool, defaults }
    }

    /// Returns the tool as if its Wasm binary were written down, for one that is found by its name.
    ///
    /// Such a file gets nothing by its name: what it is to have of the workspace must be said.
    #[must_use]
    pub fn found_at(&self, path: RelativePathBuf) -> Self {
        let mut found = self.clone();
        found.tool.wasm = Some(path);
        let workspace = &mut found.tool.grant.workspace;
        *workspace = workspace.or(Some(WorkspaceAccess::None));
        found
    }

    /// Returns what the configuration says about the tool itself.
    #[must_use]
    pub const fn tool(&self) -> &ToolConfig {
        &self.tool
    }

    /// Returns where the tool comes from.
    #[must_use]
    pub const fn source(&self) -> &ToolSource {
        &self.tool.source
    }

    /// Returns whether models are offered the tool.
    #[must_use]
    pub fn enable(&self) -> Enable {
        self.tool
            .enable
            .or(self.defaults.enable)
            .unwrap_or_default()
    }

    /// Returns who decides that the tool runs; `None` leaves that to the grant.
    #[must_use]
    pub fn run(&self) -> Option<RunMode> {
        self.tool.run.or(self.defaults.run)
    }

    /// Returns who decides that a result is delivered.
    #[must_use]
    pub fn result(&self) -> ResultMode {
        self.tool
            .result
            .or(self.defaults.result)
            .unwrap_or_default()
    }

    /// Returns whether calls become tasks.
    #[must_use]
    pub fn task(&self) -> TaskMode {
        self.tool.task.unwrap_or_default()
    }

    /// Returns how calls and results are shown: the tool's own style as a whole, or that of `*`.
    #[must_use]
    pub fn style(&self) -> StyleConfig {
        let own = self.tool.style.as_ref().or(self.defaults.style.as_ref());
        own.cloned().unwrap_or_default()
    }

    /// Returns the path of the Wasm binary; only `local` tools have one.
    #[must_use]
    pub fn wasm(&self) -> Option<&RelativePath> {
        self.tool.wasm()
    }

    /// Returns the command; only `local` tools without a Wasm binary have one.
    #[must_use]
    pub fn command(&self) -> Option<&CommandConfig> {
        self.tool.command()
    }

    /// Returns one line about the tool.
    #[must_use]
    pub fn summary(&self) -> Option<&str> {
        let text = self
            .tool
            .summary
            .as_ref()
            .or(self.tool.description.as_ref());
        text.map(String::as_str)
    }

    /// Returns the JSON Schema of the tool's arguments.
    #[must_use]
    pub fn parameters_schema(&self) -> Value {
        let parameters = &self.tool.parameters;
        let properties = parameters.iter();
        let properties = properties.map(|(name, part)| (name.clone(), part.to_json_schema()));
        let mut schema = Object::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), Value::Object(properties.collect()));
        schema.insert("additionalProperties".into(), false.into());
        schema.insert(
            "required".into(),
            required(parameters).unwrap_or_else(|| Value::Array(Vec::new())),
        );
        Value::Object(schema)
    }

    /// Returns what the tool asks for.
    #[must_use]
    pub fn request(&self) -> Request {
        self.tool.request()
    }
}

impl ToolConfig {
    /// Returns the path of the Wasm binary; only `local` tools have one.
    #[must_use]
    pub fn wasm(&self) -> Option<&RelativePath> {
        let local = matches!(self.source, ToolSource::Local { .. });
        self.wasm.as_deref().filter(|_| local)
    }

    /// Returns the command; only `local` tools without a Wasm binary have one.
    #[must_use]
    pub fn command(&self) -> Option<&CommandConfig> {
        let local = matches!(self.source, ToolSource::Local { .. });
        self.command
            .as_ref()
            .filter(|_| local && self.wasm.is_none())
    }

    /// Returns what the tool asks for: what its kind needs, changed by what `grant` says.
    ///
    /// A Wasm tool needs the workspace; a command also needs to be run; a tool of an MCP server
    /// needs the server to be run. A builtin is given what the host prepares for the call.
    #[must_use]
    pub fn request(&self) -> Request {
        let (workspace, subprocess) = match self.source {
            // What a tool of a registry asks for stands in its signed manifest.
            ToolSource::Builtin { .. } | ToolSource::Registry { .. } => (None, false),
            // A core module could not open a file if it were given one.
            ToolSource::Local { .. } if self.abi.is_some() => (None, self.wasm.is_none()),
            ToolSource::Local { .. } => (Some(Access::ReadWrite), self.wasm.is_none()),
            ToolSource::Mcp { .. } => (None, true),
        };
        let workspace = workspace.filter(|_| self.grant.workspace.is_none());
        let workspace = workspace.and_then(|access| rule("/workspace", access));
        let stated = self.grant.stated();
        let files = stated.files.rules().iter().cloned().chain(workspace);
        Request {
            capabilities: Capabilities {
                files: Files::new(files),
                subprocess,
                ..stated
            },
            limits: self.limits.to_request(),
            // A tool configured by hand has no fuel limit unless one is set.
            default_fuel: None,
            conditional: Vec::new(),
        }
    }
}

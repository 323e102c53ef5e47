//! What a tool is: its name, what a model is told about it, and how it runs.

use jp_config::{
    Layer,
    tool::{Enable, InlineResults, ParametersStyle, ResultMode, RunMode, ToolSource},
};
use jp_policy::{Capabilities, Request};
use jp_registry::Pinned;
use serde_json::{Map, Value};

use super::{PreparedTool, arguments::SchemaBy, body::Body, stamp::ReadFrom};
use crate::{Host, runtime::Manual};

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

/// A tool that can be called, as data. Prepare it to call it more than once.
#[derive(Clone)]
pub struct ToolDefinition {
    /// Its id.
    pub name: String,
    /// What people and models are told about it.
    pub docs: ToolDocs,
    /// The JSON Schema of its arguments, as it gets them: see [`Self::known_schema`].
    pub schema: Value,
    /// The JSON Schema of its results, which are JSON then.
    pub output_schema: Option<Value>,
    /// Where it comes from.
    pub source: ToolSource,
    /// What it asks for.
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
    /// How much of its result is shown to the person who decides whether it is delivered.
    pub inline_results: InlineResults,
    /// Answers that are always the same.
    pub fixed_answers: Map<String, Value>,
    /// Free options of the configuration.
    pub options: Map<String, Value>,
    /// The models it reads.
    pub(super) models: Vec<Pinned>,
    /// What the workspace allows its tooling, if the tool is part of that.
    pub(crate) app: Option<Capabilities>,
    /// What is asked for explicitly, and not because of the kind of tool.
    pub(crate) stated: Request,
    pub(super) enable: Enable,
    /// What runs when it is called.
    pub(crate) body: Body,
    /// Whether only the tool itself knows what it takes.
    pub(super) undeclared: bool,
    pub(super) schema_by: SchemaBy,
    /// The schema of its arguments as callers write them, where that differs.
    pub(super) callers_schema: Option<Value>,
    /// What the tools ask for on whose data this one works.
    pub(super) others: Vec<(String, Request)>,
    /// The files of the workspace that say what it is.
    pub(super) read_from: Vec<ReadFrom>,
}

impl ToolDefinition {
    pub(crate) fn bare(
        name: &str,
        docs: ToolDocs,
        schema: Value,
        source: ToolSource,
        request: Request,
        body: Body,
    ) -> Self {
        Self {
            name: name.to_owned(),
            docs,
            schema,
            output_schema: None,
            source,
            request,
            defined_by: Layer::User,
            wasm: None,
            run: None,
            result: ResultMode::default(),
            parameters_style: ParametersStyle::default(),
            inline_results: InlineResults::default(),
            fixed_answers: Map::new(),
            options: Map::new(),
            models: Vec::new(),
            app: None,
            stated: Request::default(),
            enable: Enable::On,
            body,
            undeclared: false,
            schema_by: SchemaBy::Us,
            callers_schema: None,
            others: Vec::new(),
            read_from: Vec::new(),
        }
    }

    /// Gives the tool another name, by which it is called.
    pub(super) fn renamed(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Makes ready for calls: what is compiled and looked up for the first of them is kept for the rest.
    #[must_use]
    pub fn prepare(self) -> PreparedTool {
        PreparedTool::new(self)
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

    /// Returns the schema of its arguments as callers write them, as far as that is known without asking
    /// the tool.
    #[must_use]
    pub fn known_schema(&self) -> &Value {
        self.callers_schema.as_ref().unwrap_or(&self.schema)
    }

    /// Returns what a tool of this process says about itself; nothing for every other kind.
    #[must_use]
    pub fn manual(&self) -> Option<Manual> {
        self.body.manual()
    }

    /// Tells whether the tool can be called at all.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        !matches!(self.enable, Enable::Off)
    }

    /// Returns when models are offered the tool.
    #[must_use]
    pub const fn enable(&self) -> Enable {
        self.enable
    }

    /// Tells whether models are offered the tool. One that they are not offered they cannot call.
    #[must_use]
    pub fn is_offered(&self, host: &Host) -> bool {
        host.caller().selection.offers(&self.name, self.enable)
    }
}

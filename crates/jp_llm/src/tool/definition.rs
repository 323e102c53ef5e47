//! What a tool is: its name, what a model is told about it, and how it runs.

use std::sync::{Arc, OnceLock};

use jp_config::{
    Layer,
    tool::{Enable, InlineResults, ParametersStyle, ResultMode, RunMode, ToolSource},
};
use jp_policy::{Capabilities, Request};
use jp_registry::{Pinned, schema_for_callers};
use jp_tool::DescribedTool;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use super::{
    HostError, ToolError,
    arguments::{Checker, SchemaBy, SchemaError},
    execute::Composed,
};
use crate::{Host, registry::Seen, runtime::ToolRuntime};

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

/// A model of a tool.
#[derive(Debug)]
pub(crate) struct ModelFile {
    /// Its directory, as the guest sees it: `/models/<id>`. The file in it has its sha256 as its name.
    pub(crate) place: String,
    /// Which bytes it must be.
    pub(crate) pinned: Pinned,
    /// Where it lies on this machine, once it was verified.
    pub(crate) found: Seen,
}

impl ModelFile {
    pub(super) fn new(pinned: &Pinned) -> Self {
        Self {
            place: format!("/models/{}", pinned.id),
            pinned: pinned.clone(),
            found: Seen::default(),
        }
    }
}

/// A tool that can be called.
pub struct ToolDefinition {
    /// Its id.
    pub name: String,
    /// What people and models are told about it.
    pub docs: ToolDocs,
    /// The JSON Schema of its arguments, as it gets them: see [`Self::known_schema`].
    pub schema: Value,
    /// The JSON Schema of its results, which are JSON then. Not to be changed once the tool was called.
    pub output_schema: Option<Value>,
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
    /// How much of its result is shown to whoever decides that it is delivered.
    pub inline_results: InlineResults,
    /// Answers that are always the same.
    pub fixed_answers: Map<String, Value>,
    /// Free options of the configuration.
    pub options: Map<String, Value>,
    /// The models it reads, verified.
    pub(crate) models: Vec<ModelFile>,
    /// What the workspace allows its tooling, if the tool is part of that.
    pub(crate) app: Option<Capabilities>,
    /// What is asked for in so many words, and not because of the kind of tool.
    pub(crate) stated: Request,
    pub(crate) enable: Enable,
    pub(crate) runtime: Arc<dyn ToolRuntime>,
    /// Whether only the tool itself knows what it takes.
    pub(super) undeclared: bool,
    pub(super) described: OnceCell<Option<DescribedTool>>,
    pub(super) schema_by: SchemaBy,
    /// The schema of its arguments as callers write them, where that differs.
    pub(super) callers_schema: OnceLock<Value>,
    pub(super) checker: OnceLock<Result<Checker, SchemaError>>,
    pub(super) result_checker: OnceLock<Result<Checker, SchemaError>>,
    pub(crate) composed: OnceLock<Composed>,
    /// What the tools ask for on whose data this one works.
    pub(crate) others: Vec<(String, Request)>,
}

impl ToolDefinition {
    pub(crate) fn bare(
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
            runtime,
            undeclared: false,
            described: OnceCell::new(),
            schema_by: SchemaBy::Us,
            callers_schema: OnceLock::new(),
            checker: OnceLock::new(),
            result_checker: OnceLock::new(),
            composed: OnceLock::new(),
            others: Vec::new(),
        }
    }

    /// Gives the tool another name, by which it is called.
    pub(super) fn renamed(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
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

    /// Returns the schema of its arguments as callers write them: its own, once it was asked, or the
    /// configured one.
    #[must_use]
    pub fn known_schema(&self) -> &Value {
        match self.described.get() {
            Some(Some(tool)) => &tool.parameters,
            _ if self.schema_by == SchemaBy::Manifest => self.callers_schema.get_or_init(|| {
                let mut schema = self.schema.clone();
                schema_for_callers(&mut schema);
                schema
            }),
            _ => &self.schema,
        }
    }

    /// Returns the schema of its results: the one of its manifest or server, or its own, once it was asked.
    #[must_use]
    pub fn known_output_schema(&self) -> Option<&Value> {
        let described = || self.described.get()?.as_ref()?.output_schema.as_ref();
        self.output_schema.as_ref().or_else(described)
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

    /// Tells whether only the tool itself knows what it takes, and nobody has asked it yet.
    #[must_use]
    pub fn is_unasked(&self) -> bool {
        self.undeclared && !self.described.initialized()
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

    /// Returns the checks of its arguments, made when the tool is first called.
    pub(crate) fn checker(&self) -> Result<&Checker, ToolError> {
        let (schema, by) = match self.described.get() {
            Some(Some(tool)) => (&tool.parameters, SchemaBy::Others),
            _ => (&self.schema, self.schema_by),
        };
        let made = self.checker.get_or_init(|| Checker::new(schema, by));
        made.as_ref()
            .map_err(|error| self.no_schema("arguments", error))
    }

    /// Returns the checks of its results, made when the first one comes; nothing when it says nothing
    /// about them.
    pub(crate) fn result_checker(&self) -> Result<Option<&Checker>, ToolError> {
        let Some(schema) = self.known_output_schema() else {
            return Ok(None);
        };
        let by = match (&self.output_schema, self.schema_by) {
            // A server's schema says itself which draft it is.
            (None, _) | (_, SchemaBy::Others) => SchemaBy::Others,
            (Some(_), SchemaBy::Manifest | SchemaBy::Us) => SchemaBy::Manifest,
        };
        let make = || Checker::new(schema, by);
        let made = self.result_checker.get_or_init(make);
        let made = made.as_ref().map(Some);
        made.map_err(|error| self.no_schema("results", error))
    }

    fn no_schema(&self, of: &'static str, error: &SchemaError) -> ToolError {
        let source = error.clone();
        ToolError::new(&*self.name, HostError::Schema { of, source })
    }
}

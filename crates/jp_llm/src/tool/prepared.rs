//! A tool that is ready for calls: its definition, what runs it, and what is worth keeping between calls.

use std::{
    ops::Deref,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jp_policy::Grant;
use jp_registry::Pinned;
use jp_tool::DescribedTool;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{
    Call, Executed, ExecutionOutcome, HostError, InvalidCall, Preview, ToolDefinition, ToolDocs,
    ToolError,
    arguments::{Checker, SchemaBy, SchemaError},
    body::Body,
    execute::KnownGrants,
    stamp::Stamp,
};
use crate::{
    Digest, Host, decisions,
    registry::Seen,
    runtime::{Memory, ToolRuntime},
    sha256_file,
};

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
    fn new(pinned: &Pinned) -> Self {
        Self {
            place: format!("/models/{}", pinned.id),
            pinned: pinned.clone(),
            found: Seen::default(),
        }
    }
}

/// A tool that is ready for calls. Calls may be made from many threads at once, by any number of callers:
/// what is kept between them is the same for all, or kept for each.
pub struct PreparedTool {
    definition: ToolDefinition,
    pub(super) runtime: Arc<dyn ToolRuntime>,
    /// The models it reads, verified once.
    pub(crate) model_files: Vec<ModelFile>,
    described: OnceCell<Option<DescribedTool>>,
    checker: OnceLock<Result<Checker, SchemaError>>,
    result_checker: OnceLock<Result<Checker, SchemaError>>,
    pub(super) grants: KnownGrants,
    /// The hash of its Wasm file in the workspace, and what the file looked like then.
    file: Mutex<Option<(Stamp, Arc<str>)>>,
    /// The digest of what it is, without such a file.
    digest: OnceLock<Digest>,
}

/// What is known of the tool before it is called.
impl Deref for PreparedTool {
    type Target = ToolDefinition;

    fn deref(&self) -> &ToolDefinition {
        &self.definition
    }
}

impl PreparedTool {
    pub(super) fn new(definition: ToolDefinition) -> Self {
        Self {
            runtime: definition.body.runtime(),
            model_files: definition.models.iter().map(ModelFile::new).collect(),
            described: OnceCell::new(),
            checker: OnceLock::new(),
            result_checker: OnceLock::new(),
            grants: KnownGrants::default(),
            file: Mutex::default(),
            digest: OnceLock::new(),
            definition,
        }
    }

    /// Tells whether its definition, made anew, would say the same, as far as that depends on files of
    /// the workspace or on what a server has told. What depends on the configuration is as old as the
    /// host.
    #[must_use]
    pub fn is_current(&self, host: &Host) -> bool {
        let told = match &self.definition.body {
            Body::Server(tool) => host.mcp().is_some_and(|servers| servers.has_told(tool)),
            _ => true,
        };
        told && self.definition.read_from.iter().all(|file| file.is_same())
    }

    /// Runs the tool.
    ///
    /// # Errors
    ///
    /// When the call produced no outcome: it was not allowed, was stopped, or the host failed.
    pub async fn execute(&self, call: Call, host: &Host) -> Result<ExecutionOutcome, ToolError> {
        self.execute_detailed(call, host).await.result
    }

    /// Returns the schema of its arguments as callers write them: its own, once it was asked, or the
    /// configured one.
    #[must_use]
    pub fn known_schema(&self) -> &Value {
        match self.described.get() {
            Some(Some(tool)) => &tool.parameters,
            _ => self.definition.known_schema(),
        }
    }

    /// Returns the schema of its results: the one of its manifest or server, or its own, once it was asked.
    #[must_use]
    pub fn known_output_schema(&self) -> Option<&Value> {
        let described = || self.described.get()?.as_ref()?.output_schema.as_ref();
        self.output_schema.as_ref().or_else(described)
    }

    /// Returns what people and models are told about it: what the configuration says, and what it says
    /// itself, once it was asked.
    #[must_use]
    pub fn known_docs(&self) -> ToolDocs {
        let mut docs = self.docs.clone();
        if let Some(Some(tool)) = self.described.get() {
            docs.summary.get_or_insert_with(|| tool.summary.clone());
            docs.description = docs.description.or_else(|| tool.description.clone());
        }
        docs
    }

    /// Tells whether only the tool itself knows what it takes, and nobody has asked it yet.
    #[must_use]
    pub fn is_unasked(&self) -> bool {
        self.undeclared && !self.described.initialized()
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

    /// Says how much memory a call may use under a grant.
    #[must_use]
    pub fn memory(&self, grant: &Grant, host: &Host) -> Memory {
        self.runtime.memory(&self.request, grant.limits(), host)
    }

    /// Returns the hash of its Wasm file in the workspace as it is now, if it has one that can be read.
    fn file_hash(&self, host: &Host) -> Option<Arc<str>> {
        let Body::File(path, _) = &self.definition.body else {
            return None;
        };
        let path = path.to_path(host.root());
        let stamp = Stamp::of(&path)?;
        let mut known = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, hash)) = known.as_ref()
            && *then == stamp
        {
            return Some(Arc::clone(hash));
        }
        let hash: Arc<str> = sha256_file(&path).ok()?.into();
        *known = Some((stamp, Arc::clone(&hash)));
        Some(hash)
    }

    /// Returns the digest of what it is as of now, and the hash of its Wasm file, if it has one.
    pub(super) fn seen(&self, host: &Host) -> (Digest, Option<Arc<str>>) {
        let digest = self
            .digest
            .get_or_init(|| decisions::definition(&self.definition));
        match (&self.definition.body, self.file_hash(host)) {
            (Body::File(..), file) => {
                let hash = file.as_deref().unwrap_or("unread");
                (decisions::with_file(digest, hash), file)
            }
            _ => (*digest, None),
        }
    }

    /// Returns the checks of its arguments, made when the tool is first called.
    pub(super) fn checker(&self) -> Result<&Checker, ToolError> {
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
    pub(super) fn result_checker(&self) -> Result<Option<&Checker>, ToolError> {
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

/// Calls of a tool that is prepared for just one of them.
impl ToolDefinition {
    /// Runs the tool: the only way to do so. [`PreparedTool::execute`] is the same for many calls.
    ///
    /// # Errors
    ///
    /// When the call produced no outcome: it was not allowed, was stopped, or the host failed.
    pub async fn execute(&self, call: Call, host: &Host) -> Result<ExecutionOutcome, ToolError> {
        self.clone().prepare().execute(call, host).await
    }

    /// Runs the tool and returns all that is known about the call.
    pub async fn execute_detailed(&self, call: Call, host: &Host) -> Executed {
        self.clone().prepare().execute_detailed(call, host).await
    }

    /// Says what a call would get, without making one.
    ///
    /// # Errors
    ///
    /// When the call would be denied.
    pub fn preview(&self, host: &Host) -> Result<Preview, ToolError> {
        self.clone().prepare().preview(host)
    }

    /// Says what this very call would get: see [`PreparedTool::preview_call`].
    ///
    /// # Errors
    ///
    /// When the call would be denied, or the tool's schema is invalid.
    pub fn preview_call(
        &self,
        call: Call,
        host: &Host,
    ) -> Result<Result<Preview, InvalidCall>, ToolError> {
        self.clone().prepare().preview_call(call, host)
    }
}

#[cfg(test)]
#[path = "prepared_tests.rs"]
mod tests;

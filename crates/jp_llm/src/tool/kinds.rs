//! The kinds of tools that need no configuration: builtins, the virtual bash, modules that lie in the
//! workspace, and tools of this process.

use std::sync::Arc;

use jp_config::{Layer, tool::ToolSource};
use jp_policy::Request;
use jp_tool::Tool;
use relative_path::RelativePathBuf;
use serde_json::Value;

use super::{ToolDefinition, ToolDocs, arguments::SchemaBy, body::Body, stamp::ReadFrom};
use crate::{Host, runtime::NativeRuntime, wasm::Entry};

/// The builtin that runs scripts in the virtual bash.
pub(super) const BASH: &str = "bash";

impl ToolDefinition {
    /// The virtual bash: the one builtin that is not a component.
    pub(super) fn bash(name: &str) -> Self {
        let tool = jp_bash::BashTool::default();
        let docs = ToolDocs {
            summary: Some(tool.short_description().to_owned()),
            description: Some(tool.description()),
            examples: None,
        };
        let source = ToolSource::Builtin { tool: None };
        let schema = tool.input_schema();
        Self::bare(name, docs, schema, source, Request::default(), Body::Bash)
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
        let body = Body::Native(Arc::new(NativeRuntime::new(tool)));
        Self {
            schema_by: SchemaBy::Others,
            ..Self::bare(name, docs, schema, source, request, body)
        }
    }

    /// A module that lies in the workspace under a name of the convention.
    pub(super) fn brought(name: &str, path: RelativePathBuf, host: &Host) -> Self {
        let docs = ToolDocs {
            summary: Some(format!("The module {path} of this workspace")),
            ..ToolDocs::default()
        };
        let source = ToolSource::Local { tool: None };
        let entry = Entry {
            name: name.to_owned(),
            function: None,
            abi: None,
        };
        let read_from = vec![ReadFrom::new(path.to_path(host.root()))];
        let body = Body::File(path.clone(), entry);
        let request = Request::default();
        Self {
            defined_by: Layer::Workspace,
            wasm: Some(path.into_string()),
            read_from,
            ..Self::bare(name, docs, any_object(), source, request, body)
        }
    }
}

/// The schema of arguments that only the tool itself can judge.
pub(super) fn any_object() -> Value {
    serde_json::json!({ "type": "object" })
}

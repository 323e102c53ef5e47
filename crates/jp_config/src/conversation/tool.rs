//! `[conversation.tools.<id>]`: one tool, and `'*'` for what holds for all of them.
//!
//! Says what is configured; what a call really may do is composed elsewhere.

mod command;
pub(crate) mod family;
mod grant;
mod limits;
mod parameter;
pub(crate) mod paths;
mod question;
mod resolved;
mod source;
mod style;
mod tools;

pub use command::CommandConfig;
pub use family::Family;
pub use grant::{CallGrant, EnvGrant, FileGrant, GrantConfig, NetGrant, WorkspaceAccess};
pub use limits::{ByteSize, LimitsConfig, Millis};
pub use parameter::{ParameterType, ToolParameterConfig, TypeName};
pub use paths::{HostPath, PathAccess, PathGrant};
pub use question::{QuestionConfig, QuestionTarget};
pub use resolved::ToolConfigWithDefaults;
pub use source::ToolSource;
pub use style::{InlineResults, ParametersStyle, StyleConfig};
pub use tools::{ToolDefaults, ToolsConfig};

use relative_path::RelativePathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    app::Map,
    inside,
    scalar::scalar,
    stage::{Complete, Stage, is_default},
};

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "ToolConfig", bound = "R: Stage")]
pub struct ToolConfig<R: Stage = Complete> {
    /// Where the tool comes from: `builtin`, `local`, `mcp.<server>` or `registry`, and after a
    /// further dot its name there. Required.
    pub source: R::Required<ToolSource>,
    /// Whether models are offered the tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub enable: Option<Enable>,
    /// The command of a `local` tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub command: Option<CommandConfig>,
    /// Path to a Wasm binary for local tools.
    ///
    /// When set on a `local` tool, the tool is executed as a Wasm component instead of a shell
    /// command. The path is relative to the workspace root.
    ///
    /// Ignored for `builtin`, `mcp` and `registry` tools.
    #[serde(
        default,
        deserialize_with = "inside::optional",
        skip_serializing_if = "is_default"
    )]
    #[schemars(with = "Option<String>")]
    pub wasm: Option<RelativePathBuf>,
    /// The function of a Wasm module that is called; `execute` unless set. Components have none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub entrypoint: Option<String>,
    /// The version of the calling convention of a Wasm module: 1, or 2 for modules that take the
    /// results of their capability calls.
    #[serde(default, skip_serializing_if = "is_default")]
    pub abi: Option<u8>,
    /// One line about the tool; the description unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub summary: Option<String>,
    /// What the tool does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// How the tool is used.
    #[serde(default, skip_serializing_if = "is_default")]
    pub examples: Option<String>,
    /// The tool's parameters by name.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "std::collections::BTreeMap<String, ToolParameterConfig>")]
    pub parameters: Map<ToolParameterConfig>,
    /// Who decides that the tool runs; what the grant calls for unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub run: Option<RunMode>,
    /// Who decides that a result is delivered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub result: Option<ResultMode>,
    /// Whether `jp serve` makes a task of a call, which a client that knows tasks comes back for; `auto`
    /// unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task: Option<TaskMode>,
    /// How calls and results are shown. A tool's own style replaces that of `*` as a whole.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: Option<StyleConfig>,
    /// What is known about the questions of a Wasm tool or a command, by question id.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "std::collections::BTreeMap<String, QuestionConfig>")]
    pub questions: Map<QuestionConfig>,
    /// Free options for the templates of a command; of `bash`, `session = "kept"`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub options: Map<Value>,
    /// How much a call may use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: LimitsConfig,
    /// What a call must be able to do, where that is not the default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grant: GrantConfig,
}

/// Whether models are offered a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Enable {
    /// It is offered.
    #[default]
    On,
    /// It is not offered.
    Off,
    /// It is offered when it is asked for by name.
    Explicit,
    /// It is offered and cannot be turned off.
    Always,
}

scalar! {
    Enable: "`true`, `false`, `on`, `off`, `explicit` or `always`",
    schema { "anyOf": [{ "type": "boolean" }, { "enum": ["on", "off", "explicit", "always"] }] },
    read |value| match value {
        Value::Bool(true) => Some(Self::On),
        Value::Bool(false) => Some(Self::Off),
        Value::String(text) => match text.as_str() {
            "on" => Some(Self::On),
            "off" => Some(Self::Off),
            "explicit" => Some(Self::Explicit),
            "always" => Some(Self::Always),
            _ => None,
        },
        _ => None,
    },
    write |this| Value::from(match this {
        Enable::On => "on",
        Enable::Off => "off",
        Enable::Explicit => "explicit",
        Enable::Always => "always",
    }),
}

/// Who decides that a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// A person is asked.
    Ask,
    /// Nobody is asked.
    Unattended,
    /// A person edits the arguments first.
    Edit,
    /// The tool never runs.
    Skip,
}

/// Who decides that a result is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultMode {
    /// Nobody is asked.
    #[default]
    Unattended,
    /// A person is asked.
    Ask,
    /// A person edits the result first.
    Edit,
    /// The result is never delivered.
    Skip,
}

/// Whether a call becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskMode {
    /// It does when it takes long.
    #[default]
    Auto,
    /// It does at once; what the tool asks is asked of the task.
    Always,
    /// It does once all that the tool asks is answered, and clients that know no tasks cannot make it.
    Required,
    /// It never does.
    Never,
}

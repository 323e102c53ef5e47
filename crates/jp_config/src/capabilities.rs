//! `[capabilities]`: what the app allows its tools at most, in the grammar that manifests use.
//!
//! An app's own word can only take away: whatever it says, the user's `[policy]` holds too. Where
//! several layers say something, each statement stands for itself and nothing is allowed that one
//! of them leaves out, so that no workspace can widen what its user wrote.

use jp_policy::{Capabilities, Declared, USER_PATHS};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::value::ValueError;

/// The key of the section.
pub(crate) const KEY: &str = "capabilities";

/// The most layers that can say something: what each allows is held against all others.
pub(crate) const MAX_STATEMENTS: usize = 32;
/// The most names of calls and variables of one statement, for the same reason.
pub(crate) const MAX_NAMES: usize = 1_024;

/// What the app allows its tools, by everyone who says something about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct CapabilitiesConfig {
    statements: Vec<Value>,
    allowed: Capabilities,
}

impl CapabilitiesConfig {
    /// Returns what all statements allow.
    #[must_use]
    pub const fn allowed(&self) -> &Capabilities {
        &self.allowed
    }

    /// Returns the statements as they were written, lowest layer first.
    #[must_use]
    pub fn statements(&self) -> &[Value] {
        &self.statements
    }
}

/// What tools of an app have that says nothing: what every tool has without asking, and a directory
/// of the call's own.
pub(crate) fn unstated() -> Capabilities {
    Declared::default().capabilities().unwrap_or_default()
}

/// Puts what several layers say side by side.
pub(crate) fn together(mut statements: Vec<Value>) -> Option<Value> {
    if statements.len() > 1 {
        return Some(Value::Array(statements));
    }
    statements.pop()
}

impl TryFrom<Value> for CapabilitiesConfig {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let statements = match value {
            Value::Object(_) => vec![value],
            Value::Array(statements) if !statements.is_empty() => statements,
            other => {
                return Err(ValueError::form("a table of capabilities", &other));
            }
        };
        if statements.len() > MAX_STATEMENTS {
            let found = statements.len();
            return Err(ValueError::ManyStatements { found });
        }
        let mut allowed: Option<Capabilities> = None;
        for statement in &statements {
            let this = declared(statement)?;
            allowed = Some(match allowed {
                Some(allowed) => allowed.intersect(&this),
                None => this,
            });
        }
        Ok(Self {
            statements,
            allowed: allowed.unwrap_or_else(unstated),
        })
    }
}

fn declared(statement: &Value) -> Result<Capabilities, ValueError> {
    for key in ["calls", "env"] {
        let names = statement.get(key).and_then(Value::as_array);
        if names.is_some_and(|names| names.len() > MAX_NAMES) {
            return Err(ValueError::ManyNames { key });
        }
    }
    Ok(Declared::deserialize(statement)?.capabilities()?)
}

impl From<CapabilitiesConfig> for Value {
    fn from(config: CapabilitiesConfig) -> Self {
        together(config.statements).unwrap_or_default()
    }
}

impl JsonSchema for CapabilitiesConfig {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CapabilitiesConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let flag = |description: &str| json!({ "type": "boolean", "description": description });
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        let port = json!({ "type": "integer", "minimum": 1, "maximum": 65535 });
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "net": {
                    "description": "The hosts tools may reach: none, all, or those listed.",
                    "anyOf": [{ "type": "boolean" }, texts.clone(), {
                        "type": "object",
                        "properties": {
                            "allowed_hosts": texts.clone(),
                            "allowed_ports": { "type": "array", "items": port },
                        },
                        "additionalProperties": false,
                    }],
                },
                "fs": {
                    "description": "The files tools may use; `false` takes even temporary ones away.",
                    "anyOf": [{ "const": false }, files_schema()],
                },
                "clocks": flag("Whether clocks may be read."),
                "random": flag("Whether random numbers may be read."),
                "env": {
                    "description": "The environment variables that tools may see.",
                    "anyOf": [{ "const": false }, texts.clone()],
                },
                "process": { "const": false, "description": "Never granted; see `tool.exec.subprocess`." },
                "stdio": {
                    "description": "Whether arguments and results may go over standard input and output.",
                    "anyOf": [{ "type": "boolean" }, { "enum": ["none", "read-write"] }],
                },
                "tool.exec.subprocess": flag("Whether tools may run commands of the host."),
                "tools.mcp": flag("Whether tools may use the servers of `[providers.mcp]`."),
                "calls": {
                    "description": "What the host may do on tools' behalf, by name.",
                    "type": "array",
                    "items": { "type": "string" },
                },
            },
            "additionalProperties": false,
        })
    }
}

fn files_schema() -> Value {
    let access = |description: &str| {
        json!({
            "anyOf": [{ "enum": ["read", "read-write"] }, { "const": false }],
            "description": description,
        })
    };
    let user_paths: serde_json::Map<String, Value> = USER_PATHS
        .into_iter()
        .map(|name| (name.to_owned(), access("What may be done there.")))
        .collect();
    json!({
        "type": "object",
        "properties": {
            "scope": {
                "const": "$TOOL_TEMP",
                "description": "A directory of the call's own, which is always there.",
            },
            "user-selected": access("Files that a person chooses for one call."),
            "app-data": access("The app's own data."),
            "user-paths": {
                "description": "Directories of the user.",
                "type": "object",
                "properties": user_paths,
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}

//! The command of a tool: a line that is split into words, or a table.
//!
//! Words are split when the file is read and templates are filled in later, so that an argument
//! with spaces cannot become two.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scalar::describe;

/// The command of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct CommandConfig {
    /// The program.
    pub program: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Whether `program` is a line for `sh -c`.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub shell: bool,
}

/// The table form.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CommandTable {
    /// The program.
    program: String,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Whether `program` is a line for `sh -c`.
    #[serde(default)]
    shell: bool,
}

impl TryFrom<Value> for CommandConfig {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(line) => Self::from_line(&line),
            table @ Value::Object(_) => {
                let table = CommandTable::deserialize(table).map_err(|error| error.to_string())?;
                Self {
                    program: table.program,
                    args: table.args,
                    shell: table.shell,
                }
                .checked()
            }
            other => Err(format!(
                "expected a command line or a table with `program`, found {}",
                describe(&other)
            )),
        }
    }
}

impl CommandConfig {
    /// Splits a line into words as a shell would, without running anything.
    ///
    /// # Errors
    ///
    /// When a quote is not closed or there is no word.
    pub fn from_line(line: &str) -> Result<Self, String> {
        let words = shlex::split(line)
            .ok_or_else(|| format!("the command has an open quote: {}", describe(&line.into())))?;
        let mut words = words.into_iter();
        let program = words.next().ok_or("the command is empty")?;
        let args = words.collect();
        Self {
            program,
            args,
            shell: false,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, String> {
        if self.program.trim().is_empty() {
            return Err("the command is empty".to_string());
        }
        let nul = |text: &String| text.contains('\0');
        if nul(&self.program) || self.args.iter().any(nul) {
            return Err("the command has a NUL, which no program can be given".to_string());
        }
        Ok(self)
    }
}

impl JsonSchema for CommandConfig {
    fn schema_name() -> Cow<'static, str> {
        "CommandConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<CommandTable>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

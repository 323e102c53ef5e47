//! How calls and results are shown.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CommandConfig;
use crate::{scalar::scalar, stage::is_default};

/// How calls and results are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StyleConfig {
    /// Whether nothing is shown at all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden: bool,
    /// How much of a result is shown; 10 lines unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inline_results: InlineResults,
    /// How the file of a result is linked to.
    #[serde(default, skip_serializing_if = "is_default")]
    pub results_file_link: ResultsFileLink,
    /// How arguments are shown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub parameters: ParametersStyle,
}

/// How much of a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum InlineResults {
    /// Nothing.
    Off,
    /// All of it.
    Full,
    /// The first lines.
    Lines(u32),
}

impl Default for InlineResults {
    fn default() -> Self {
        Self::Lines(10)
    }
}

scalar! {
    InlineResults: "`off`, `full`, `true`, `false` or a number of lines",
    schema { "anyOf": [{ "type": "boolean" }, { "enum": ["off", "full"] }, { "type": "integer", "minimum": 0 }] },
    read |value| match value {
        Value::Bool(false) => Some(Self::Off),
        Value::Bool(true) => Some(Self::Full),
        Value::String(text) if text == "off" => Some(Self::Off),
        Value::String(text) if text == "full" => Some(Self::Full),
        Value::Number(lines) => lines.as_u64().and_then(|lines| u32::try_from(lines).ok()).map(Self::Lines),
        _ => None,
    },
    write |this| match this {
        InlineResults::Off => "off".into(),
        InlineResults::Full => "full".into(),
        InlineResults::Lines(lines) => lines.into(),
    },
}

/// How the file of a result is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultsFileLink {
    /// As a path.
    #[default]
    Full,
    /// As a link of the terminal.
    Osc8,
    /// Not at all.
    Off,
}

/// How the arguments of a call are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ParametersStyle {
    /// As JSON.
    #[default]
    Json,
    /// As a call in a programming language.
    FunctionCall,
    /// Not at all.
    Off,
    /// As the tool itself formats them.
    Tool,
    /// As a command formats them.
    Command(CommandConfig),
}

impl TryFrom<Value> for ParametersStyle {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value.as_str() {
            Some("json") => Ok(Self::Json),
            Some("function_call") => Ok(Self::FunctionCall),
            Some("off") => Ok(Self::Off),
            Some("tool") => Ok(Self::Tool),
            _ => CommandConfig::try_from(value).map(Self::Command),
        }
    }
}

impl From<ParametersStyle> for Value {
    fn from(style: ParametersStyle) -> Self {
        match style {
            ParametersStyle::Json => "json".into(),
            ParametersStyle::FunctionCall => "function_call".into(),
            ParametersStyle::Off => "off".into(),
            ParametersStyle::Tool => "tool".into(),
            ParametersStyle::Command(command) => serde_json::to_value(command).unwrap_or_default(),
        }
    }
}

impl JsonSchema for ParametersStyle {
    fn schema_name() -> Cow<'static, str> {
        "ParametersStyle".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let command = generator.subschema_for::<CommandConfig>();
        schemars::json_schema!({
            "description": "`json`, `function_call`, `off`, `tool`, or the command that formats them",
            "anyOf": [{ "enum": ["json", "function_call", "off", "tool"] }, command],
        })
    }
}

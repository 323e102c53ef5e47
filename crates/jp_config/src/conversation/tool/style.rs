//! How calls and results are shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{scalar::scalar, stage::is_default};

/// How calls and results are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StyleConfig {
    /// How much of a result is shown to the person who decides whether to deliver it; 10 lines unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inline_results: InlineResults,
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

/// How the arguments of a call are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
}

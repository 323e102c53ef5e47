//! What is known in advance about a tool's questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{scalar::scalar, stage::is_default};

/// What is known about one question of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionConfig {
    /// Who answers it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub target: QuestionTarget,
    /// The answer, if it is always the same.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answer: Option<Value>,
}

/// Who answers a question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum QuestionTarget {
    /// The person at the terminal.
    #[default]
    User,
    /// The model.
    Assistant,
    /// The model, set up differently.
    AssistantWith(serde_json::Map<String, Value>),
}

scalar! {
    QuestionTarget: "`user`, `assistant` or a table that sets up the assistant",
    schema { "anyOf": [{ "enum": ["user", "assistant"] }, { "type": "object" }] },
    read |value| match value {
        Value::String(text) if text == "user" => Some(Self::User),
        Value::String(text) if text == "assistant" => Some(Self::Assistant),
        Value::Object(table) => Some(Self::AssistantWith(table.clone())),
        _ => None,
    },
    write |this| match this {
        QuestionTarget::User => "user".into(),
        QuestionTarget::Assistant => "assistant".into(),
        QuestionTarget::AssistantWith(table) => Value::Object(table),
    },
}

//! `[conversation]`: the tools a conversation may use.

pub mod tool;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stage::{Complete, Stage};
use tool::ToolsConfig;

/// What conversations use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "ConversationConfig", bound = "R: Stage")]
pub struct ConversationConfig<R: Stage = Complete> {
    /// The tools, and under `*` what holds for all of them.
    #[serde(default, skip_serializing_if = "ToolsConfig::is_empty")]
    pub tools: ToolsConfig<R>,
}

impl<R: Stage> Default for ConversationConfig<R> {
    fn default() -> Self {
        Self {
            tools: ToolsConfig::default(),
        }
    }
}

impl<R: Stage> ConversationConfig<R> {
    /// Returns whether this section says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

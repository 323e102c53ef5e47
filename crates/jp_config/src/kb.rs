//! `[kb.topic.<id>]`: the topics that `learn` offers.
//!
//! Knows nothing of what is in a topic's directory.

use relative_path::RelativePathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::Map,
    inside::InsidePath,
    stage::{Complete, Stage, is_default},
};

/// The knowledge base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "KnowledgeBaseConfig", bound = "R: Stage")]
pub struct KnowledgeBaseConfig<R: Stage = Complete> {
    /// The topics by id.
    #[serde(rename = "topic", default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, TopicConfig<R>>")]
    pub topics: Map<TopicConfig<R>>,
}

impl<R: Stage> Default for KnowledgeBaseConfig<R> {
    fn default() -> Self {
        Self { topics: Map::new() }
    }
}

impl<R: Stage> KnowledgeBaseConfig<R> {
    /// Returns whether this section says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }
}

/// One topic: a directory of subjects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "TopicConfig", bound = "R: Stage")]
pub struct TopicConfig<R: Stage = Complete> {
    /// Whether the topic exists at all; `true` unless set.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enable: bool,
    /// The name that headings show in place of the id.
    #[serde(default, skip_serializing_if = "is_default")]
    pub title: Option<String>,
    /// One line for the list of topics in the system prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub introduction: Option<String>,
    /// What the topic holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub description: Option<String>,
    /// The directory of the subjects, relative to the workspace. Required.
    pub subjects: R::Required<InsidePath>,
    /// Globs of the subjects that are put into the system prompt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub learned: Vec<String>,
    /// Subjects that nobody can load.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disabled: Vec<String>,
}

impl TopicConfig {
    /// Returns the directory of the subjects, relative to the workspace.
    #[must_use]
    pub fn subjects(&self) -> &RelativePathBuf {
        self.subjects.path()
    }
}

const fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_yes(value: &bool) -> bool {
    *value
}

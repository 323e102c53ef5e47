//! The whole configuration, as the rest of the workspace reads it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ConfigError, PartialAppConfig,
    broker::BrokerConfig,
    conversation::ConversationConfig,
    extends::Extends,
    kb::KnowledgeBaseConfig,
    policy::PolicyConfig,
    providers::ProvidersConfig,
    stage::{Complete, Stage, is_default},
};

/// A map of the configuration; it keeps the order of the file.
pub type Map<T> = IndexMap<String, T>;

/// The configuration of jp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "R: Stage", deny_unknown_fields)]
#[schemars(rename = "AppConfig", bound = "R: Stage")]
pub struct AppConfig<R: Stage = Complete> {
    /// Other files to read: globs, or tables with `path` and `strategy`; relative to this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<Vec<Extends>>,
    /// What conversations use.
    #[serde(default, skip_serializing_if = "ConversationConfig::is_empty")]
    pub conversation: ConversationConfig<R>,
    /// The knowledge base.
    #[serde(default, skip_serializing_if = "KnowledgeBaseConfig::is_empty")]
    pub kb: KnowledgeBaseConfig<R>,
    /// Where tools come from.
    #[serde(default, skip_serializing_if = "ProvidersConfig::is_empty")]
    pub providers: ProvidersConfig,
    /// What tools may do at most; read from the user's own configuration file only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: Option<PolicyConfig>,
    /// What the host has to do things with on tools' behalf; read from the user's own configuration
    /// file only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub broker: BrokerConfig,
}

impl<R: Stage> Default for AppConfig<R> {
    fn default() -> Self {
        Self {
            extends: None,
            conversation: ConversationConfig::default(),
            kb: KnowledgeBaseConfig::default(),
            providers: ProvidersConfig::default(),
            policy: None,
            broker: BrokerConfig::default(),
        }
    }
}

impl AppConfig {
    /// Makes a configuration of what all layers say together.
    ///
    /// # Errors
    ///
    /// When a required value is absent; the error names the entry that lacks it.
    pub fn from_partial(partial: PartialAppConfig) -> Result<Self, ConfigError> {
        partial.complete()
    }

    /// Returns what this configuration says beyond the defaults.
    ///
    /// # Errors
    ///
    /// Never for a configuration that was loaded; a value made by hand can be one that no file
    /// could hold.
    pub fn to_partial(&self) -> Result<PartialAppConfig, ConfigError> {
        PartialAppConfig::of(self)
    }
}

//! The whole configuration, as the rest of the workspace reads it.

use indexmap::IndexMap;
use jp_policy::{Access, Capabilities, GuestPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ConfigError, PartialAppConfig,
    broker::BrokerConfig,
    capabilities::{self, CapabilitiesConfig},
    conversation::ConversationConfig,
    extends::Extends,
    kb::KnowledgeBaseConfig,
    policy::PolicyConfig,
    providers::ProvidersConfig,
    registries::RegistryConfig,
    serve::ServeConfig,
    stage::{Complete, Stage, is_default},
    tooling::{ModelPin, ToolingConfig},
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
    /// What the app allows its tools at most. Layers do not replace one another here: what tools
    /// may do is what all of them allow.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capabilities: Option<CapabilitiesConfig>,
    /// Tools of registries and tools that come with the app, by the name they are called by.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, ToolingConfig>")]
    pub tooling: Map<ToolingConfig>,
    /// The models the app uses, each with the bytes it must be: `glm-ocr-1.5-q8@sha256:…`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: Vec<ModelPin>,
    /// Where tools are fetched from, by name; read from the user's own configuration file only.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, RegistryConfig>")]
    pub registries: Map<RegistryConfig>,
    /// What a server shows clients beside the tools.
    #[serde(default, skip_serializing_if = "is_default")]
    pub serve: ServeConfig,
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
            capabilities: None,
            tooling: Map::new(),
            models: Vec::new(),
            registries: Map::new(),
            serve: ServeConfig::default(),
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

    /// Returns what the app allows its tools: what every layer that says something allows, or,
    /// if none does, what every tool has without asking and a directory of the call's own.
    ///
    /// The models the app names are there to read.
    #[must_use]
    pub fn app_capabilities(&self) -> Capabilities {
        let stated = self.capabilities.as_ref();
        let allowed = stated.map_or_else(capabilities::unstated, |said| said.allowed().clone());
        let models = self
            .models
            .iter()
            .filter_map(|pin| GuestPath::new(&format!("/models/{}", pin.id())).ok());
        models.fold(allowed, |allowed, path| {
            allowed.with_files(path, Access::Read)
        })
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

//! `[broker]`: what the host has to do things with on tools' behalf. Only the user's own file may
//! hold it: naming an endpoint decides who sees the prompts and the key.
//!
//! Knows nothing of what the broker does, and no secret: keys are names of secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{app::Map, stage::is_default};

/// What the host has to do things with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrokerConfig {
    /// The model behind `llm.generate`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub llm: Option<EndpointConfig>,
    /// The model behind `coding.generate`; that of `llm` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub coding: Option<EndpointConfig>,
    /// What `stt.transcribe` sends speech to.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stt: Option<EndpointConfig>,
    /// What `search.internet` asks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub search: Option<SearchConfig>,
    /// The GitHub MCP endpoint.
    #[serde(default, skip_serializing_if = "is_default")]
    pub github: Option<GithubConfig>,
    /// The proxy that requests on tools' behalf go through, such as `http://proxy.example:3128`; none
    /// unless set. It is asked for tunnels to addresses that were checked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub proxy: Option<String>,
    /// Servers that `http.request` knows by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, HttpServerConfig>")]
    pub http: Map<HttpServerConfig>,
}

/// An OpenAI-compatible endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// Its base, such as `https://api.example.com/v1`.
    pub url: String,
    /// The model.
    pub model: String,
    /// The name of the secret that is its key; none for a server that wants none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: Option<String>,
}

/// Where the internet is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// What kind of server it is.
    pub provider: SearchProvider,
    /// Its base.
    pub url: String,
    /// The model, for providers that are one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: Option<String>,
    /// The name of the secret that is its key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: Option<String>,
}

/// A kind of search server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    /// `GET /search?q=…&format=json`.
    Searxng,
    /// An OpenAI-compatible `POST /responses`.
    Responses,
}

/// The GitHub MCP endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GithubConfig {
    /// Its address; GitHub's own unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub url: Option<String>,
    /// The name of the secret that is the token; `github_pat` unless set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: Option<String>,
}

/// A server that `http.request` knows by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpServerConfig {
    /// Its base.
    pub url: String,
    /// Headers that go to it and to nobody else; `{{secret:NAME}}` stands for a secret.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub headers: Map<String>,
}

//! The configuration: its types, the layers it comes from, and what is wrong with it.
//!
//! [`load`] is the entry. It reads the files it is pointed at; the environment, the home directory
//! and the command line are handed in. Nothing here knows Wasm, and no tool's binary is opened.

mod app;
mod assign;
mod blame;
mod broker;
mod capabilities;
mod collect;
pub mod conversation;
mod declaring;
mod diagnose;
mod document;
mod edit;
mod env;
mod error;
mod extends;
mod file;
mod front;
mod inside;
mod json;
mod kb;
mod load;
mod locara;
mod origins;
mod partial;
mod policy;
mod providers;
mod registries;
mod sandbox;
mod scalar;
mod schema;
mod serve;
mod stage;
mod tooling;
mod tree;
mod validate;
mod value;
mod written;

pub use app::{AppConfig, Map};
pub use broker::{
    BrokerConfig, EndpointConfig, GithubConfig, HttpServerConfig, SearchConfig, SearchProvider,
};
pub use capabilities::CapabilitiesConfig;
pub use conversation::{ConversationConfig, tool};
pub use declaring::Undeclared;
pub use edit::{holds, key, set, unset};
pub use error::{ConfigError, Origin, Place, Problem, Warning};
pub use extends::{Extends, Strategy};
pub use inside::{InsidePath, InsidePathError, WasmPathError, resolve_wasm};
pub use kb::{KnowledgeBaseConfig, TopicConfig};
pub use load::{Layer, Loaded, Sources, load};
pub use origins::{Said, origins};
pub use partial::{ConfigDelta, PartialAppConfig};
pub use policy::PolicyConfig;
pub use providers::{
    Checksum, ChecksumAlgorithm, McpProviderConfig, McpTransport, OauthConfig, OauthGrant,
    ProvidersConfig,
};
pub use registries::{RegistryConfig, RegistryPlace};
pub use schema::json_schema;
pub use serve::{
    Count, IssuerConfig, KeptResultsConfig, KeysPlace, MimeType, OAuthConfig, PrincipalConfig,
    PromptArgumentConfig, PromptMessageConfig, PromptRole, ResourceUri, ServeConfig,
    ServeLimitsConfig, ServedPromptConfig, ServedResourceConfig, TokenAlgorithm, UriTemplate,
    WebUrl, is_principal_name,
};
pub use stage::{Complete, Field, Loose, Stage};
pub use tooling::{CustomTool, ModelPin, RegistryTool, SignatureSource, ToolingConfig};

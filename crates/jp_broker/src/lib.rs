//! What the host does on a tool's behalf: the capabilities a guest can call by name, one module per
//! family, and the HTTP client under them.
//!
//! Entry point: [`Broker::call`]. A new capability is one more row in `table.rs`, and a type for its
//! arguments in the module of its family. It knows nothing of Wasm, configuration files or terminals;
//! grants are composed elsewhere and handed in with each call.

mod answer;
mod arguments;
mod broker;
mod capability;
mod clock;
mod download;
pub mod due;
mod endpoint;
mod error;
mod generate;
pub mod http;
pub mod kv;
mod log;
pub mod mcp;
mod outgoing;
#[cfg(test)]
mod reference;
mod request;
mod search;
pub mod secrets;
mod services;
mod size;
mod stt;
mod table;
mod web;

pub use answer::Answer;
pub use broker::{Broker, Caller};
pub use download::{Downloaded, Downloader, Wanted};
pub use endpoint::{ApiBody, ApiRequest, Endpoint};
pub use error::{CallError, Code};
pub use generate::{GenerateOptions, TokenField};
pub use outgoing::{Unsent, not_granted};
pub use request::{HttpServer, HttpServers, ServerError};
pub use search::{Found, Responses, SearchProvider, SearxNg, Source};
pub use secrets::{
    Audience, FileVault, KeyId, KeyLies, KeyPlace, Keyring, KeyringError, Moved, Scrubber, Secret,
    SecretError, SecretInfo, SecretName, SecretStore, SecretValue, SessionKeyring, Vault,
    VaultPaths,
};
pub use services::{LogSink, Services};
pub use stt::TranscribeOptions;
pub use table::{is_known, owners};
pub use web::{UnnamedHosts, WebOptions};

//! Makes the broker of a user: what the configuration says, over the user's own files.
//!
//! Fronts get what they need of the broker's crate through here.

mod error;

use std::{path::PathBuf, sync::Arc};

use jp_broker::{
    Endpoint, FileVault, GenerateOptions, HttpServer, HttpServers, Responses, SearchProvider,
    SearxNg, Services, TokenField, TranscribeOptions, WebOptions, http::Proxy, kv::Store,
    mcp::github_server, secrets::secrets_in,
};
use jp_config::{BrokerConfig, EndpointConfig, SearchConfig};

pub use error::BrokerError;
pub use jp_broker::{
    Audience, Broker, KeyPlace, Moved, Secret, SecretError, SecretInfo, SecretName, SecretStore,
    SecretValue, SessionKeyring, Vault, VaultPaths,
    due::{Due, DueEvent, Failed},
    mcp::{
        Begun, LoggedIn, LoginError, McpError, McpExchange, Means, Reach, SecretSource,
        ServerSecrets, Servers, Tools,
    },
};

/// The longest answer of a model, in tokens.
const MAX_TOKENS: u32 = 4096;

/// Where the broker of a user keeps things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerPlaces {
    /// The database of to-dos, tasks, reminders, plans and wake-ups.
    pub store: PathBuf,
    /// The secrets, and apart from them their key.
    pub secrets: VaultPaths,
    /// Where the key may lie instead of its file; `None` where it must not.
    pub keyring: Option<SessionKeyring>,
}

/// Makes a broker. `mcp` are the configured servers, `means` what others are reached with.
///
/// # Errors
///
/// When a file of the user cannot be used, or the configuration names what cannot be.
pub fn open(
    config: &BrokerConfig,
    places: &BrokerPlaces,
    mcp: Option<Arc<Servers>>,
    means: Means,
) -> Result<Broker, BrokerError> {
    let llm = config.llm.as_ref().map(generate).transpose()?;
    let coding = config.coding.as_ref().map(generate).transpose()?;
    let servers = config.http.iter().map(|(name, server)| HttpServer {
        name: name.clone(),
        url: server.url.clone(),
        headers: server.headers.clone().into_iter().collect(),
    });
    let proxy = config.proxy.as_deref().map(Proxy::new).transpose();
    let proxy = proxy.map_err(BrokerError::Proxy)?;
    let github = config.github.clone().unwrap_or_default();
    let github =
        github_server(github.url.as_deref(), github.key.as_deref()).map_err(BrokerError::Github)?;
    Ok(Broker::new(Services {
        mcp,
        github: Some(Arc::new(Servers::new([github], means))),
        store: Some(Arc::new(open_store(places)?)),
        secrets: Some(Arc::new(open_secrets(places)?)),
        http_servers: HttpServers::new(servers.collect())?,
        coding: coding.or_else(|| llm.clone()),
        llm,
        stt: config.stt.as_ref().map(transcribe).transpose()?,
        search: config.search.as_ref().map(search).transpose()?,
        web: WebOptions {
            proxy,
            ..WebOptions::default()
        },
        ..Services::default()
    }))
}

/// Opens the database, making it and its directory if they are missing.
///
/// # Errors
///
/// When it cannot be used.
pub fn open_store(places: &BrokerPlaces) -> Result<Store, BrokerError> {
    if let Some(dir) = places.store.parent() {
        jp_disk::create_dir(dir).map_err(|source| BrokerError::Directory {
            dir: dir.to_owned(),
            source,
        })?;
    }
    Ok(Store::open(&places.store)?)
}

/// Looks whether the database is whole, and changes nothing in it.
///
/// # Errors
///
/// When it is damaged or cannot be looked at.
pub fn look_at_store(places: &BrokerPlaces) -> Result<(), BrokerError> {
    Ok(jp_broker::kv::look_at(&places.store)?)
}

/// A secret that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSecret {
    /// The key of the configuration that names it.
    pub key: String,
    /// Its name.
    pub secret: String,
    /// Where it is sent.
    pub url: String,
}

/// Returns the secrets that a configuration names.
#[must_use]
pub fn named_secrets(config: &BrokerConfig) -> Vec<NamedSecret> {
    let endpoints = [
        ("llm", &config.llm),
        ("coding", &config.coding),
        ("stt", &config.stt),
    ];
    let endpoints = endpoints.into_iter().filter_map(|(name, endpoint)| {
        let endpoint = endpoint.as_ref()?;
        Some((name, endpoint.key.as_ref()?, &endpoint.url))
    });
    let search = config.search.iter();
    let search = search.filter_map(|search| Some(("search", search.key.as_ref()?, &search.url)));
    let keys = endpoints
        .chain(search)
        .map(|(name, secret, url)| NamedSecret {
            key: format!("broker.{name}.key"),
            secret: secret.clone(),
            url: url.clone(),
        });
    let servers = config.http.iter().flat_map(|(name, server)| {
        let key = move |header: &str| format!("broker.http.{name}.headers.{header}");
        let headers = server.headers.iter();
        headers.flat_map(move |(header, value)| sent(key(header), value, &server.url))
    });
    keys.chain(servers).chain(of_github(config)).collect()
}

/// Returns the token of GitHub's server, where the configuration speaks of it at all.
fn of_github(config: &BrokerConfig) -> Vec<NamedSecret> {
    let Some(github) = &config.github else {
        return Vec::new();
    };
    let server = github_server(github.url.as_deref(), github.key.as_deref());
    let Ok(Reach::Url(server)) = server.map(|server| server.reach) else {
        return Vec::new();
    };
    let headers = server.headers.iter();
    let found = headers.flat_map(|(_, value)| sent("broker.github.key".into(), value, &server.url));
    found.collect()
}

/// Returns the secrets that a header sends.
fn sent(key: String, value: &str, url: &str) -> Vec<NamedSecret> {
    let named = secrets_in(value).into_iter().map(|secret| NamedSecret {
        key: key.clone(),
        secret: secret.to_string(),
        url: url.to_owned(),
    });
    named.collect()
}

/// Opens the secrets. Nothing is made or read before it is needed.
///
/// # Errors
///
/// When they cannot be kept at these places.
pub fn open_secrets(places: &BrokerPlaces) -> Result<SecretStore, BrokerError> {
    Ok(SecretStore::new(Arc::new(open_vault(places)?)))
}

/// Opens what the secrets are kept in, to see or change where its key lies.
///
/// # Errors
///
/// When they cannot be kept at these places.
pub fn open_vault(places: &BrokerPlaces) -> Result<FileVault, SecretError> {
    let vault = FileVault::new(places.secrets.clone())?;
    Ok(match &places.keyring {
        Some(keyring) => vault.with_keyring(Arc::new(keyring.clone())),
        None => vault,
    })
}

/// Returns what fills secrets into the headers of MCP servers: each only for the addresses it is meant
/// for, no matter who configured the server.
#[must_use]
pub fn secret_source(places: &BrokerPlaces) -> SecretSource {
    let store = open_secrets(places).ok();
    Arc::new(move |name, url| {
        let name: SecretName = name.parse().ok()?;
        let secret = store.as_ref()?.find(&name).ok()??;
        let place = jp_broker::http::locate(url).ok()?;
        if !secret.is_meant_for(&place) {
            return None;
        }
        String::from_utf8(secret.value.expose().to_vec()).ok()
    })
}

/// Returns what fills secrets into the environment of MCP servers that are programs: each only for the
/// servers it is meant for.
#[must_use]
pub fn server_secrets(places: &BrokerPlaces) -> Arc<ServerSecrets> {
    let store = open_secrets(places).ok();
    Arc::new(move |name, server| {
        let name: SecretName = name.parse().ok()?;
        let secret = store.as_ref()?.find(&name).ok()??;
        if !secret.is_meant_for_server(server) {
            return None;
        }
        String::from_utf8(secret.value.expose().to_vec()).ok()
    })
}

fn endpoint(url: &str, key: Option<&String>) -> Result<Endpoint, BrokerError> {
    let endpoint = Endpoint::new(url);
    let Some(key) = key else {
        return Ok(endpoint);
    };
    let name: SecretName = key.parse().map_err(|source| BrokerError::NoSecret {
        key: key.clone(),
        source,
    })?;
    Ok(endpoint.with_key(name))
}

fn generate(config: &EndpointConfig) -> Result<GenerateOptions, BrokerError> {
    Ok(GenerateOptions {
        endpoint: endpoint(&config.url, config.key.as_ref())?,
        model: config.model.clone(),
        models: Vec::new(),
        max_tokens: MAX_TOKENS,
        token_field: TokenField::default(),
    })
}

fn transcribe(config: &EndpointConfig) -> Result<TranscribeOptions, BrokerError> {
    Ok(TranscribeOptions {
        endpoint: endpoint(&config.url, config.key.as_ref())?,
        model: config.model.clone(),
    })
}

fn search(config: &SearchConfig) -> Result<Arc<dyn SearchProvider>, BrokerError> {
    let endpoint = endpoint(&config.url, config.key.as_ref())?;
    match config.provider {
        jp_config::SearchProvider::Searxng => Ok(Arc::new(SearxNg { endpoint })),
        jp_config::SearchProvider::Responses => match &config.model {
            Some(model) => Ok(Arc::new(Responses {
                endpoint,
                model: model.clone(),
            })),
            None => Err(BrokerError::NoModel),
        },
    }
}

//! What the capabilities work on. They are handed in to [`crate::Broker`]; what is absent is
//! answered with `unavailable`.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use jp_policy::Brokered;

use crate::{
    GenerateOptions, HttpServers, Scrubber, SearchProvider, SecretError, SecretStore,
    TranscribeOptions, WebOptions, kv::Store,
};
use jp_mcp::Servers;

/// Takes the lines tools write with `log.emit`.
pub trait LogSink: Send + Sync {
    /// Takes one line; texts are the guest's own, bounded and without control characters.
    fn emit(&self, user: &str, tool: &str, level: &str, event: &str);
}

/// What the capabilities work on.
#[derive(Clone)]
pub struct Services {
    /// Tells the time, in milliseconds since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Takes the lines of `log.emit`.
    pub log: Option<Arc<dyn LogSink>>,
    /// Keeps the rows of `kv.sqlite.*`.
    pub store: Option<Arc<Store>>,
    /// How requests leave the machine.
    pub web: WebOptions,
    /// The servers `http.request` knows by name.
    pub http_servers: HttpServers,
    /// The user's secrets.
    pub secrets: Option<Arc<SecretStore>>,
    /// The model behind `llm.generate`.
    pub llm: Option<GenerateOptions>,
    /// The model behind `coding.generate`.
    pub coding: Option<GenerateOptions>,
    /// The model behind `stt.transcribe`.
    pub stt: Option<TranscribeOptions>,
    /// The search engine behind `search.internet`.
    pub search: Option<Arc<dyn SearchProvider>>,
    /// The configured MCP servers.
    pub mcp: Option<Arc<Servers>>,
    /// GitHub's MCP server, in a pool of its own; without it, the configured one of that name.
    pub github: Option<Arc<Servers>>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            now: Arc::new(system_now),
            log: None,
            store: None,
            web: WebOptions::default(),
            http_servers: HttpServers::default(),
            secrets: None,
            llm: None,
            coding: None,
            stt: None,
            search: None,
            mcp: None,
            github: None,
        }
    }
}

impl Services {
    /// Returns the time in seconds since 1970.
    #[must_use]
    pub fn unix(&self) -> i64 {
        (self.now)().div_euclid(1000)
    }

    /// Returns what scrubs every secret this host knows: those of the store, and those that stand in
    /// the headers of servers.
    ///
    /// # Errors
    ///
    /// When the secrets cannot be read: what cannot be scrubbed must not be shown.
    pub fn scrubber(&self) -> Result<Scrubber, SecretError> {
        let stored = self.secrets.as_ref().map(|store| store.scrubber());
        Ok(stored
            .transpose()?
            .unwrap_or_default()
            .and(self.http_servers.scrubber()))
    }

    /// Returns what scrubs the output of a tool: as [`Services::scrubber`], but for what the grant
    /// allows the tool to show.
    ///
    /// # Errors
    ///
    /// When the secrets cannot be read: what cannot be scrubbed must not be shown.
    pub fn scrubber_for(&self, grant: &Brokered) -> Result<Scrubber, SecretError> {
        let stored = self.secrets.as_ref().map(|store| store.scrubber_for(grant));
        Ok(stored
            .transpose()?
            .unwrap_or_default()
            .and(self.http_servers.scrubber()))
    }
}

fn system_now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

//! Whose request it is: the user's, or that of somebody whom the user lets in.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jp_config::{AppConfig, OAuthConfig};
use jp_policy::Policy;

use crate::{
    Token,
    gate::bearer,
    keep::now,
    oauth::{self, OAuth},
    principal::Principal,
    server::Shared,
    tokens::{Known, Snapshot},
};

/// As many principals are remembered, so that the same one is not made for each request.
const MOST_REMEMBERED: usize = 1_000;

/// Knows everybody who may use a server.
pub(crate) struct Directory {
    shared: Arc<Shared>,
    /// The user's own token; without one, whoever can connect is the user.
    token: Option<Token>,
    tokens: Option<Known>,
    oauth: OAuth,
    others: Mutex<HashMap<String, Arc<Principal>>>,
}

/// Why a request is nobody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It has no token.
    NoToken,
    /// Its token is not known, has ended, or was not made for this server.
    Invalid,
    /// Its token lacks a scope.
    Scope(String),
    /// Its token is good, and whose it is may not get in.
    Nobody,
    /// It cannot be told now.
    NotNow,
}

impl Directory {
    pub(crate) fn new(shared: &Arc<Shared>, token: Option<Token>) -> Self {
        let tokens = shared.options().tokens.clone();
        Self {
            shared: Arc::clone(shared),
            tokens: tokens.filter(|_| token.is_some()).map(Known::new),
            token,
            oauth: OAuth::default(),
            others: Mutex::default(),
        }
    }

    /// Says whose request it is by its `Authorization` header.
    pub(crate) async fn whose(&self, header: Option<&str>) -> Result<Arc<Principal>, Refusal> {
        let user = self.shared.user();
        let Some(own) = &self.token else {
            return Ok(Arc::clone(user));
        };
        let text = bearer(header).ok_or(Refusal::NoToken)?;
        let given = Token::given(text);
        if own.is(&given) {
            return Ok(Arc::clone(user));
        }
        let known = self.tokens.as_ref().map(Known::now).unwrap_or_default();
        if let Some(name) = known.holder(&given, now()) {
            return self.other(name, &known);
        }
        let Some(config) = self.oauth() else {
            return Err(Refusal::Invalid);
        };
        let proxy = self.proxy();
        let found = self.oauth.whose(text, &config, proxy.as_deref()).await;
        match found {
            Ok(found) if found.is_named && found.name == user.name() => Ok(Arc::clone(user)),
            Ok(found) => self.other(&found.name, &known),
            Err(oauth::Refused::Invalid) => Err(Refusal::Invalid),
            Err(oauth::Refused::Scope(scope)) => Err(Refusal::Scope(scope)),
            Err(oauth::Refused::Nobody) => Err(Refusal::Nobody),
            Err(oauth::Refused::NoKeys) => Err(Refusal::NotNow),
        }
    }

    /// Returns who is let in with tokens of others, if anybody is.
    pub(crate) fn oauth(&self) -> Option<OAuthConfig> {
        let workspace = self.shared.live().now().ok()?;
        workspace.loaded().config.serve.oauth.clone()
    }

    fn proxy(&self) -> Option<String> {
        let workspace = self.shared.live().now().ok()?;
        workspace.loaded().config.broker.proxy.clone()
    }

    /// Returns somebody other than the user, with what they may do now.
    fn other(&self, name: &str, known: &Snapshot) -> Result<Arc<Principal>, Refusal> {
        // Nobody becomes the user by having the same name.
        if name == self.shared.user().name() {
            return Err(Refusal::Nobody);
        }
        let workspace = self.shared.live().now().map_err(|_| Refusal::NotNow)?;
        let policy = policy(name, known, &workspace.loaded().config)?;
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = others.get(name)
            && same.policy().map(AsRef::as_ref) == policy.as_ref()
        {
            return Ok(Arc::clone(same));
        }
        if others.len() >= MOST_REMEMBERED {
            others.clear();
        }
        let principal = Principal::other(name, policy.map(Arc::new));
        others.insert(name.to_owned(), Arc::clone(&principal));
        Ok(principal)
    }
}

/// Returns what a principal may do at most: what its token says and what the configuration says, both.
fn policy(name: &str, known: &Snapshot, config: &AppConfig) -> Result<Option<Policy>, Refusal> {
    let configured = config.serve.principals.get(name);
    let configured = configured.and_then(|one| one.policy.as_ref());
    let configured = configured.map(|policy| policy.to_policy()).transpose();
    // Checked when the configuration was loaded; what cannot be a policy allows nothing.
    let configured = configured.map_err(|_| Refusal::NotNow)?;
    Ok(match (known.policy(name), configured) {
        (Some(own), Some(configured)) => Some(own.intersect(&configured)),
        (Some(own), None) => Some(own.as_ref().clone()),
        (None, configured) => configured,
    })
}

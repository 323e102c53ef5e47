//! Tokens of authorization servers, as a resource server of OAuth 2.1 takes them: JSON Web Tokens that one
//! of the configured issuers has signed, for this server, not too early and not too late.
//!
//! A token stays at the door. It is never handed on, to tools, upstream servers or anybody else.

mod keys;
pub(crate) mod metadata;
mod ring_provider;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jp_config::{IssuerConfig, OAuthConfig, TokenAlgorithm};
use jsonwebtoken::{Algorithm, Validation, dangerous, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::keys::Keys;

/// Longer tokens are refused unread.
const LONGEST: usize = 12 * 1024;

/// Clocks may differ by so many seconds.
const SKEW: u64 = 60;

/// The longest value of a claim that can name a principal.
const LONGEST_VALUE: usize = 256;

/// Why a token lets nobody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is not one that counts: 401.
    Invalid,
    /// It lacks a scope: 403.
    Scope(String),
    /// It is good, and nobody's: 403.
    Nobody,
    /// The keys of its issuer cannot be had now: 503.
    NoKeys,
}

/// Whose token it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// The name of the principal.
    pub(crate) name: String,
    /// Whether the configuration names it, rather than a pattern.
    pub(crate) is_named: bool,
}

/// The issuers whose tokens count, with their keys.
#[derive(Default)]
pub(crate) struct OAuth(Mutex<HashMap<String, Arc<Issuer>>>);

/// An issuer whose tokens count.
struct Issuer {
    config: IssuerConfig,
    audience: String,
    keys: Keys,
}

/// What of a token says which issuer to ask about it. Believed only once the signature is checked.
#[derive(Deserialize)]
struct Unchecked {
    iss: String,
}

impl OAuth {
    /// Says whose token it is.
    pub(crate) async fn whose(
        &self,
        token: &str,
        config: &OAuthConfig,
        proxy: Option<&str>,
    ) -> Result<Bearer, Refused> {
        if token.len() > LONGEST {
            return Err(Refused::Invalid);
        }
        ring_provider::install();
        let unchecked: Unchecked =
            dangerous::insecure_decode_claims(token).map_err(|_| Refused::Invalid)?;
        let issuer = self.issuer(&unchecked.iss, config);
        let issuer = issuer.ok_or(Refused::Invalid)?;
        issuer.whose(token, proxy).await
    }

    /// Returns the issuer of that very name. One whose configuration has changed starts anew.
    fn issuer(&self, iss: &str, config: &OAuthConfig) -> Option<Arc<Issuer>> {
        let mut issuers = config.issuers.values();
        let found = issuers.find(|one| one.issuer.as_str() == iss)?;
        let audience = found.audience.clone();
        let audience = audience.unwrap_or_else(|| config.resource.as_str().to_owned());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(iss)
            && known.config == *found
            && known.audience == audience
        {
            return Some(Arc::clone(known));
        }
        known.retain(|name, _| {
            let mut issuers = config.issuers.values();
            issuers.any(|one| one.issuer.as_str() == name)
        });
        let issuer = Arc::new(Issuer {
            keys: Keys::at(found.jwks.as_str()),
            config: found.clone(),
            audience,
        });
        known.insert(iss.to_owned(), Arc::clone(&issuer));
        Some(issuer)
    }
}

impl Issuer {
    async fn whose(&self, token: &str, proxy: Option<&str>) -> Result<Bearer, Refused> {
        // `none` is not an algorithm here, and neither is any with a shared secret.
        let header = decode_header(token).map_err(|_| Refused::Invalid)?;
        let default = &TokenAlgorithm::DEFAULT[..];
        let allowed = self.config.algorithms.as_deref().unwrap_or(default);
        let is_allowed = allowed.iter().any(|one| algorithm(*one) == header.alg);
        // Extensions that must be understood are not.
        if !is_allowed || header.crit.is_some() {
            return Err(Refused::Invalid);
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg, proxy);
        let key = key.await?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = SKEW;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[self.config.issuer.as_str()]);
        validation.set_audience(&[&self.audience]);
        let checked = decode::<Map<String, Value>>(token, &key, &validation);
        let claims = checked.map_err(|_| Refused::Invalid)?.claims;
        if let Some(scope) = &self.config.scope
            && !has_scope(&claims, scope)
        {
            return Err(Refused::Scope(scope.clone()));
        }
        self.principal(&claims).ok_or(Refused::Nobody)
    }

    /// Returns the principal that the claims name.
    fn principal(&self, claims: &Map<String, Value>) -> Option<Bearer> {
        let claim = self.config.claim.as_deref().unwrap_or("sub");
        let value = claims.get(claim)?.as_str()?;
        let principals = &self.config.principals;
        // `*` stands for all others, and is nobody's value.
        if value.len() > LONGEST_VALUE || value == "*" {
            return None;
        }
        let named = principals.get(value);
        let name = match named {
            Some(name) => name.clone(),
            None => principals.get("*")?.replacen("{}", value, 1),
        };
        jp_config::is_principal_name(&name).then(|| Bearer {
            name,
            is_named: named.is_some(),
        })
    }
}

/// Looks for a scope where OAuth and where some servers put them: a text of words, or a list.
fn has_scope(claims: &Map<String, Value>, scope: &str) -> bool {
    ["scope", "scp"]
        .into_iter()
        .any(|key| match claims.get(key) {
            Some(Value::String(text)) => text.split(' ').any(|word| word == scope),
            Some(Value::Array(words)) => words.iter().any(|word| word == scope),
            _ => false,
        })
}

const fn algorithm(algorithm: TokenAlgorithm) -> Algorithm {
    match algorithm {
        TokenAlgorithm::RS256 => Algorithm::RS256,
        TokenAlgorithm::RS384 => Algorithm::RS384,
        TokenAlgorithm::RS512 => Algorithm::RS512,
        TokenAlgorithm::PS256 => Algorithm::PS256,
        TokenAlgorithm::PS384 => Algorithm::PS384,
        TokenAlgorithm::PS512 => Algorithm::PS512,
        TokenAlgorithm::ES256 => Algorithm::ES256,
        TokenAlgorithm::ES384 => Algorithm::ES384,
        TokenAlgorithm::EdDSA => Algorithm::EdDSA,
    }
}

//! The keys of an issuer: fetched when they are needed, kept for a while, and not fetched more often than
//! once a minute, however many tokens name keys that nobody knows.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

use super::Refused;

/// Keys are fetched again after this long.
const FRESH: Duration = Duration::from_hours(1);

/// Where they cannot be fetched, those that are known count this long.
const STALE: Duration = Duration::from_hours(24);

/// They are not asked for more often than this.
const PACE: Duration = Duration::from_mins(1);

/// A larger document is not read.
const LARGEST: usize = 256 * 1024;

/// More keys of a document are not looked at.
const MOST: usize = 64;

/// The keys of an issuer, and where they are.
pub(super) struct Keys {
    place: String,
    known: Mutex<Known>,
    /// Held by whoever fetches; others wait for it instead of doing the same.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Default, Clone)]
struct Known {
    keys: Arc<[Key]>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

/// A public key.
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, where the issuer says so.
    only: Option<Algorithm>,
    curve: Option<EllipticCurve>,
    key: DecodingKey,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl Keys {
    pub(super) fn at(place: &str) -> Self {
        Self {
            place: place.to_owned(),
            known: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the key of a name that fits an algorithm. A token without a name of a key must leave no
    /// choice.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        proxy: Option<&str>,
    ) -> Result<DecodingKey, Refused> {
        let now = Instant::now();
        let known = self.known();
        let is_fresh = known.fetched.is_some_and(|at| now - at < FRESH);
        if is_fresh && let Some(found) = known.pick(id, algorithm) {
            return Ok(found);
        }
        self.fetch(proxy).await;
        let known = self.known();
        let age = known.fetched.map(|at| at.elapsed());
        if age.is_none_or(|age| age >= STALE) {
            return Err(Refused::NoKeys);
        }
        known.pick(id, algorithm).ok_or(Refused::Invalid)
    }

    fn known(&self) -> Known {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Fetches the keys, unless somebody did so just now.
    async fn fetch(&self, proxy: Option<&str>) {
        let _fetching = self.fetching.lock().await;
        let tried = self.known().tried;
        if tried.is_some_and(|at| at.elapsed() < PACE) {
            return;
        }
        let (place, proxy) = (self.place.clone(), proxy.map(ToOwned::to_owned));
        let read = tokio::task::spawn_blocking(move || read(&place, proxy.as_deref())).await;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tried = Some(Instant::now());
        if let Ok(Some(keys)) = read {
            known.keys = keys;
            known.fetched = known.tried;
        }
    }
}

impl Known {
    fn pick(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let is_it = |key: &&Key| id.is_none_or(|id| key.id.as_deref() == Some(id));
        let mut fitting = self
            .keys
            .iter()
            .filter(is_it)
            .filter(|key| key.fits(algorithm));
        let found = fitting.next()?;
        fitting.next().is_none().then(|| found.key.clone())
    }
}

impl Key {
    /// Reads a key; nothing when it is for something else than checking signatures of tokens.
    fn of(value: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        if matches!(&jwk.common.public_key_use, Some(of) if *of != PublicKeyUse::Signature) {
            return None;
        }
        let only = match jwk.common.key_algorithm {
            Some(only) => Some(Algorithm::try_from(only).ok()?),
            None => None,
        };
        let curve = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => None,
            AlgorithmParameters::EllipticCurve(key) => Some(key.curve.clone()),
            AlgorithmParameters::OctetKeyPair(key) => Some(key.curve.clone()),
            // A shared secret in a public document is nobody's signature.
            _ => return None,
        };
        Some(Self {
            key: DecodingKey::from_jwk(&jwk).ok()?,
            id: jwk.common.key_id,
            only,
            curve,
        })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_curve = match algorithm {
            Algorithm::ES256 => self.curve == Some(EllipticCurve::P256),
            Algorithm::ES384 => self.curve == Some(EllipticCurve::P384),
            Algorithm::EdDSA => self.curve == Some(EllipticCurve::Ed25519),
            _ => algorithm.family() == AlgorithmFamily::Rsa,
        };
        is_curve
            && self.key.family() == algorithm.family()
            && self.only.is_none_or(|only| only == algorithm)
    }
}

/// Reads the keys where they are; nothing when they cannot be had.
fn read(place: &str, proxy: Option<&str>) -> Option<Arc<[Key]>> {
    let bytes = match place.starts_with('/') {
        true => jp_disk::read(Path::new(place), LARGEST as u64).ok()??,
        false => jp_llm::fetch_document(place, proxy, LARGEST).ok()?,
    };
    let document: Document = serde_json::from_slice(&bytes).ok()?;
    let keys = document.keys.into_iter().take(MOST);
    Some(keys.filter_map(Key::of).collect())
}

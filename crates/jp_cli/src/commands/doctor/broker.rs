//! What the broker works on: whether the store is intact, and whether the secrets are there that the
//! configuration names. Whether their key can be had is looked at beside it.

use jp_llm::broker::{
    BrokerPlaces, NamedSecret, SecretName, look_at_store, named_secrets, open_secrets,
};

use super::finding::{Family, Finding, Severity, aside, word};
use crate::{places, session::Session};

/// Checks the store and the named secrets.
pub(super) fn check(session: Option<&Session>) -> Vec<Finding> {
    let Ok(places) = places::own().broker() else {
        return Vec::new();
    };
    let mut findings: Vec<Finding> = store(&places).into_iter().collect();
    findings.extend(
        session
            .map(|session| secrets(session, &places))
            .unwrap_or_default(),
    );
    findings
}

fn store(places: &BrokerPlaces) -> Option<Finding> {
    let problem = look_at_store(places).err()?;
    // With its directory, which is its own: what SQLite keeps beside it belongs to it.
    let dir = places.store.parent()?;
    Some(Finding {
        family: Family::System,
        severity: Severity::Error,
        subject: "store".to_owned(),
        problem: problem.to_string(),
        // A backup in its place would be better; without one this starts with nothing and loses nothing.
        fix: aside(&[dir]),
    })
}

fn secrets(session: &Session, places: &BrokerPlaces) -> Vec<Finding> {
    let named = named_secrets(&session.loaded().config.broker);
    if named.is_empty() {
        return Vec::new();
    }
    // Secrets that cannot be opened are a finding of their own.
    let Some(known) = open_secrets(places)
        .ok()
        .and_then(|store| store.list().ok())
    else {
        return Vec::new();
    };
    let is_known = |secret: &str| {
        let name: Option<SecretName> = secret.parse().ok();
        name.is_some_and(|name| known.iter().any(|known| known.name == name))
    };
    let missing = named.into_iter().filter(|named| !is_known(&named.secret));
    let found = missing.map(|NamedSecret { key, secret, url }| Finding {
        family: Family::System,
        severity: Severity::Warning,
        subject: key,
        problem: format!("it names the secret `{secret}`, which is not set"),
        fix: format!("jp secret set {} --for {}", word(&secret), word(&url)),
    });
    found.collect()
}

//! The key of the secrets: whether it can be had and opens them. Who else could read a key in a file
//! is looked at with the other files.

use jp_llm::broker::{BrokerPlaces, KeyPlace, SecretError, Vault, open_vault};

use super::finding::{Family, Finding, Severity, aside};
use crate::places;

/// Gets the key, and opens the secrets with it.
pub(super) fn check() -> Option<Finding> {
    let places = places::broker().ok()?;
    let vault = open_vault(&places).ok()?;
    let error = vault.load().err()?;
    let in_keyring = matches!(vault.key_place(), Ok(Some(KeyPlace::Keyring)));
    let is_lost = matches!(
        error,
        SecretError::KeyMissing { .. }
            | SecretError::Tampered { .. }
            | SecretError::NotAFile { .. }
    );
    if !in_keyring && !is_lost {
        return None;
    }
    let (problem, mend) = explain(&error, &places);
    Some(Finding {
        family: Family::System,
        severity: Severity::Error,
        subject: if in_keyring { "keyring" } else { "secrets" }.to_owned(),
        problem,
        mend,
    })
}

/// Returns what is wrong, and what mends it.
fn explain(error: &SecretError, places: &BrokerPlaces) -> (String, String) {
    let (secrets, key) = (&places.secrets.secrets, &places.secrets.key);
    match error {
        SecretError::KeyUnreachable { problem } => (
            format!("it has the key of the secrets, which cannot be had: {problem}"),
            problem.way_out().to_owned(),
        ),
        // Without the key they are noise; it may still be in a backup.
        SecretError::KeyNotInKeyring { .. }
        | SecretError::KeyMissing { .. }
        | SecretError::Tampered { .. } => (
            error.to_string(),
            format!(
                "{}, then: jp secret set NAME --for URL",
                aside(&[secrets.as_path(), key.as_path()])
            ),
        ),
        SecretError::NotAFile { path, .. } => (
            error.to_string(),
            format!("{}, then: jp doctor", aside(&[path.as_path()])),
        ),
        _ => (
            error.to_string(),
            "mend what it names, then: jp doctor".to_owned(),
        ),
    }
}

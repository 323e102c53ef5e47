//! The key of the secrets: whether it can be had and opens them. Who else could read a key in a file
//! is looked at with the other files.

use jp_llm::broker::{BrokerPlaces, KeyPlace, SecretError, Vault, open_vault};

use super::{
    failed::failed,
    finding::{Family, Finding, Severity, aside, quoted},
};
use crate::{error::CliError, places};

/// Gets the key, and opens the secrets with it.
pub(super) fn check() -> Option<Finding> {
    let places = match places::own().broker() {
        Ok(places) => places,
        Err(error) => return Some(failed("secrets", &error.into())),
    };
    let vault = match open_vault(&places) {
        Ok(vault) => vault,
        Err(error) => return Some(failed("secrets", &CliError::broker(error))),
    };
    let error = vault.load().err()?;
    let in_keyring = matches!(vault.key_place(), Ok(Some(KeyPlace::Keyring)));
    // Permissions of the file are checked with those of the other files.
    if matches!(error, SecretError::Exposed { .. }) {
        return None;
    }
    let (problem, fix) = explain(&error, &places);
    Some(Finding {
        family: Family::System,
        severity: Severity::Error,
        subject: if in_keyring { "keyring" } else { "secrets" }.to_owned(),
        problem,
        fix,
    })
}

/// Returns find problems, and how to fix them.
fn explain(error: &SecretError, places: &BrokerPlaces) -> (String, String) {
    let (secrets, key) = (&places.secrets.secrets, &places.secrets.key);
    match error {
        SecretError::KeyUnreachable { problem } => (
            format!("cannot get the key of the secrets from it: {problem}"),
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
        SecretError::Io { path, .. } => (error.to_string(), format!("chmod u+rw {}", quoted(path))),
        _ => (
            error.to_string(),
            "fix what the message names, then: jp doctor".to_owned(),
        ),
    }
}

//! The key of the secrets: whether it can be had and opens them. Who else could read a key in a file
//! is looked at with the other files.

use std::path::PathBuf;

use jp_llm::broker::{BrokerPlaces, KeyPlace, SecretError, Vault, open_vault};

use super::finding::{Family, Finding, Severity, quoted};
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
                aside(&[secrets, key])
            ),
        ),
        SecretError::NotAFile { path, .. } => (
            error.to_string(),
            format!("{}, then: jp doctor", aside(&[path])),
        ),
        _ => (
            error.to_string(),
            "mend what it names, then: jp doctor".to_owned(),
        ),
    }
}

/// Writes the command that moves what is there of these out of the way, to names nothing has.
fn aside(paths: &[&PathBuf]) -> String {
    let mut moves = Vec::new();
    for path in paths.iter().filter(|path| path.symlink_metadata().is_ok()) {
        let named = |end: String| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let numbered = (2..1000).map(|n| format!(".old-{n}"));
        let mut free = std::iter::once(".old".to_owned())
            .chain(numbered)
            .map(named);
        let free = free.find(|to| to.symlink_metadata().is_err());
        // `-n`: a name that was taken meanwhile stays as it is.
        let to = free.unwrap_or_else(|| named(".old".to_owned()));
        moves.push(format!("mv -n {} {}", quoted(path), quoted(&to)));
    }
    moves.join(" && ")
}

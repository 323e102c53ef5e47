//! Placeholders: `{{secret:NAME}}` in a header's value stands for a secret.

use jp_policy::Brokered;

use super::{Secret, SecretName, SecretStore};
use crate::{CallError, Code};

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";

/// A piece of a text with placeholders.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Stands for itself.
    Text(&'a str),
    /// Stands for a secret.
    Secret(SecretName),
}

/// Returns what stands for a secret.
pub(super) fn handle(name: &SecretName) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

/// Tells whether a text has a placeholder in it, well-formed or not.
pub(crate) fn mentions_secret(text: &str) -> bool {
    text.contains(OPEN)
}

/// Takes a text with placeholders apart; `None` if one of them is not well-formed.
pub(crate) fn parts(mut text: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    while let Some((before, rest)) = text.split_once(OPEN) {
        let (name, after) = rest.split_once(CLOSE)?;
        parts.push(Part::Text(before));
        parts.push(Part::Secret(name.parse().ok()?));
        text = after;
    }
    parts.push(Part::Text(text));
    Some(parts)
}

/// Returns the secrets whose placeholders a text holds; none if one of them is not well-formed.
#[must_use]
pub fn secrets_in(text: &str) -> Vec<SecretName> {
    let parts = parts(text).unwrap_or_default().into_iter();
    let names = parts.filter_map(|part| match part {
        Part::Secret(name) => Some(name),
        Part::Text(_) => None,
    });
    names.collect()
}

/// Finds a secret for a guest that has it in its grant. A guest that has not learns nothing from the
/// error: the store is not even asked.
pub(crate) fn find_granted(
    store: Option<&SecretStore>,
    grant: &Brokered,
    tool: &str,
    name: &SecretName,
) -> Result<Option<Secret>, CallError> {
    let needed = format!("secrets.get.{name}");
    let granted = needed.parse().is_ok_and(|name| grant.allows(&name));
    if !granted || name.is_reserved() {
        let message = format!(
            "Secret '{name}' is not allowlisted for tool '{tool}'; it needs `calls = [\"{needed}\"]`"
        );
        return Err(CallError::new(Code::Forbidden, message));
    }
    let Some(store) = store else {
        let message =
            format!("this host has no secret store; `jp secret set {name} --for URL` makes one");
        return Err(CallError::unconfigured(message));
    };
    Ok(store.find(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_between_texts() {
        let name = |text: &str| Part::Secret(text.parse().unwrap());
        let found = parts("Bearer {{secret:a}}-{{secret:b}}").unwrap();
        let expected = [
            Part::Text("Bearer "),
            name("a"),
            Part::Text("-"),
            name("b"),
            Part::Text(""),
        ];
        assert_eq!(found, expected);
        assert_eq!(parts("{{x}}").unwrap(), [Part::Text("{{x}}")]);
    }

    #[test]
    fn malformed_placeholders_are_refused() {
        for bad in [
            "{{secret:a",
            "{{secret:}}",
            "{{secret:A}}",
            "{{secret:a b}}",
            "{{secret:{{secret:a}}}}",
        ] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}

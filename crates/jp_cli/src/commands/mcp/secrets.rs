//! What looks like a secret, and is kept in the vault instead of a file.

use jp_llm::broker::{Audience, Secret, SecretName, SecretStore, SecretValue, open_secrets};

use crate::{clock, error::CliError, places};

/// Words in the name of a variable or a header whose value is a secret.
const NAMES: &[&str] = &[
    "token",
    "key",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "auth",
    "bearer",
    "cookie",
    "session",
    "private",
    "dsn",
    "jwt",
    "pat",
];

/// How keys of well-known services start.
const STARTS: &[&str] = &[
    "sk-",
    "pk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ya29.",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
    "-----BEGIN",
];

/// The longest name that the vault takes.
const MAX_NAME: usize = 64;

/// A value that goes into the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    /// Its name there.
    pub(super) name: String,
    value: String,
    /// What it is meant for: a URL, or `mcp:` and the name of a server.
    audience: String,
}

impl Kept {
    /// Makes a secret of a server, named after the server and what it is the value of.
    pub(super) fn new(server: &str, of: &str, value: &str, audience: &str) -> Self {
        let plain = |c: char| match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9' | '-') => c,
            _ => '_',
        };
        let name: String = format!("{server}_{of}").chars().map(plain).collect();
        Self {
            name: name.chars().take(MAX_NAME).collect(),
            value: value.to_owned(),
            audience: audience.to_owned(),
        }
    }

    /// Returns what stands for it in a configuration.
    pub(super) fn placeholder(&self) -> String {
        format!("{{{{secret:{}}}}}", self.name)
    }

    /// Makes what the vault keeps.
    fn secret(&self) -> Result<Secret, CliError> {
        let wrong = |error: &dyn std::fmt::Display| {
            CliError::usage(format!("cannot keep the secret `{}`: {error}", self.name))
        };
        if self.value.chars().any(char::is_control) {
            return Err(wrong(&"control characters cannot be kept"));
        }
        let name: SecretName = self.name.parse().map_err(|error| wrong(&error))?;
        let audience: Audience = self.audience.parse().map_err(|error| wrong(&error))?;
        Ok(Secret {
            name,
            value: SecretValue::new(self.value.clone().into_bytes())
                .map_err(|error| wrong(&error))?,
            audience: vec![audience],
            reveal: false,
            created: clock::unix(),
        })
    }

    /// Checks that the vault would take it.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.secret().map(drop)
    }
}

/// Opens the vault.
fn store() -> Result<SecretStore, CliError> {
    open_secrets(&places::own().broker()?).map_err(CliError::broker)
}

/// Refuses to replace a secret of the same name that is another one.
pub(super) fn refuse_others(kept: &[Kept]) -> Result<(), CliError> {
    if kept.is_empty() {
        return Ok(());
    }
    let store = store()?;
    for one in kept {
        let new = one.secret()?;
        let old = store.find(&new.name).map_err(CliError::broker)?;
        if old.is_some_and(|old| old.value != new.value || old.audience != new.audience) {
            return Err(CliError::Usage {
                message: format!("there is another secret `{}` already", one.name),
                hint: Some(format!("`jp secret rm {}`, if nothing needs it", one.name)),
            });
        }
    }
    Ok(())
}

/// Puts values into the vault.
pub(super) fn keep(kept: &[Kept]) -> Result<(), CliError> {
    if kept.is_empty() {
        return Ok(());
    }
    let store = store()?;
    for one in kept {
        store.set(&one.secret()?).map_err(CliError::broker)?;
    }
    Ok(())
}

/// Tells whether the value of a variable or header is a secret, as far as its name and look say. One that is
/// not loses nothing in the vault.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || is_plain(value) {
        return false;
    }
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words_of = |word: &str| {
        let word = word.to_lowercase();
        NAMES.iter().any(|known| match *known {
            // Too short to look for inside of other words, such as PATH.
            "pat" | "key" | "dsn" | "jwt" => word == *known || word.ends_with("key"),
            known => word.contains(known),
        })
    };
    words.any(words_of) || looks_like_one(value)
}

/// Tells whether a value alone looks like a secret.
pub(super) fn looks_like_one(value: &str) -> bool {
    if STARTS.iter().any(|start| value.starts_with(start)) && value.len() >= 16 {
        return true;
    }
    // user:password@ in an address.
    let authority = value.split_once("://").map(|(_, rest)| rest);
    let authority = authority.and_then(|rest| rest.split(['/', '?', '#']).next());
    if let Some((user, _)) = authority.and_then(|authority| authority.rsplit_once('@')) {
        return user.contains(':');
    }
    let is_random = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '=');
    let count = |fits: fn(&char) -> bool| value.chars().filter(fits).count();
    value.len() >= 32
        && value.chars().all(is_random)
        && count(char::is_ascii_digit) >= 4
        && count(char::is_ascii_alphabetic) >= 4
}

/// Tells whether a value says something that is not a secret, whatever its name.
fn is_plain(value: &str) -> bool {
    let is_word = ["true", "false", "0", "1", "yes", "no"].contains(&value);
    let is_path = value.starts_with('/') || value.starts_with("~/") || value.starts_with("./");
    let is_number = value.len() < 8 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_word || is_number || (is_path && !looks_like_one(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_name_or_look() {
        for (name, value, expected) in [
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "whatever1", true),
            ("API_KEY", "abcdefgh", true),
            ("APIKEY", "abcdefgh", true),
            ("Authorization", "Bearer abcdefgh", true),
            ("DB", "postgres://me:pass@db/x", true),
            ("X", "ghp_0123456789abcdefghij", true),
            ("X", "a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6", true),
            ("PATH", "/usr/bin:/bin", false),
            ("KEYBOARD", "german", false),
            ("KEY_FILE", "/home/ada/key.pem", false),
            ("LOG_LEVEL", "debug", false),
            ("HOST", "https://forge.example.com/x", false),
            ("USE_TOKEN", "true", false),
        ] {
            assert_eq!(is_secret(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn the_name_of_a_secret_is_one_that_the_vault_takes() {
        let kept = Kept::new("My.Forge", "API-Key", "0123456789", "mcp:my-forge");
        assert_eq!(kept.placeholder(), "{{secret:my_forge_api-key}}");
        kept.check().unwrap();
        let long = Kept::new(&"s".repeat(100), "x", "0123456789", "mcp:s");
        long.check().unwrap();
        assert!(Kept::new("s", "x", "short", "mcp:s").check().is_err());
    }
}

//! Makes a server of jp of what another client says of it.

use std::env;

use serde_json::Value;

use super::super::{MAX_NAME, secrets, wanted::Wanted};

/// No person writes more arguments, variables or headers.
const MAX_ITEMS: usize = 200;

/// The longest value of them.
const MAX_VALUE: usize = 32 * 1024;

/// Programs that fetch what they run.
const FETCHERS: &[&str] = &[
    "npx", "bunx", "pnpx", "pnpm", "yarn", "uvx", "uv", "pipx", "docker", "podman", "deno", "bun",
];

/// A server as jp would have it, and what a person should know.
#[derive(Debug)]
pub(super) struct Converted {
    pub(super) wanted: Wanted,
    /// What was left out or cannot be told.
    pub(super) notes: Vec<String>,
    /// Whether its program is fetched when it starts.
    pub(super) is_fetched: bool,
}

/// Why a server cannot be taken over.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unusable(String);

impl From<&str> for Unusable {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// Makes a server of an entry, or says why not.
pub(super) fn convert(name: &str, entry: &Value) -> Result<Converted, Unusable> {
    if !entry.is_object() {
        return Err("it is written in a way that jp does not read".into());
    }
    let off = entry.get("enabled").and_then(Value::as_bool) == Some(false)
        || entry.get("disabled").and_then(Value::as_bool) == Some(true);
    if off {
        return Err("it is switched off there".into());
    }
    let mut converted = Converted {
        wanted: Wanted {
            name: plain_name(name).ok_or("it has no name that jp can write")?,
            ..Wanted::default()
        },
        notes: Vec::new(),
        is_fetched: false,
    };
    match url(entry)? {
        Some(url) => converted.url(&url, entry)?,
        None => converted.program(entry)?,
    }
    for kept in &converted.wanted.secrets {
        kept.check()
            .map_err(|error| Unusable::from(error.to_string()))?;
    }
    Ok(converted)
}

/// Writes a name so that it can be part of the names of tools.
fn plain_name(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = name
        .chars()
        .map(|c| if plain(c) { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    let name = name.trim_matches('-');
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the URL of a server that has one.
fn url(entry: &Value) -> Result<Option<String>, Unusable> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let kind = text("type")
        .or_else(|| text("transport"))
        .unwrap_or_default();
    if kind.eq_ignore_ascii_case("sse") {
        return Err("it speaks the old SSE transport, which jp does not".into());
    }
    let url = ["httpUrl", "url", "uri", "serverUrl"]
        .into_iter()
        .find_map(text);
    match url {
        Some(url) if url.starts_with("unix:") => {
            Err("it listens on a Unix socket, which jp does not connect to".into())
        }
        Some(url) => Ok(Some(url.to_owned())),
        None => Ok(None),
    }
}

impl Converted {
    fn url(&mut self, url: &str, entry: &Value) -> Result<(), Unusable> {
        let url = self
            .expanded(url)
            .ok_or("its URL names a variable that is not set")?;
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let parameters = query.split('&').filter_map(|one| one.split_once('='));
        for (name, value) in parameters {
            if secrets::is_secret(name, value) {
                return Err(format!(
                    "its URL has what looks like a secret (`{name}`), which would be in a file"
                )
                .into());
            }
        }
        if secrets::looks_like_one(&url) {
            return Err("its URL has a user and a password, which would be in a file".into());
        }
        self.wanted.url = Some(url);
        for (name, value) in pairs(entry, &["headers", "http_headers"])? {
            match self.expanded(&value) {
                Some(value) => self.wanted.set_header(&name, &value),
                None => self.notes.push(format!(
                    "its header `{name}` names a variable that is not set"
                )),
            }
        }
        let variable = entry.get("bearer_token_env_var").and_then(Value::as_str);
        let from_env = pairs(entry, &["env_http_headers"])?.into_iter();
        let bearer = variable.map(|variable| ("Authorization".to_owned(), variable.to_owned()));
        for (name, variable) in from_env.chain(bearer) {
            let Ok(value) = env::var(&variable) else {
                self.notes.push(format!(
                    "its header `{name}` is `${variable}`, which is not set"
                ));
                continue;
            };
            let value = match name.as_str() {
                "Authorization" => format!("Bearer {value}"),
                _ => value,
            };
            self.wanted.set_header(&name, &value);
        }
        Ok(())
    }

    fn program(&mut self, entry: &Value) -> Result<(), Unusable> {
        let mut words = Vec::new();
        for key in ["command", "cmd", "args"] {
            match entry.get(key) {
                None | Some(Value::Null) => {}
                // Zed had the program and its arguments below `command`.
                Some(Value::Object(inner)) => {
                    words.extend(inner.get("path").and_then(Value::as_str).map(str::to_owned));
                    words.extend(texts(inner.get("args"))?);
                }
                Some(Value::String(word)) => words.push(word.clone()),
                some => words.extend(texts(some)?),
            }
        }
        if words.len() > MAX_ITEMS {
            return Err(format!("it has more than {MAX_ITEMS} arguments").into());
        }
        for word in &mut words {
            *word = self
                .expanded(word)
                .ok_or("one of its arguments names a variable that is not set")?;
            if word.chars().any(char::is_control) {
                return Err("one of its arguments has control characters".into());
            }
        }
        refuse_secrets(&words)?;
        let mut words = words.into_iter();
        let command = words.next().filter(|command| !command.is_empty());
        let command = command.ok_or("it has neither a command nor a URL")?;
        let program = command.rsplit('/').next().unwrap_or_default();
        self.is_fetched = FETCHERS.contains(&program);
        self.wanted.command = Some(command);
        self.wanted.arguments = words.collect();
        if entry.get("cwd").is_some() {
            self.notes
                .push("its directory (`cwd`) is left out: it starts in /tmp".to_owned());
        }
        self.variables(entry)
    }

    fn variables(&mut self, entry: &Value) -> Result<(), Unusable> {
        for (name, value) in pairs(entry, &["env", "envs", "environment"])? {
            // The same variable, handed on.
            if variable(&value) == Some(name.as_str()) {
                self.wanted.variables.push(name);
                continue;
            }
            match self.expanded(&value) {
                Some(value) => self.wanted.set_variable(&name, &value),
                None => self.notes.push(format!(
                    "`{name}` is asked for or taken from elsewhere there: it is left out"
                )),
            }
        }
        for key in ["env_vars", "env_keys"] {
            self.wanted.variables.extend(texts(entry.get(key))?);
        }
        self.wanted.variables.sort_unstable();
        self.wanted.variables.dedup();
        Ok(())
    }

    /// Fills in variables, in the ways clients write them: `${X}`, `${X:-y}`, `${env:X}` and `{env:X}`. Nothing
    /// where one is not set, or is none of the environment.
    fn expanded(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = ["${", "{env:"]
            .iter()
            .filter_map(|mark| rest.find(mark))
            .min()
        {
            let (before, from) = rest.split_at(at);
            let inner = from.trim_start_matches('$').strip_prefix('{')?;
            let (name, after) = inner.split_once('}')?;
            out.push_str(before);
            out.push_str(&value(name)?);
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }
}

/// Returns the variable that a text is, if it is one and nothing else.
fn variable(text: &str) -> Option<&str> {
    let name = match text.strip_prefix('$') {
        Some(rest) => match rest.strip_prefix('{') {
            Some(rest) => rest.strip_suffix('}')?,
            None => rest,
        },
        None => text
            .strip_prefix('{')?
            .strip_suffix('}')?
            .strip_prefix("env:")?,
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Returns the value of a variable as it is named between braces.
fn value(name: &str) -> Option<String> {
    let name = name.strip_prefix("env:").unwrap_or(name);
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (name, None),
    };
    // `input:x`, `workspaceFolder` and the like are none of the environment.
    match env::var(name) {
        Ok(value) if !value.is_empty() => Some(value),
        _ => default,
    }
}

/// Refuses arguments that would bring a secret into a file.
fn refuse_secrets(words: &[String]) -> Result<(), Unusable> {
    let shown = |name: &str| {
        format!(
            "its argument `{}` looks like a secret, which would be in a file; if it takes a variable \
             instead: `jp mcp add NAME --env VARIABLE=VALUE -- COMMAND`",
            jp_text::short_line(name, 40)
        )
    };
    let mut before = "";
    for word in words {
        let (name, value) = match word.split_once(['=', ':']) {
            Some((name, value)) if name.starts_with('-') || !value.starts_with("//") => {
                (name, value.trim())
            }
            _ => (before, word.as_str()),
        };
        let named = name.starts_with('-') || name.contains(|c: char| c.is_ascii_uppercase());
        let is_option = value.starts_with('-') || value.starts_with('@') || value.contains('/');
        if secrets::looks_like_one(value)
            || (named && !is_option && secrets::is_secret(name, value))
        {
            return Err(shown(if name.is_empty() { "…" } else { name }).into());
        }
        before = word;
    }
    Ok(())
}

/// Returns the texts of a list.
fn texts(value: Option<&Value>) -> Result<Vec<String>, Unusable> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let wrong = || Unusable::from("it is written in a way that jp does not read");
    let items = value.as_array().ok_or_else(wrong)?;
    if items.len() > MAX_ITEMS {
        return Err(format!("it has a list of more than {MAX_ITEMS} items").into());
    }
    let texts = items.iter().map(|item| match item {
        Value::String(text) if text.len() <= MAX_VALUE => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    texts.collect::<Option<_>>().ok_or_else(wrong)
}

/// Returns the names and values of a table.
fn pairs(entry: &Value, keys: &[&str]) -> Result<Vec<(String, String)>, Unusable> {
    let mut pairs = Vec::new();
    for table in keys.iter().filter_map(|key| entry.get(*key)) {
        let table = match table {
            Value::Object(table) => table,
            Value::Null => continue,
            _ => return Err("it is written in a way that jp does not read".into()),
        };
        for (name, value) in table {
            let value = match value {
                Value::String(text) if text.len() <= MAX_VALUE => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(format!("the value of `{name}` is not text").into()),
            };
            pairs.push((name.clone(), value));
        }
    }
    match pairs.len() > MAX_ITEMS {
        true => Err(format!("it has more than {MAX_ITEMS} variables or headers").into()),
        false => Ok(pairs),
    }
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;

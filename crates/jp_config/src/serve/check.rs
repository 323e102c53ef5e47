//! What must hold of the entries of `[serve]`, each and together.

use std::collections::HashMap;

use super::{
    IssuerConfig, KeptResultsConfig, OAuthConfig, PromptMessageConfig, ServeConfig,
    ServedPromptConfig, ServedResourceConfig,
    access::{is_host, is_principal_name},
};
use crate::conversation::tool::ByteSize;

/// The most resources, and the most prompts.
const MAX_ENTRIES: usize = 1_000;
/// The most arguments of a prompt.
const MAX_ARGUMENTS: usize = 64;
/// The most values that are suggested for an argument.
const MAX_VALUES: usize = 1_000;
/// The most messages of a prompt.
const MAX_MESSAGES: usize = 100;
/// The longest time that a result is kept, in milliseconds.
const MAX_AGE: u64 = 30 * 24 * 3_600_000;

/// The most issuers.
const MAX_ISSUERS: usize = 32;
/// The most values of a claim that are principals.
const MAX_PRINCIPALS: usize = 10_000;

/// The prompt that jp makes of the knowledge base.
const OURS: &str = "knowledge";

/// Where something is wrong below `serve`.
pub(crate) type Wrong = (Vec<String>, WrongEntry);

/// What is wrong with an entry.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WrongEntry {
    #[error("too many entries: expected at most {MAX_ENTRIES}, found {found}")]
    TooMany { found: usize },
    #[error("a resource needs one of `uri` and `uri_template`")]
    Address,
    #[error("a resource needs one of `text` and `file`")]
    Content,
    #[error("a resource with a `uri_template` has a `text`, not a `file`")]
    FileOfTemplate,
    #[error("the address is that of `{other}` too; each resource needs its own")]
    SameAddress { other: String },
    #[error("the name `{OURS}` is taken by the prompt that jp makes of the knowledge base")]
    Taken,
    #[error("too many: expected at most {most}, found {found}")]
    TooManyOf { most: usize, found: usize },
    #[error("invalid argument name: expected 1 to 64 letters, digits, `_` or `-`")]
    ArgumentName,
    #[error(
        "the argument `{name}` has `ask` and is not required; only required arguments are asked for"
    )]
    AskedForNothing { name: String },
    #[error("the argument `{name}` is there twice")]
    SameArgument { name: String },
    #[error("a prompt needs at least one message")]
    NoMessage,
    #[error("a message needs one of `text`, `image` and `resource`")]
    MessageContent,
    #[error("invalid time: expected one above zero and of at most 30 days (`720h`)")]
    Age,
    #[error("invalid size: expected one above zero")]
    Size,
    #[error("a picture needs a `mime_type` such as `image/png`, and nothing else has one")]
    MessageType,
    #[error("invalid host `{found}`: expected a name or an address, such as `jp.example.com`")]
    Host { found: String },
    #[error("invalid name of a principal `{found}`: expected up to 64 letters, digits or `._-@+`")]
    Principal { found: String },
    #[error("expected at least one issuer, such as `[serve.oauth.issuers.corp]`")]
    NoIssuer,
    #[error("the issuer is that of `{other}` too; each needs its own")]
    SameIssuer { other: String },
    #[error("expected at least one algorithm")]
    NoAlgorithm,
    #[error("expected a text")]
    Empty,
    #[error("{0}")]
    Limit(#[from] jp_policy::LimitError),
}

impl KeptResultsConfig {
    fn check(&self) -> Result<(), Wrong> {
        let wrong = |key: &str, why: WrongEntry| Err((path(&["results", key]), why));
        if self.age.is_some_and(|age| age.0 == 0 || age.0 > MAX_AGE) {
            return wrong("age", WrongEntry::Age);
        }
        let is_zero = |size: Option<ByteSize>| size.is_some_and(|size| size.0 == 0);
        match (is_zero(self.quota), is_zero(self.total)) {
            (true, _) => wrong("quota", WrongEntry::Size),
            (_, true) => wrong("total", WrongEntry::Size),
            _ => Ok(()),
        }
    }
}

impl ServeConfig {
    /// Says what keeps the entries from being shown.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        self.results.check()?;
        for (section, found) in [
            ("resources", self.resources.len()),
            ("prompts", self.prompts.len()),
        ] {
            if found > MAX_ENTRIES {
                return Err((path(&[section]), WrongEntry::TooMany { found }));
            }
        }
        let mut known: HashMap<&str, &str> = HashMap::new();
        for (name, resource) in &self.resources {
            let at = |key: &'static str| path(&["resources", name, key]);
            resource.check().map_err(|(key, wrong)| (at(key), wrong))?;
            let (key, address) = resource.address();
            if let Some(other) = known.insert(address, name) {
                let other = other.to_owned();
                return Err((at(key), WrongEntry::SameAddress { other }));
            }
        }
        for (name, prompt) in &self.prompts {
            let at = |key: &'static str| path(&["prompts", name, key]);
            if name == OURS {
                return Err((at(""), WrongEntry::Taken));
            }
            prompt.check().map_err(|(key, wrong)| (at(key), wrong))?;
        }
        self.check_access()
    }

    fn check_access(&self) -> Result<(), Wrong> {
        if let Some(found) = self.hosts.iter().find(|host| !is_host(host)) {
            let found = jp_text::shorten(found, 80).into_owned();
            return Err((path(&["hosts"]), WrongEntry::Host { found }));
        }
        for (name, principal) in &self.principals {
            let at = |more: &[&str]| path(&[&["principals", name], more].concat());
            named(name).map_err(|wrong| (at(&[]), wrong))?;
            if let Some(Err(error)) = principal.policy.as_ref().map(|one| one.to_policy()) {
                return Err((at(&["policy", "limits"]), error.into()));
            }
        }
        self.oauth.as_ref().map_or(Ok(()), OAuthConfig::check)
    }
}

/// Makes a path below `serve`; empty parts are left out.
fn path(parts: &[&str]) -> Vec<String> {
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(ToString::to_string).collect()
}

fn named(name: &str) -> Result<(), WrongEntry> {
    match is_principal_name(name) {
        true => Ok(()),
        false => Err(WrongEntry::Principal {
            found: jp_text::shorten(name, 80).into_owned(),
        }),
    }
}

impl OAuthConfig {
    fn check(&self) -> Result<(), Wrong> {
        let whole = |wrong| (path(&["oauth", "issuers"]), wrong);
        if self.issuers.is_empty() {
            return Err(whole(WrongEntry::NoIssuer));
        }
        bounded(self.issuers.len(), MAX_ISSUERS).map_err(whole)?;
        let mut known: HashMap<&str, &str> = HashMap::new();
        for (name, issuer) in &self.issuers {
            let at = |key: &'static str| path(&["oauth", "issuers", name, key]);
            issuer.check().map_err(|(key, wrong)| (at(key), wrong))?;
            if let Some(other) = known.insert(issuer.issuer.as_str(), name) {
                let other = other.to_owned();
                return Err((at("issuer"), WrongEntry::SameIssuer { other }));
            }
        }
        Ok(())
    }
}

impl IssuerConfig {
    fn check(&self) -> Result<(), (&'static str, WrongEntry)> {
        if self.algorithms.as_ref().is_some_and(Vec::is_empty) {
            return Err(("algorithms", WrongEntry::NoAlgorithm));
        }
        for (key, text) in [
            ("audience", &self.audience),
            ("claim", &self.claim),
            ("scope", &self.scope),
        ] {
            if text.as_ref().is_some_and(String::is_empty) {
                return Err((key, WrongEntry::Empty));
            }
        }
        bounded(self.principals.len(), MAX_PRINCIPALS).map_err(|wrong| ("principals", wrong))?;
        for (value, name) in &self.principals {
            // What stands for the value is checked when it is known.
            let name = match value.as_str() {
                "*" => name.replacen("{}", "x", 1),
                _ => name.clone(),
            };
            named(&name).map_err(|wrong| ("principals", wrong))?;
        }
        Ok(())
    }
}

impl ServedResourceConfig {
    fn address(&self) -> (&'static str, &str) {
        match (&self.uri, &self.uri_template) {
            (Some(uri), _) => ("uri", uri.as_str()),
            (_, Some(template)) => ("uri_template", template.as_str()),
            (None, None) => ("", ""),
        }
    }

    fn check(&self) -> Result<(), (&'static str, WrongEntry)> {
        if self.uri.is_some() == self.uri_template.is_some() {
            return Err(("", WrongEntry::Address));
        }
        if self.uri_template.is_some() && self.file.is_some() {
            return Err(("file", WrongEntry::FileOfTemplate));
        }
        if self.text.is_some() == self.file.is_some() {
            return Err(("", WrongEntry::Content));
        }
        Ok(())
    }
}

impl ServedPromptConfig {
    fn check(&self) -> Result<(), (&'static str, WrongEntry)> {
        self.check_arguments()
            .map_err(|wrong| ("arguments", wrong))?;
        if self.messages.is_empty() {
            return Err(("messages", WrongEntry::NoMessage));
        }
        bounded(self.messages.len(), MAX_MESSAGES).map_err(|wrong| ("messages", wrong))?;
        let mut messages = self.messages.iter();
        messages
            .try_for_each(PromptMessageConfig::check)
            .map_err(|wrong| ("messages", wrong))
    }

    fn check_arguments(&self) -> Result<(), WrongEntry> {
        bounded(self.arguments.len(), MAX_ARGUMENTS)?;
        for (at, argument) in self.arguments.iter().enumerate() {
            let name = argument.name.as_str();
            let letter = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
            if name.is_empty() || name.len() > 64 || !name.bytes().all(letter) {
                return Err(WrongEntry::ArgumentName);
            }
            if self
                .arguments
                .iter()
                .take(at)
                .any(|other| other.name == name)
            {
                let name = name.to_owned();
                return Err(WrongEntry::SameArgument { name });
            }
            if argument.ask.is_some() && !argument.required {
                let name = name.to_owned();
                return Err(WrongEntry::AskedForNothing { name });
            }
            bounded(argument.values.len(), MAX_VALUES)?;
        }
        Ok(())
    }
}

fn bounded(found: usize, most: usize) -> Result<(), WrongEntry> {
    match found > most {
        true => Err(WrongEntry::TooManyOf { most, found }),
        false => Ok(()),
    }
}

impl PromptMessageConfig {
    fn check(&self) -> Result<(), WrongEntry> {
        let parts = [
            self.text.is_some(),
            self.image.is_some(),
            self.resource.is_some(),
        ];
        if parts.into_iter().filter(|is| *is).count() != 1 {
            return Err(WrongEntry::MessageContent);
        }
        if self.image.is_some() != self.mime_type.is_some() {
            return Err(WrongEntry::MessageType);
        }
        Ok(())
    }
}

//! A server that is to be added: what is written of it, what its secrets are, and what it needs of the user's
//! policy.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use jp_config::{Loaded, McpProviderConfig, PolicyConfig};
use jp_policy::{Capability, Denied, Files, HostPattern, Net, compose};
use serde_json::{Map, Value, json};

use super::secrets::{self, Kept};
use crate::{commands::init::shown, error::CliError, places, text, words};

/// A server as it will be configured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) command: Option<String>,
    pub(super) arguments: Vec<String>,
    /// Variables of the environment that are handed on.
    pub(super) variables: Vec<String>,
    /// Variables with their values, which may hold placeholders.
    pub(super) environment: BTreeMap<String, String>,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    /// Whether a program may use the network.
    pub(super) net: bool,
    /// What it may do with the workspace, as the configuration has it.
    pub(super) workspace: Option<&'static str>,
    /// Files and directories beside the workspace that a program may read.
    pub(super) paths: Vec<PathBuf>,
    pub(super) secrets: Vec<Kept>,
}

impl Wanted {
    /// Names its program so that it is found from everywhere: by its path, where it lies in this directory or
    /// where only the person's own `PATH` has it.
    pub(super) fn anchor(&mut self, dir: &Path) {
        let Some(command) = &mut self.command else {
            return;
        };
        let path = match command.contains('/') {
            true => Some(dir.join(&*command)),
            false
                if OF_SYSTEM
                    .iter()
                    .any(|dir| Path::new(dir).join(&*command).is_file()) =>
            {
                None
            }
            false => on_path(command),
        };
        if let Some(path) = path.and_then(|path| path.to_str().map(str::to_owned)) {
            *command = path;
        }
    }

    /// Adds a variable; a value that looks like a secret goes into the vault.
    pub(super) fn set_variable(&mut self, name: &str, value: &str) {
        let value = match secrets::is_secret(name, value) {
            true => self.keep(name, value),
            false => value.to_owned(),
        };
        self.environment.insert(name.to_owned(), value);
    }

    /// Adds a header; a value that looks like a secret goes into the vault.
    pub(super) fn set_header(&mut self, name: &str, value: &str) {
        let (before, rest) = match value.split_once(' ') {
            Some((scheme @ ("Bearer" | "Basic" | "token"), rest)) => (format!("{scheme} "), rest),
            _ => (String::new(), value),
        };
        let value = match secrets::is_secret(name, rest) {
            true => format!("{before}{}", self.keep(name, rest)),
            false => value.to_owned(),
        };
        self.headers.insert(name.to_owned(), value);
    }

    /// Returns what stands for a value that is kept in the vault.
    fn keep(&mut self, of: &str, value: &str) -> String {
        let audience = match &self.url {
            Some(url) => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            None => format!("mcp:{}", self.name),
        };
        let kept = Kept::new(&self.name, of, value, &audience);
        let placeholder = kept.placeholder();
        self.secrets.push(kept);
        placeholder
    }

    /// Returns how it is reached, on one line.
    pub(super) fn reached(&self) -> String {
        let program = self.command.iter().chain(&self.arguments);
        let words: Vec<&str> = program.map(String::as_str).collect();
        let reached = self.url.clone().unwrap_or_else(|| words.join(" "));
        text::short_line(&reached, 200)
    }

    /// Returns its entry.
    fn entry(&self) -> Value {
        let mut entry = Map::new();
        let mut put = |key: &str, value: Value| {
            let is_empty = match &value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                _ => false,
            };
            if !is_empty {
                entry.insert(key.to_owned(), value);
            }
        };
        put("command", json!(self.command));
        put("arguments", json!(self.arguments));
        put("variables", json!(self.variables));
        put("environment", json!(self.environment));
        put("url", json!(self.url));
        put("headers", json!(self.headers));
        let mut grant = Map::new();
        if let Some(access) = self.workspace {
            grant.insert("workspace".to_owned(), json!(access));
        }
        if self.net {
            grant.insert("net".to_owned(), json!(true));
        }
        if !self.paths.is_empty() {
            let paths = self.paths.iter();
            let paths = paths.map(|path| json!({"path": path, "access": "read"}));
            grant.insert("paths".to_owned(), paths.collect());
        }
        put("grant", Value::Object(grant));
        Value::Object(entry)
    }

    /// Returns the entry as jp reads it.
    pub(super) fn config(&self) -> Result<McpProviderConfig, CliError> {
        serde_json::from_value(self.entry()).map_err(|error| CliError::usage(error.to_string()))
    }

    /// Returns what the server could do, in words.
    pub(super) fn may(&self) -> Result<String, CliError> {
        let request = self.config()?.request();
        let mut capabilities = request.capabilities;
        capabilities.subprocess = false;
        Ok(words::capabilities(&capabilities).join("; "))
    }

    /// Returns the name of all its tools in the configuration.
    pub(super) fn tools(&self) -> String {
        format!("{}_*", self.name)
    }

    /// Refuses a name that is taken.
    pub(super) fn refuse_taken(&self, loaded: &Loaded) -> Result<(), CliError> {
        let name = &self.name;
        if loaded.config.providers.mcp.get(name).is_some() {
            return Err(CliError::Usage {
                message: format!("there is an MCP server `{name}` already"),
                hint: Some(format!("`jp mcp remove {name}`, or choose another name")),
            });
        }
        let tools = self.tools();
        if loaded.config.conversation.tools.tools.contains_key(&tools) {
            return Err(CliError::usage(format!(
                "conversation.tools.\"{tools}\" is configured already"
            )));
        }
        Ok(())
    }

    /// Writes it into a configuration file, with all its tools, in one step.
    pub(super) fn write(&self, file: &Path) -> Result<(), CliError> {
        if let Some(dir) = file.parent() {
            fs::create_dir_all(dir).map_err(|source| CliError::at("cannot make", dir, source))?;
        }
        let change = json!({
            "providers": {"mcp": {self.name.as_str(): self.entry()}},
            "conversation": {"tools": {self.tools(): {"source": format!("mcp.{}", self.name)}}},
        });
        jp_config::set(file, &change.to_string())?;
        Ok(())
    }
}

/// Where programs are looked for that are named without a directory.
const OF_SYSTEM: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];

/// Finds a program as the person's shell does.
fn on_path(name: &str) -> Option<PathBuf> {
    let dirs = env::var_os("PATH")?;
    let mut files = env::split_paths(&dirs).map(|dir| dir.join(name));
    files.find(|file| file.is_absolute() && file.is_file())
}

/// What the user's policy has to allow besides, for servers to work.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Widened {
    /// The hosts that are missing; `None` is all of them.
    hosts: Option<Vec<HostPattern>>,
    /// Whether all of the network is missing.
    any_host: bool,
    /// The paths beside the workspace that are missing.
    paths: Vec<String>,
}

impl Widened {
    /// Finds what is missing for a server.
    pub(super) fn add(&mut self, wanted: &Wanted, policy: &PolicyConfig) -> Result<(), CliError> {
        let request = wanted.config()?.request();
        let mut allowed = policy.to_policy().map_err(|error| CliError::Policy {
            reason: error.to_string(),
        })?;
        let denied = |denied: &Denied| CliError::Usage {
            message: format!("MCP server `{}` would be refused: {denied}", wanted.name),
            hint: denied.fix(),
        };
        loop {
            let error = match compose(&allowed, &allowed, &request) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let Denied::ByHost { capability } = &error else {
                return Err(denied(&error));
            };
            if let Capability::Files(rule) = capability
                && let Some(path) = rule.host_path()
            {
                self.paths.push(path.to_owned());
                let files = &mut allowed.capabilities.files;
                *files = Files::new(files.rules().iter().chain([rule]).cloned());
                continue;
            }
            if !matches!(capability, Capability::Net(_)) {
                return Err(denied(&error));
            }
            let net = &mut allowed.capabilities.net;
            match (&request.capabilities.net, &mut *net) {
                (Net::Hosts(asked), Net::None) => {
                    self.hosts
                        .get_or_insert_default()
                        .extend(asked.iter().cloned());
                    *net = Net::Hosts(asked.clone());
                }
                (Net::Hosts(asked), Net::Hosts(known)) => {
                    let new = asked.difference(known).cloned();
                    self.hosts.get_or_insert_default().extend(new);
                    known.extend(asked.iter().cloned());
                }
                (Net::Any, Net::None | Net::Hosts(_)) => {
                    self.any_host = true;
                    *net = Net::Any;
                }
                (Net::None, _) | (_, Net::Any) => return Err(denied(&error)),
            }
        }
    }

    /// Says what would be allowed, if anything.
    pub(super) fn words(&self) -> Option<String> {
        let mut words = Vec::new();
        if self.any_host {
            words.push(
                "reach every host: a program has all of the network or none of it (policy.net = true)"
                    .to_owned(),
            );
        } else if let Some(hosts) = &self.hosts {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            words.push(format!("reach {} (policy.net)", hosts.join(", ")));
        }
        if !self.paths.is_empty() {
            let paths = text::one_line(&self.paths.join(", "));
            words.push(format!("read {paths} (policy.paths)"));
        }
        (!words.is_empty()).then(|| words.join("\n  "))
    }

    /// Writes it into the user's own policy, beside what is there.
    pub(super) fn write(&self, policy: &PolicyConfig) -> Result<(), CliError> {
        let net = match (&self.hosts, self.any_host) {
            (_, true) => Some(json!(true)),
            (None, false) => None,
            (Some(new), false) => {
                let mut hosts: Vec<String> = match policy.net.as_ref().map(|net| net.net()) {
                    Some(Net::Hosts(hosts)) => hosts.iter().map(ToString::to_string).collect(),
                    _ => Vec::new(),
                };
                hosts.extend(new.iter().map(ToString::to_string));
                hosts.dedup();
                Some(json!(hosts))
            }
        };
        let known = policy.paths.iter().map(|path| json!(path));
        let new = self.paths.iter();
        let new = new.map(|path| json!({"path": path, "access": "read"}));
        let paths: Vec<Value> = known.chain(new).collect();
        let net = net.map(|net| format!("policy.net:={net}"));
        let paths = (!self.paths.is_empty()).then(|| format!("policy.paths:={}", json!(paths)));
        if net.is_none() && paths.is_none() {
            return Ok(());
        }
        let dir = places::own().needed_config_dir()?.to_owned();
        fs::create_dir_all(&dir).map_err(|source| CliError::at("cannot make", &dir, source))?;
        for assignment in net.iter().chain(&paths) {
            jp_config::set(&dir.join("config.toml"), assignment)?;
        }
        Ok(())
    }
}

/// Says where something was written.
pub(super) fn written(file: &Path) -> String {
    shown(file)
}

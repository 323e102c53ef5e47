//! The text of a lock file: any TOML that says the same is read, one form is written.

use std::fmt;

use semver::Version;
use serde::Deserialize;

use super::{Lock, LockError, LockedCustom, LockedTool, MAX_NAME, VERSION, VERSION_WITH_CUSTOM};
use crate::{Digest, ToolId};

/// The beginnings of the lines that version control leaves where two branches differ.
const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// A version that takes longer to write is refused.
const MAX_VERSION: usize = 128;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: i64,
    #[serde(default)]
    tool: Vec<LockedTool>,
    #[serde(default)]
    custom: Vec<LockedCustom>,
    #[serde(default)]
    mcp: Vec<McpEntry>,
}

/// Read before the rest, so that a newer file is recognised by its number and not by its first new key.
#[derive(Deserialize)]
struct Versioned {
    version: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct McpEntry {
    server: String,
    tool: String,
    shown: Digest,
}

pub(super) fn read(text: &str) -> Result<Lock, LockError> {
    let mut lines = text.lines().enumerate();
    if let Some((at, _)) = lines.find(|(_, line)| MARKERS.iter().any(|m| line.starts_with(m))) {
        return Err(LockError::Conflict { line: at + 1 });
    }
    let malformed = |error| malformed(text, &error);
    let Versioned { version } = toml::from_str(text).map_err(malformed)?;
    if !(VERSION..=VERSION_WITH_CUSTOM).contains(&version) {
        return Err(LockError::Version { found: version });
    }
    let file: File = toml::from_str(text).map_err(malformed)?;
    if version < VERSION_WITH_CUSTOM && !file.custom.is_empty() {
        return Err(LockError::OlderThanItsEntries);
    }
    let mut lock = Lock::default();
    for tool in file.tool {
        lock.add(tool)?;
    }
    for tool in file.custom {
        lock.add_custom(tool)?;
    }
    for entry in file.mcp {
        lock.add_mcp(&entry.server, &entry.tool, entry.shown)?;
    }
    Ok(lock)
}

fn malformed(text: &str, error: &toml::de::Error) -> LockError {
    // Its own text quotes the line, and lines of a stranger's file are not for the terminal.
    let reason = jp_text::start(error.message(), 300);
    let before = error.span().and_then(|span| text.get(..span.start));
    LockError::Malformed {
        reason: match before {
            Some(before) => {
                let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
                let start = before.rsplit('\n').next().unwrap_or_default();
                let column = start.chars().count() + 1;
                format!("line {line}, column {column}: {reason}")
            }
            None => reason,
        },
    }
}

/// Refuses what would not be one short, plain text.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), LockError> {
    let plain = !name.chars().any(jp_text::is_hidden);
    if !name.is_empty() && name.len() <= MAX_NAME && plain {
        return Ok(());
    }
    Err(not_a_name(what, name))
}

fn not_a_name(what: &str, name: &str) -> LockError {
    let start = jp_text::start(name, 80);
    LockError::Malformed {
        reason: format!("invalid {what} name `{start}`"),
    }
}

pub(super) fn check_tool(tool: &LockedTool) -> Result<(), LockError> {
    // A registry's name is written like a tool's, so that it can be part of a command and of a path.
    if tool.registry.parse::<ToolId>().is_err() {
        return Err(not_a_name("registry", &tool.registry));
    }
    check_version(&tool.version)
}

/// Refuses a version that takes long to write.
pub(super) fn check_version(version: &Version) -> Result<(), LockError> {
    if version.pre.len() + version.build.len() <= MAX_VERSION {
        return Ok(());
    }
    let reason = "a version is too long".to_owned();
    Err(LockError::Malformed { reason })
}

/// Writes a name as TOML does. Names hold no control characters: [`check_name`] saw to it.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for part in self.0.split_inclusive(['"', '\\']) {
            match part.strip_suffix(['"', '\\']) {
                None => f.write_str(part)?,
                Some(plain) => {
                    f.write_str(plain)?;
                    f.write_str("\\")?;
                    f.write_str(part.get(plain.len()..).unwrap_or_default())?;
                }
            }
        }
        f.write_str("\"")
    }
}

/// The one form that is written: sorted, one line per field, so that branches merge and differ well.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("# Written by jp. `jp tool lock` checks it, `jp tool update` changes it.\n")?;
        let version = match self.custom.is_empty() {
            true => VERSION,
            false => VERSION_WITH_CUSTOM,
        };
        writeln!(f, "version = {version}")?;
        for tool in self.tools() {
            write!(f, "\n[[tool]]\n{tool}")?;
        }
        for tool in self.customs() {
            write!(f, "\n[[custom]]\n{tool}")?;
        }
        for ((server, tool), shown) in &self.mcp {
            let (server, tool) = (Quoted(server), Quoted(tool));
            write!(
                f,
                "\n[[mcp]]\nserver = {server}\ntool = {tool}\nshown = \"{shown}\"\n"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for LockedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name = \"{}\"", self.name)?;
        writeln!(f, "id = \"{}\"", self.id)?;
        writeln!(f, "version = \"{}\"", self.version)?;
        writeln!(f, "registry = {}", Quoted(&self.registry))?;
        writeln!(f, "sha256 = \"{}\"", self.sha256)?;
        writeln!(f, "manifest = \"{}\"", self.manifest)?;
        writeln!(f, "key = \"{}\"", self.key)?;
        writeln!(f, "shown = \"{}\"", self.shown)?;
        writeln!(f, "capabilities = \"{}\"", self.capabilities)?;
        if self.models.is_empty() {
            return Ok(());
        }
        f.write_str("models = [")?;
        for (at, model) in self.models.iter().enumerate() {
            write!(f, "{}\"{model}\"", if at == 0 { "" } else { ", " })?;
        }
        f.write_str("]\n")
    }
}

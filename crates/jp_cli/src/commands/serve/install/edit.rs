//! Puts an entry into the configuration of a client and takes it out again, and leaves all else as it is.
//!
//! Pure functions from text to text. What they make is read again before it is returned: it must hold the
//! entry that was meant and everything that was there before.

pub(super) mod error;
mod json;
pub(super) mod merge;
mod toml;
mod yaml;

use serde_json::Value;

use self::error::EditError;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON as the standard has it.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
    Yaml,
}

impl Format {
    const fn has_comments(self) -> bool {
        matches!(self, Self::Jsonc)
    }
}

/// Where in a file an entry is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) format: Format,
    /// The key of what holds the entries.
    pub(super) section: &'a str,
    /// The key of the entry.
    pub(super) name: &'a str,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    /// The entry is put in; `force` replaces somebody else's.
    Add { entry: &'a Value, force: bool },
    /// The entry is taken out.
    Remove { force: bool },
}

impl Change<'_> {
    const fn is_forced(&self) -> bool {
        match self {
            Self::Add { force, .. } | Self::Remove { force } => *force,
        }
    }
}

/// The mark that some editors on Windows put before UTF-8.
const BOM: &str = "\u{feff}";

/// Makes a change to a text; nothing is returned where there is nothing to do.
pub(super) fn edit(
    text: &str,
    target: &Target<'_>,
    change: &Change<'_>,
) -> Result<Option<String>, EditError> {
    let (bom, text) = match text.strip_prefix(BOM) {
        Some(text) => (BOM, text),
        None => ("", text),
    };
    let edited = match target.format {
        Format::Json | Format::Jsonc => json::edit(text, target, change)?,
        Format::Toml => toml::edit(text, target, change)?,
        Format::Yaml => yaml::edit(text, target, change)?,
    };
    Ok(edited.map(|edited| format!("{bom}{edited}")))
}

/// Returns the entry that a text has.
pub(super) fn entry(text: &str, target: &Target<'_>) -> Result<Option<Value>, EditError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match target.format {
        Format::Json | Format::Jsonc => json::entry(text, target),
        Format::Toml => toml::entry(text, target),
        Format::Yaml => yaml::entry(text, target),
    }
}

/// Returns all that a text says, to look at; of YAML the section alone.
pub(super) fn document(text: &str, format: Format, section: &str) -> Result<Value, EditError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        Format::Json | Format::Jsonc => json::document(text, format.has_comments()),
        Format::Toml => toml::document(text),
        Format::Yaml => yaml::document(text, section),
    }
}

/// Returns what a person can add by hand: the lines of a file that holds nothing else.
pub(super) fn by_hand(target: &Target<'_>, entry: &Value) -> String {
    let change = Change::Add {
        entry,
        force: false,
    };
    let made = edit("", target, &change).ok().flatten();
    made.unwrap_or_default()
}

#[cfg(test)]
mod tests;

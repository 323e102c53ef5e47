//! What is wrong with a configuration, and where.

use core::fmt;
use std::path::PathBuf;

/// The largest configuration file that is read.
pub(crate) const MAX_FILE: u64 = 4 << 20;
/// The most bytes that all configuration files of one load may have.
pub(crate) const MAX_TOTAL: u64 = 16 << 20;
/// The most configuration files of one load.
pub(crate) const MAX_FILES: usize = 1_000;

/// The sections that only the user's own file may hold.
const USER_ONLY: [&str; 8] = [
    "policy",
    "broker",
    "registries",
    "serve.hosts",
    "serve.limits",
    "serve.oauth",
    "serve.principals",
    "serve.trust_prompts",
];

/// Returns the section of the user's own that a path leads into, or that it would replace.
pub(crate) fn user_only(path: &[String]) -> Option<&'static str> {
    let meets = |section: &&&str| {
        let parts = section.split('.');
        parts.zip(path).all(|(part, key)| part == key.as_str())
    };
    let sections = USER_ONLY.iter();
    sections.filter(|_| !path.is_empty()).find(meets).copied()
}

/// Returns the section of the user's own that a tree has, or unsets.
pub(crate) fn user_only_in(tree: &serde_json::Value) -> Option<&'static str> {
    let has = |section: &&&str| {
        let mut at = tree;
        for part in section.split('.') {
            match at.get(part) {
                Some(found) => at = found,
                None => return at.is_null(),
            }
        }
        true
    };
    USER_ONLY.iter().find(has).copied()
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// Where the value stands, if it stands somewhere.
    pub place: Option<Box<Place>>,
    /// The dotted key, if it is about one.
    pub key: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

/// Where something in a configuration stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What it was read from.
    pub origin: Origin,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
}

/// What a value was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// An environment variable, by name.
    Environment(String),
    /// An assignment on the command line.
    Assignment(String),
    /// An assignment that a file was to be changed by.
    Setting(String),
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing has this key.
    #[error("unknown key{}", suggestion(nearest))]
    UnknownKey {
        /// The known keys that look most like it, best first.
        nearest: Vec<String>,
    },
    /// The value cannot be had.
    #[error("{message}")]
    Invalid {
        /// Why not.
        message: String,
    },
    /// A required value is absent from all layers.
    #[error("`{field}` is missing{}", missing(field))]
    Missing {
        /// The key that must be set.
        field: String,
    },
    /// The text is not valid TOML or JSON.
    #[error("{message}")]
    Syntax {
        /// What the parser said.
        message: String,
    },
    /// A section stands where a stranger could have put it.
    #[error("{section} belongs in the user's configuration")]
    OutsideUser {
        /// Which section.
        section: &'static str,
    },
    /// The file is too large.
    #[error("file too large: expected at most {} MiB", MAX_FILE >> 20)]
    TooLarge,
    /// All files together are too many or too large.
    #[error("too much configuration: expected at most {MAX_FILES} files and {} MiB", MAX_TOTAL >> 20)]
    TooMuch,
    /// There is something else than a file.
    #[error("not a regular file")]
    NotAFile,
    /// The file is not text.
    #[error("invalid UTF-8 at byte {offset}")]
    NotUtf8 {
        /// The first byte that is not.
        offset: usize,
    },
    /// The file leads out of the tree it may be in.
    #[error("leads out of `{}` through a link", root.display())]
    Escapes {
        /// The tree.
        root: PathBuf,
    },
    /// Two files stand for the same thing.
    #[error("`{}` exists too; keep one of them", other.display())]
    Twice {
        /// The other file.
        other: PathBuf,
    },
    /// A file extends itself, over others or directly.
    #[error("`{}` extends itself", file.display())]
    Cycle {
        /// The file that was reached again.
        file: PathBuf,
    },
    /// The system refused to read the file.
    #[error("cannot read: {message}")]
    Io {
        /// What the system said.
        message: String,
    },
    /// The system refused to write the file.
    #[error("cannot write: {message}")]
    Write {
        /// What the system said.
        message: String,
    },
    /// The text on the command line is not an assignment.
    #[error("expected `key=value`, `key:=json`, `key+=value`, `key:+=json` or a JSON object")]
    NotAnAssignment,
}

impl ConfigError {
    /// Makes an error about a file as a whole.
    pub(crate) fn of_file(path: impl Into<PathBuf>, problem: Problem) -> Self {
        let origin = Origin::File(path.into());
        Self::at(Place::of(origin), None, problem)
    }

    /// Makes an error at a place.
    pub(crate) fn at(place: Place, key: Option<String>, problem: Problem) -> Self {
        Self {
            place: Some(Box::new(place)),
            key,
            problem,
        }
    }

    /// Makes an error about a key whose place is not known.
    pub(crate) fn of_key(key: String, problem: Problem) -> Self {
        Self {
            place: None,
            key: Some(key),
            problem,
        }
    }

    /// Returns the known keys that look most like an unknown one.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        match &self.problem {
            Problem::UnknownKey { nearest } => nearest,
            _ => &[],
        }
    }
}

impl Place {
    /// Makes a place without a line.
    pub(crate) const fn of(origin: Origin) -> Self {
        Self {
            origin,
            line: None,
            column: None,
        }
    }
}

/// A harmless setting that may not do what its author expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where it stands, if that is known.
    pub place: Option<Place>,
    /// The dotted key.
    pub key: String,
    /// What is to be known.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if let Some(key) = &self.key {
            write!(f, "{}: ", printable(key))?;
        }
        f.write_str(&printable(&self.problem.to_string()))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {}", printable(&self.key), printable(&self.message))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match &self.origin {
            Origin::File(path) => path.display().to_string(),
            Origin::Environment(name) => name.clone(),
            Origin::Assignment(text) => format!("--cfg {text}"),
            Origin::Setting(text) => text.clone(),
        };
        f.write_str(&printable(&origin))?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// Says what the key that every tool needs may be: people copy the other lines of an entry from a hint.
fn missing(field: &str) -> &'static str {
    match field {
        "source" => {
            ": expected `source = \"builtin\"` for a tool that jp brings, or \"local\", \"mcp.SERVER\" or \"registry\""
        }
        _ => "",
    }
}

fn suggestion(nearest: &[String]) -> String {
    let quoted: Vec<String> = nearest.iter().map(|key| format!("`{key}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        keys => format!(" (did you mean {}?)", keys.join(" or ")),
    }
}

/// Makes text of a file safe to print: a hostile key cannot move a terminal's cursor or fill it.
fn printable(text: &str) -> String {
    jp_text::short_line(text, 1_000)
}

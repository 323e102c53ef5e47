//! `extends`: other files that a configuration file reads.
//!
//! A pattern never leaves the directory of the file it stands in, as text; where links lead is
//! checked when a file is read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use glob::{MatchOptions, Pattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    document::Format,
    error::{ConfigError, MAX_FILES, Problem},
    file::{absent, io_problem},
    scalar::scalar,
};

/// What a configuration file extends when it does not say.
pub(crate) const DEFAULT: &str = "config.d/**/*";

/// How deep directories are searched.
const MAX_DEPTH: usize = 16;

/// Files to read together with the file this stands in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Extends {
    /// A path or a glob, relative to the file.
    pub path: String,
    /// Which of the two wins.
    pub strategy: Strategy,
}

/// Which of two files wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The extended file is read before, so that the file itself wins.
    #[default]
    Before,
    /// The extended file is read after, so that it wins.
    After,
}

scalar! {
    Extends: "a path or glob below this file's directory, or a table with `path` and `strategy` (`before` or `after`)",
    schema {
        "anyOf": [{ "type": "string" }, {
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "A path or a glob, relative to the file." },
                "strategy": { "enum": ["before", "after"], "description": "Whether it is read before this file or after." },
            },
            "required": ["path"],
            "additionalProperties": false,
        }],
    },
    read |value| Extends::read(value),
    write |this| match this.strategy {
        Strategy::Before => Value::String(this.path),
        Strategy::After => serde_json::json!({ "path": this.path, "strategy": "after" }),
    },
}

impl Extends {
    fn read(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            path: String,
            #[serde(default)]
            strategy: Strategy,
        }
        let table = match value {
            Value::String(path) => Table {
                path: path.clone(),
                strategy: Strategy::Before,
            },
            table => Table::deserialize(table).ok()?,
        };
        let path = table.path;
        let inside = !path.is_empty()
            && path.len() <= 4096
            && !path.starts_with(['/', '~'])
            && !path.contains(['\\', '\0', ':'])
            && path.split('/').all(|part| part != "..");
        let strategy = table.strategy;
        (inside && Pattern::new(&path).is_ok()).then_some(Self { path, strategy })
    }

    /// Returns the files this stands for, sorted by path. Only a name without wildcards must exist.
    pub(crate) fn files(&self, dir: &Path) -> Result<Vec<PathBuf>, ConfigError> {
        let parts: Vec<&str> = self.path.split('/').filter(|part| *part != ".").collect();
        let plain = parts
            .iter()
            .take_while(|part| !part.contains(['*', '?', '[']))
            .count();
        let fixed: PathBuf = parts.iter().take(plain).collect();
        if plain == parts.len() {
            return Ok(vec![dir.join(fixed)]);
        }
        let Ok(pattern) = Pattern::new(&parts.join("/")) else {
            return Ok(Vec::new());
        };
        let mut search = Search {
            dir,
            pattern,
            seen: 0,
            found: Vec::new(),
        };
        search.walk(&dir.join(&fixed), 0)?;
        search.found.sort();
        Ok(search.found)
    }
}

/// One search for the files of a glob.
struct Search<'a> {
    dir: &'a Path,
    pattern: Pattern,
    seen: usize,
    found: Vec<PathBuf>,
}

impl Search<'_> {
    /// Looks into one directory; links to directories are not followed, so that there is an end.
    fn walk(&mut self, at: &Path, depth: usize) -> Result<(), ConfigError> {
        let fail = |problem| ConfigError::of_file(at, problem);
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(error) if absent(&error) => return Ok(()),
            Err(error) => return Err(fail(io_problem(&error))),
        };
        for entry in entries {
            let entry = entry.map_err(|error| fail(io_problem(&error)))?;
            self.seen += 1;
            if self.seen > MAX_FILES || depth > MAX_DEPTH {
                return Err(fail(Problem::TooMuch));
            }
            let path = entry.path();
            let kind = entry
                .file_type()
                .map_err(|error| fail(io_problem(&error)))?;
            if kind.is_dir() {
                self.walk(&path, depth + 1)?;
            } else if self.matches(&path) {
                self.found.push(path);
            }
        }
        Ok(())
    }

    fn matches(&self, path: &Path) -> bool {
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let below = path.strip_prefix(self.dir).ok().and_then(Path::to_str);
        Format::of(path).is_some()
            && below.is_some_and(|below| self.pattern.matches_with(below, options))
    }
}

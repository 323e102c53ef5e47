//! Files that a person chose for one call. A model names one by the id the person gave it, as
//! `{"$file": "<id>"}`; a guest finds it as `{"path": "/in/<n>/<name>"}` and sees nothing else of where
//! it lies.
//!
//! Nothing a model writes becomes a path of the host: only fronts fill [`Call::files`], and a path in
//! the arguments is mere text, and refused where a file is meant ([`typed`]).
//!
//! [`Call::files`]: super::Call::files

pub(super) mod typed;

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use jp_policy::{Access, Chosen};
use serde_json::{Map, Value};

/// The key that names a chosen file.
const KEY: &str = "$file";

/// The most files of one call; each is held open while it runs.
const MAX_FILES: usize = 16;

/// Why arguments that speak of files are refused, as the model sees it.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("- at `/`: the arguments as a whole cannot be a file")]
    Whole,
    #[error("- at `{at}`: `{KEY}` must be the id of a chosen file")]
    NoId { at: String },
    #[error("- at `{at}`: expected no other key beside `{KEY}`")]
    NotAlone { at: String },
    #[error("- at `{at}`: unknown file `{id}`: the user chooses files with `--file`")]
    NotChosen { at: String, id: String },
    #[error("- at `{at}`: a call takes at most {MAX_FILES} files")]
    TooMany { at: String },
    #[error(
        "- at `{at}`: a path cannot be typed here; name a file that the user chose with `--file` as \
         `{{\"$file\": \"<id>\"}}`, or give the bytes as `{{\"base64\": \"…\"}}` where the schema takes them"
    )]
    Typed { at: String },
    #[error("- the schema is nested too deeply")]
    TooDeep,
}

/// A file that a person chose for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenFile {
    /// Where it lies on the host.
    pub path: PathBuf,
    /// What the person lets the tool do with it.
    pub access: Access,
}

/// A chosen file that the arguments of a call name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The argument that names it, as a JSON pointer.
    pub(crate) argument: String,
    /// Its directory, as the guest sees it: `/in/0`.
    pub(crate) place: String,
    /// Its name in there.
    pub(crate) name: String,
    /// What was chosen.
    pub(crate) file: ChosenFile,
}

impl Placed {
    /// Returns the path a guest opens.
    pub(crate) fn guest_path(&self) -> String {
        format!("{}/{}", self.place, self.name)
    }
}

/// Tells whether a map has the key. Most have few keys, and to compare those is quicker than to hash
/// one.
fn has_key(map: &Map<String, Value>) -> bool {
    map.keys().any(|key| key == KEY)
}

/// Tells whether any part of the arguments has the form of a chosen file. They are not nested deeply.
pub(super) fn names_any(arguments: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Object(map) => names_any(map),
            Value::Array(items) => items.iter().any(within),
            _ => false,
        }
    }
    has_key(arguments) || arguments.values().any(within)
}

/// Puts the paths of the guest in the place of chosen files, in arguments that are not nested deeply.
/// Each argument has a place of its own. `placed` keeps what it holds: edited arguments may speak of
/// a place that was given before.
///
/// # Errors
///
/// What is wrong, for the model: a file that was not chosen, or another key beside its id.
pub(super) fn place(
    arguments: &mut Map<String, Value>,
    files: &BTreeMap<String, ChosenFile>,
    placed: &mut Vec<Placed>,
) -> Result<(), FileError> {
    if !names_any(arguments) {
        return Ok(());
    }
    if has_key(arguments) {
        return Err(FileError::Whole);
    }
    let at = String::new();
    Walk { files, placed, at }.map(arguments)
}

/// A way through arguments.
struct Walk<'a> {
    files: &'a BTreeMap<String, ChosenFile>,
    placed: &'a mut Vec<Placed>,
    /// Where it is, as a JSON pointer.
    at: String,
}

impl Walk<'_> {
    fn map(&mut self, map: &mut Map<String, Value>) -> Result<(), FileError> {
        map.iter_mut()
            .try_for_each(|(name, value)| self.below(value, |at| at.push_str(&escaped(name))))
    }

    /// Goes one step down and up again. Values without anything below them are not worth a step.
    fn below(
        &mut self,
        value: &mut Value,
        name: impl FnOnce(&mut String),
    ) -> Result<(), FileError> {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Ok(());
        }
        let before = self.at.len();
        self.at.push('/');
        name(&mut self.at);
        self.value(value)?;
        self.at.truncate(before);
        Ok(())
    }

    fn value(&mut self, value: &mut Value) -> Result<(), FileError> {
        match value {
            Value::Object(map) if has_key(map) => {
                let path = self.chosen(map)?;
                *value = serde_json::json!({ "path": path });
                Ok(())
            }
            Value::Object(map) => self.map(map),
            Value::Array(items) => items
                .iter_mut()
                .enumerate()
                .try_for_each(|(n, value)| self.below(value, |at| at.push_str(&n.to_string()))),
            _ => Ok(()),
        }
    }

    fn chosen(&mut self, map: &Map<String, Value>) -> Result<String, FileError> {
        let (pointer, at) = (&self.at, shown(&self.at));
        let Some(Value::String(id)) = map.get(KEY) else {
            return Err(FileError::NoId { at });
        };
        if map.len() > 1 {
            return Err(FileError::NotAlone { at });
        }
        let Some(file) = self.files.get(id) else {
            let id = shown(id);
            return Err(FileError::NotChosen { at, id });
        };
        let n = self.placed.len();
        if n >= MAX_FILES {
            return Err(FileError::TooMany { at });
        }
        let placed = Placed {
            argument: pointer.clone(),
            place: Chosen::place(n).as_str().to_owned(),
            name: guest_name(file),
            file: file.clone(),
        };
        let path = placed.guest_path();
        self.placed.push(placed);
        Ok(path)
    }
}

/// The name a guest sees: the file's own, so that its ending says what it is, without what could
/// deceive its reader. The mount uses the same name, and a call whose arguments name
/// another path than the mounted one does not run.
fn guest_name(file: &ChosenFile) -> String {
    let name = file.path.file_name().unwrap_or_default();
    jp_text::file_name(&name.to_string_lossy())
}

fn escaped(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        return name.replace('~', "~0").replace('/', "~1").into();
    }
    name.into()
}

/// Bounds what a model wrote before it goes into a message.
fn shown(text: &str) -> String {
    jp_text::start(text, 80)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

//! Arguments: coerced, completed and checked before anybody sees them.
//!
//! They come from a model. What is wrong with them is reported to the model, with the path and the
//! rule, so that it can fix them.

use std::sync::{Arc, OnceLock};

use jsonschema::{Draft, ValidationError, Validator};
use serde_json::{Map, Value};

use super::{
    Placed,
    depth::{MAX_DEPTH, size},
    files::{FileError, typed},
    plain,
};

/// Problems that are listed; a model fixes a few at a time.
const MAX_PROBLEMS: usize = 8;

/// The longest text of one problem.
const MAX_PROBLEM: usize = 300;

/// The most values of which all problems are looked for; of more only the first is reported, since the
/// list of all of them could be many times as large as the arguments.
const MAX_LISTED: usize = 10_000;

/// Arguments that were refused, and why, as the model sees it.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) arguments: Map<String, Value>,
    pub(super) problems: String,
}

/// An invalid schema.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(#[source] Arc<ValidationError<'static>>);

/// The checks of one tool's arguments.
pub(crate) struct Checker {
    schema: Value,
    by: SchemaBy,
    validator: OnceLock<Result<Validator, SchemaError>>,
    has_defaults: bool,
    /// Whether it refers to the files that the host's own definitions describe.
    takes_files: bool,
}

/// Who made a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaBy {
    /// Our own code, so it is one. The validator is made when it is needed.
    Us,
    /// A tool.
    Others,
    /// A manifest: the draft is settled, and formats count.
    Manifest,
}

#[cfg(test)]
thread_local! {
    /// How many validators this thread has made.
    pub(super) static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Checker {
    pub(crate) fn new(schema: &Value, by: SchemaBy) -> Result<Self, SchemaError> {
        let checker = Self {
            has_defaults: has_defaults(schema, 0),
            takes_files: by == SchemaBy::Manifest && typed::takes_files(schema),
            schema: schema.clone(),
            by,
            validator: OnceLock::new(),
        };
        if by != SchemaBy::Us {
            checker.validator()?;
        }
        Ok(checker)
    }

    pub(super) fn validator(&self) -> Result<&Validator, SchemaError> {
        let made = self.validator.get_or_init(|| {
            let options = match self.by {
                // Its words mean the same in all drafts, and the older one is quicker to get ready.
                SchemaBy::Us => jsonschema::options().with_draft(Draft::Draft7),
                SchemaBy::Others => jsonschema::options(),
                SchemaBy::Manifest => jsonschema::options()
                    .with_draft(Draft::Draft202012)
                    .should_validate_formats(true),
            };
            #[cfg(test)]
            COMPILED.set(COMPILED.get() + 1);
            let made = options.build(&self.schema);
            made.map_err(|error| SchemaError(Arc::new(error)))
        });
        made.as_ref().map_err(Clone::clone)
    }

    fn is_valid(&self, value: &Value) -> Result<bool, SchemaError> {
        let plainly = self.by == SchemaBy::Us && plain::surely_fits(value, &self.schema);
        Ok(plainly || self.validator()?.is_valid(value))
    }

    /// Refuses a path that was typed where only a chosen file may stand.
    pub(super) fn refuse_typed(
        &self,
        arguments: &Map<String, Value>,
        placed: &[Placed],
    ) -> Result<(), FileError> {
        match self.takes_files {
            true => typed::refuse(arguments, &self.schema, placed),
            false => Ok(()),
        }
    }

    /// Makes arguments fit to be handed to a tool, or gives them back with what is wrong.
    pub(super) fn check(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Rejected> {
        let mut value = Value::Object(arguments);
        let problems = self.fit(&mut value);
        let problems = problems.unwrap_or_else(|error| Some(error.to_string()));
        let Value::Object(arguments) = value else {
            return Err(Rejected {
                arguments: Map::new(),
                problems: "the arguments must be an object".to_owned(),
            });
        };
        match problems {
            None => Ok(arguments),
            Some(problems) => Err(Rejected {
                arguments,
                problems,
            }),
        }
    }

    /// Coerces and completes arguments, and says what is still wrong.
    fn fit(&self, value: &mut Value) -> Result<Option<String>, SchemaError> {
        let mut valid = self.is_valid(value)?;
        if !valid {
            coerce(value, &self.schema, 0);
        }
        if self.has_defaults {
            fill_defaults(value, &self.schema, 0);
        }
        if !valid || self.has_defaults {
            valid = self.is_valid(value)?;
        }
        if valid {
            return Ok(None);
        }
        self.problems(value).map(Some)
    }

    fn problems(&self, value: &Value) -> Result<String, SchemaError> {
        let validator = self.validator()?;
        if size(value, MAX_DEPTH).is_none_or(|size| size > MAX_LISTED) {
            let first = validator.validate(value).err();
            let first = first.map_or_else(String::new, |error| describe(&error));
            let more = "- there may be more: the arguments are too large to list every problem";
            return Ok(format!("{first}\n{more}"));
        }
        let mut lines: Vec<String> = validator.iter_errors(value).map(|e| describe(&e)).collect();
        let more = lines.len().saturating_sub(MAX_PROBLEMS);
        lines.truncate(MAX_PROBLEMS);
        if more > 0 {
            lines.push(format!("- and {more} more"));
        }
        Ok(lines.join("\n"))
    }
}

/// Returns where the first problem of a value is, and what it is.
pub(super) fn first_problem(validator: &Validator, value: &Value) -> Option<(String, String)> {
    validator.validate(value).err().map(|error| located(&error))
}

/// Says where a problem is, what it is and which rule it breaks.
fn describe(error: &ValidationError<'_>) -> String {
    let (path, reason) = located(error);
    format!("- at `{path}`: {reason}")
}

fn located(error: &ValidationError<'_>) -> (String, String) {
    let cut = |text: String| jp_text::shorten(&text, MAX_PROBLEM).into_owned();
    let path = match error.instance_path().to_string() {
        path if path.is_empty() => "/".to_owned(),
        path => cut(path),
    };
    let (text, rule) = (cut(error.to_string()), error.schema_path());
    (path, format!("{text} (rule: {rule})"))
}

/// Reads JSON that a model has put into a string, where the schema wants something else and the
/// text fits it.
fn coerce(value: &mut Value, schema: &Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Value::String(text) = value
        && !allows(schema, "string")
        && let Ok(parsed) = serde_json::from_str::<Value>(text)
        && allows(schema, kind(&parsed))
    {
        *value = parsed;
    }
    match value {
        Value::Object(map) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            for (name, part) in map {
                if let Some(schema) = properties.get(name) {
                    coerce(part, schema, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items
                    .iter_mut()
                    .for_each(|item| coerce(item, schema, depth + 1));
            }
        }
        _ => {}
    }
}

/// Adds the defaults of parameters that were left out, in objects and array items too.
fn fill_defaults(value: &mut Value, schema: &Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            for (name, schema) in properties {
                if let Some(default) = schema.get("default")
                    && !map.contains_key(name)
                {
                    map.insert(name.clone(), default.clone());
                }
                if let Some(part) = map.get_mut(name) {
                    fill_defaults(part, schema, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items
                    .iter_mut()
                    .for_each(|item| fill_defaults(item, schema, depth + 1));
            }
        }
        _ => {}
    }
}

fn has_defaults(schema: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let below = |part: &Value| part.get("default").is_some() || has_defaults(part, depth + 1);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|all| all.values().any(below)) || schema.get("items").is_some_and(below)
}

/// Tells whether a schema allows a type; one that names none allows all.
fn allows(schema: &Value, kind: &str) -> bool {
    let matches = |name: &str| name == kind || (name == "number" && kind == "integer");
    match schema.get("type") {
        Some(Value::String(name)) => matches(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(matches),
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;

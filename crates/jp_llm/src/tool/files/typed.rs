//! Paths that were typed where only a chosen file is allowed.
//!
//! A guest finds a chosen file as `{"path": "/in/0/x.pdf"}`. A caller who typed that would show the guest a
//! file that nobody chose, so the form is the host's alone wherever a schema refers to the definitions
//! that the host supplies. Elsewhere it is ordinary data, and none of this file's business.

use serde_json::{Map, Value};

use super::{FileError, Placed, escaped, shown};

/// The key of the form that a guest finds.
const PATH: &str = "path";

/// The supplied definitions that allow that form.
const DEFINITIONS: [&str; 2] = ["path", "blob_or_path"];

/// Words whose schemas, in a list, are about the same value.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Words whose schema is about the same value.
const SAME: [&str; 3] = ["if", "then", "else"];

/// Words whose schemas, by a name, are about the same value.
const MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

/// The most steps into a schema with its references written out: more than any manifest may have.
const MAX_STEPS: usize = 512;

/// Tells whether a schema of a manifest refers to files at all.
pub(crate) fn takes_files(schema: &Value) -> bool {
    let supplied = schema.get("definitions").and_then(Value::as_object);
    supplied.is_some_and(|all| DEFINITIONS.iter().any(|name| all.contains_key(*name)))
}

/// Refuses arguments with a path that the host has not put there.
///
/// # Errors
///
/// Where it stands and what to write instead, for the model.
pub(crate) fn refuse(
    arguments: &Map<String, Value>,
    schema: &Value,
    placed: &[Placed],
) -> Result<(), FileError> {
    if !has_path(Part::Object(arguments)) {
        return Ok(());
    }
    let mut walk = Walk {
        root: schema,
        placed,
        at: String::new(),
        steps: 0,
    };
    walk.words(Part::Object(arguments), schema)
}

/// A part of the arguments that has parts of its own.
#[derive(Clone, Copy)]
enum Part<'a> {
    Object(&'a Map<String, Value>),
    Array(&'a [Value]),
}

impl<'a> Part<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self::Object(map)),
            Value::Array(items) => Some(Self::Array(items)),
            _ => None,
        }
    }
}

/// Tells whether there is anything to look for. Most arguments have no such key, and going through
/// them with their schema takes longer than all other checks.
fn has_path(part: Part<'_>) -> bool {
    match part {
        Part::Object(map) => {
            map.keys().any(|key| key == PATH) || map.values().filter_map(Part::of).any(has_path)
        }
        Part::Array(items) => items.iter().filter_map(Part::of).any(has_path),
    }
}

/// A way through arguments and their schema at once. Where it is not sure that a schema is about a
/// value (a pattern of names, an alternative) it takes it to be.
struct Walk<'a> {
    /// The whole schema, in which references lead.
    root: &'a Value,
    placed: &'a [Placed],
    /// Where it is in the arguments, as a JSON pointer.
    at: String,
    steps: usize,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, schema: &Value) -> Result<(), FileError> {
        match Part::of(value) {
            Some(part) => self.words(part, schema),
            None => Ok(()),
        }
    }

    /// Looks at one part with one schema. Each step leads deeper into the schema, which is bounded.
    fn words(&mut self, part: Part<'_>, schema: &Value) -> Result<(), FileError> {
        let Value::Object(words) = schema else {
            return Ok(());
        };
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(FileError::TooDeep);
        }
        self.reference(part, words)?;
        self.same(part, words)?;
        match part {
            Part::Object(map) => self.fields(map, words)?,
            Part::Array(items) => self.items(items, words)?,
        }
        self.steps -= 1;
        Ok(())
    }

    fn reference(&mut self, part: Part<'_>, words: &Map<String, Value>) -> Result<(), FileError> {
        let Some(Value::String(to)) = words.get("$ref") else {
            return Ok(());
        };
        if is_of_a_file(to) {
            return self.file(part);
        }
        let target = to.strip_prefix('#').and_then(|to| self.root.pointer(to));
        target.map_or(Ok(()), |target| self.words(part, target))
    }

    fn same(&mut self, part: Part<'_>, words: &Map<String, Value>) -> Result<(), FileError> {
        let lists = LISTS.iter().filter_map(|word| words.get(*word)?.as_array());
        let maps = MAPS.iter().filter_map(|word| words.get(*word)?.as_object());
        let one = SAME.iter().filter_map(|word| words.get(*word));
        let mut all = lists.flatten().chain(maps.flat_map(Map::values)).chain(one);
        all.try_for_each(|schema| self.words(part, schema))
    }

    fn fields(
        &mut self,
        map: &Map<String, Value>,
        words: &Map<String, Value>,
    ) -> Result<(), FileError> {
        let named = words.get("properties").and_then(Value::as_object);
        let by_pattern = words.get("patternProperties").and_then(Value::as_object);
        for (name, value) in map {
            let own = named.and_then(|named| named.get(name));
            let others = ["additionalProperties", "unevaluatedProperties"];
            let others = others.iter().filter(|_| own.is_none());
            let others = others.filter_map(|word| words.get(*word));
            let by_pattern = by_pattern.into_iter().flat_map(Map::values);
            for schema in own.into_iter().chain(others).chain(by_pattern) {
                self.below(value, &escaped(name), schema)?;
            }
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value], words: &Map<String, Value>) -> Result<(), FileError> {
        let first = words.get("prefixItems").and_then(Value::as_array);
        let first: &[Value] = first.map_or(&[], Vec::as_slice);
        let always = words.get("contains");
        for (n, value) in items.iter().enumerate() {
            let rest = ["items", "unevaluatedItems"];
            let rest = rest.iter().filter(|_| n >= first.len());
            let rest = rest.filter_map(|word| words.get(*word));
            for schema in first.get(n).into_iter().chain(rest).chain(always) {
                self.below(value, &n.to_string(), schema)?;
            }
        }
        Ok(())
    }

    fn below(&mut self, value: &Value, name: &str, schema: &Value) -> Result<(), FileError> {
        let before = self.at.len();
        self.at.push('/');
        self.at.push_str(name);
        self.value(value, schema)?;
        self.at.truncate(before);
        Ok(())
    }

    /// Lets a file pass that the host has put at this very place, and bytes.
    fn file(&self, part: Part<'_>) -> Result<(), FileError> {
        let Part::Object(map) = part else {
            return Ok(());
        };
        // Anything else beside it is not a form of a file; the validator reports that.
        let (1, Some(Value::String(path))) = (map.len(), map.get(PATH)) else {
            return Ok(());
        };
        let is_placed = |file: &Placed| file.argument == self.at && file.guest_path() == *path;
        if self.placed.iter().any(is_placed) {
            return Ok(());
        }
        let at = shown(&self.at);
        Err(FileError::Typed { at })
    }
}

/// Tells whether a reference leads to a file, or into the definition of one.
fn is_of_a_file(to: &str) -> bool {
    let name = to.strip_prefix("#/definitions/").unwrap_or_default();
    let name = name.split_once('/').map_or(name, |(name, _)| name);
    DEFINITIONS.contains(&name)
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod tests;

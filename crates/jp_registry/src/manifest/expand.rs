//! How large and deep a schema is with its references written out. A validator follows them as if
//! they were: a circle never ends, a few doublings take for ever, and a long chain is a deep stack.

use std::collections::HashMap;

use serde_json::Value;

use super::{ManifestError, shape::escaped};

/// The most parts of a schema with all references written out.
const MAX_PARTS: usize = 20_000;

/// The deepest schema with all references written out, counted in levels of JSON.
const MAX_DEPTH: usize = 128;

/// Works out how large a schema is.
pub(super) struct Expansion<'a> {
    /// Where the schema is in the manifest.
    at: &'a str,
    root: &'a Value,
    /// How large the targets of references were found to be; `None` while one is being looked at.
    targets: HashMap<&'a str, Option<Size>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Size {
    parts: usize,
    depth: usize,
}

impl Size {
    /// Puts a part into this one.
    fn hold(&mut self, part: Self) {
        self.parts = self.parts.saturating_add(part.parts);
        self.depth = self.depth.max(part.depth.saturating_add(1));
    }
}

impl<'a> Expansion<'a> {
    pub(super) fn new(at: &'a str, root: &'a Value) -> Self {
        Self {
            at,
            root,
            targets: HashMap::new(),
        }
    }

    /// Refuses a schema that refers to itself, or is too large or deep when written out.
    pub(super) fn check(mut self) -> Result<(), ManifestError> {
        let size = self.size(self.at, self.root, 0)?;
        let refuse = |problem: String| {
            let problem = format!("the schema {problem} with its references written out");
            Err(ManifestError::schema(self.at, problem))
        };
        if size.depth > MAX_DEPTH {
            return refuse(format!("is nested more than {MAX_DEPTH} levels deep"));
        }
        if size.parts > MAX_PARTS {
            return refuse(format!("has more than {MAX_PARTS} parts"));
        }
        Ok(())
    }

    /// Counts parts and levels. What is not yet known is followed, as deep as it may be.
    fn size(&mut self, path: &str, value: &'a Value, depth: usize) -> Result<Size, ManifestError> {
        let mut size = Size { parts: 1, depth: 1 };
        if depth > MAX_DEPTH {
            let problem = format!("more than {MAX_DEPTH} levels with the references written out");
            return Err(ManifestError::schema(path, problem));
        }
        let next = depth.saturating_add(1);
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = format!("{path}/{}", escaped(key));
                    size.hold(match value {
                        Value::String(to) if key == "$ref" => self.target(&path, to, next)?,
                        _ => self.size(&path, value, next)?,
                    });
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    size.hold(self.size(&format!("{path}/{at}"), item, next)?);
                }
            }
            _ => {}
        }
        Ok(size)
    }

    fn target(&mut self, path: &str, to: &'a str, depth: usize) -> Result<Size, ManifestError> {
        let refuse = |problem: &str| {
            let problem = format!("`{}` {problem}", jp_text::short_line(to, 100));
            Err(ManifestError::schema(path, problem))
        };
        match self.targets.get(to) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => return refuse("refers to itself in a circle"),
            None => {}
        }
        let pointer = to.strip_prefix('#').unwrap_or_default();
        let Some(target) = self.root.pointer(pointer) else {
            return refuse("is not in this schema");
        };
        self.targets.insert(to, None);
        let size = self.size(&format!("{}{pointer}", self.at), target, depth)?;
        self.targets.insert(to, Some(size));
        Ok(size)
    }
}

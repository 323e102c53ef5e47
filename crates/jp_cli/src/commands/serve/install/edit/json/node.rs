//! What a JSON file holds, and where.

use std::ops::Range;

use serde_json::{Map, Value};

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    /// A string, a number, a boolean or null; its text says which.
    Scalar,
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key starts.
    pub(super) start: usize,
    pub(super) value: Node,
    /// Where the comma after the value is, if there is one.
    pub(super) comma: Option<usize>,
}

impl Member {
    /// Returns where the member ends, with its comma.
    pub(super) fn end(&self) -> usize {
        self.comma.map_or(self.value.span.end, |comma| comma + 1)
    }
}

impl Node {
    /// Returns the members of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the member of an object by its key.
    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().find(|member| member.key == key)
    }

    /// Says what it is, for a message.
    pub(super) fn word(&self, text: &str) -> &'static str {
        match (&self.kind, text.as_bytes().get(self.span.start)) {
            (Kind::Array(_), _) => "a list",
            (Kind::Object(_), _) => "an object",
            (Kind::Scalar, Some(b'"')) => "a string",
            (Kind::Scalar, Some(b't' | b'f')) => "a boolean",
            (Kind::Scalar, Some(b'n')) => "null",
            (Kind::Scalar, _) => "a number",
        }
    }

    /// Returns the value itself.
    pub(super) fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Scalar => serde_json::from_str(slice(text, &self.span)).unwrap_or_default(),
            Kind::Array(items) => items.iter().map(|item| item.value(text)).collect(),
            Kind::Object(members) => {
                let pairs = members.iter();
                let pairs = pairs.map(|one| (one.key.clone(), one.value.value(text)));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

/// Returns a part of a text; a span that is not one of it is empty.
pub(super) fn slice<'a>(text: &'a str, span: &Range<usize>) -> &'a str {
    text.get(span.clone()).unwrap_or_default()
}

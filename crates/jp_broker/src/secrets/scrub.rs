//! Replaces the values of secrets by their names, in whatever is shown to a guest, a model or a log.
//!
//! Finds a value as it is and as base64 (also in the midst of a longer text), hex, percent-encoding,
//! JSON and HTML write it, whichever of its letters they escape. A server that wants to give a secret
//! away can always spell it in another way: that is why a secret is only sent to its audience.

use std::{borrow::Cow, fmt, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{
    SecretError,
    forms::{MIN_FORM, forms, innermost},
    passing::replace,
};

/// Replaces the values of secrets by `[secret:NAME]`.
#[derive(Clone, Default)]
pub struct Scrubber(Vec<Arc<Patterns>>);

/// Patterns that are looked for together.
pub(super) struct Patterns {
    search: AhoCorasick,
    /// The patterns themselves.
    forms: Vec<Zeroizing<Vec<u8>>>,
    /// What each pattern is replaced by.
    names: Vec<Arc<str>>,
}

/// Where a value stands, and what stands for it.
pub(super) struct Found<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: &'a str,
}

impl Scrubber {
    /// Makes a scrubber of names and values.
    ///
    /// # Errors
    ///
    /// [`SecretError::Full`] when there are too many to look for.
    pub fn new<'a>(
        secrets: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, SecretError> {
        let (mut patterns, mut names) = (Vec::new(), Vec::new());
        for (name, value) in secrets {
            let shown: Arc<str> = format!("[secret:{name}]").into();
            for form in forms(value).into_iter().chain(innermost(value)) {
                patterns.push(Zeroizing::new(form));
                names.push(Arc::clone(&shown));
            }
        }
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        // A DFA of a hundred long patterns would take gigabytes.
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|pattern| pattern.as_slice()));
        let limit = "more secrets than can be looked for at once";
        let search = search.map_err(|_| SecretError::Full { limit })?;
        let forms = patterns;
        Ok(Self(vec![Arc::new(Patterns {
            search,
            forms,
            names,
        })]))
    }

    /// Returns the sets of patterns, in the order they are looked for.
    pub(super) fn sets(&self) -> &[Arc<Patterns>] {
        &self.0
    }

    /// Returns a scrubber that replaces what either replaces.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Tells whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces values in bytes.
    #[must_use]
    pub fn scrub_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut found = Cow::Borrowed(bytes);
        for patterns in &self.0 {
            if let Some(scrubbed) = replace(patterns, &found) {
                found = Cow::Owned(scrubbed);
            }
        }
        found
    }

    /// Replaces values in a text.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.scrub_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A value of arbitrary bytes may have cut a character in two.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Replaces values in all texts of a JSON value, names of fields and numbers included.
    pub fn scrub_json(&self, json: &mut Value) {
        if self.is_empty() {
            return;
        }
        match json {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = number.to_string();
                if let Cow::Owned(scrubbed) = self.scrub(&text) {
                    *json = Value::String(scrubbed);
                }
            }
            Value::String(text) => {
                if let Cow::Owned(scrubbed) = self.scrub(text) {
                    *text = scrubbed;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_json(item)),
            Value::Object(fields) => {
                let scrubbed = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    self.scrub_json(&mut value);
                    (self.scrub(&name).into_owned(), value)
                });
                *fields = scrubbed.collect::<Map<_, _>>();
            }
        }
    }
}

impl Patterns {
    /// Finds values from left to right, the longest where several start.
    pub(super) fn find<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = Found<'a>> {
        self.search.find_iter(bytes).map(|found| Found {
            start: found.start(),
            end: found.end(),
            name: self
                .names
                .get(found.pattern().as_usize())
                .map_or("", |name| &**name),
        })
    }

    /// Returns where the longest end of `bytes` starts that some pattern starts with and goes on
    /// from; their length if there is none.
    pub(super) fn open_end(&self, bytes: &[u8]) -> usize {
        let Some(last) = bytes.last() else {
            return 0;
        };
        let longest = |form: &Zeroizing<Vec<u8>>| {
            let lengths = 1..form.len().min(bytes.len().saturating_add(1));
            let is_end = |length: &usize| {
                let start = form.get(..*length).unwrap_or_default();
                start.last() == Some(last) && bytes.ends_with(start)
            };
            lengths.rev().find(is_end).unwrap_or(0)
        };
        let open = self.forms.iter().map(longest).max().unwrap_or(0);
        bytes.len().saturating_sub(open)
    }

    /// Replaces values; `None` if there are none.
    pub(super) fn replace(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let long = |found: &Found<'_>| found.end - found.start >= MIN_FORM;
        let mut matches = self.find(bytes).filter(long).peekable();
        matches.peek()?;
        let (mut out, mut end) = (Vec::with_capacity(bytes.len()), 0);
        for found in matches {
            out.extend(bytes.get(end..found.start).unwrap_or_default());
            out.extend(found.name.as_bytes());
            end = found.end;
        }
        out.extend(bytes.get(end..).unwrap_or_default());
        Some(out)
    }
}

/// Shows how many patterns there are, never which.
impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count: usize = self.0.iter().map(|patterns| patterns.names.len()).sum();
        write!(f, "Scrubber({count} patterns)")
    }
}

#[cfg(test)]
#[path = "scrub_tests.rs"]
mod tests;

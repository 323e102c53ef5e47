//! What the readers of other formats share: where in a file they stand, and what they return.
//!
//! Fails closed: a key that nothing knows is an error with the nearest one that is known.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{diagnose::Finding, error::Problem, sandbox};

/// Keys without effect, and what is to be known about each.
pub(crate) type Remarks = Vec<(Vec<String>, &'static str)>;

/// What a file of another format says, in our own terms.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Translated {
    pub(crate) tree: Value,
    pub(crate) remarks: Remarks,
    /// Where what our keys say stands in the file.
    pub(crate) origins: Origins,
}

/// Where what our keys say stands in a file of another format.
#[derive(Debug, PartialEq)]
pub(crate) enum Origins {
    /// Keys of ours, each with the one in the file; the others are the same.
    Listed(Vec<(Vec<String>, Vec<String>)>),
    /// As in the sandbox JSON.
    Sandbox,
}

impl Default for Origins {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Origins {
    /// Returns the key of the file that says what a key of ours says.
    pub(crate) fn original<'p>(&'p self, path: &'p [String]) -> Cow<'p, [String]> {
        match self {
            Self::Listed(origins) => {
                let origin = origins.iter().find(|(ours, _)| path.starts_with(ours));
                Cow::Borrowed(origin.map_or(path, |(_, theirs)| theirs))
            }
            Self::Sandbox => sandbox::original(path).map_or(Cow::Borrowed(path), Cow::Owned),
        }
    }
}

/// Where in the file a translation stands.
#[derive(Debug, Default)]
pub(crate) struct At {
    path: Vec<String>,
    pub(crate) remarks: Remarks,
}

impl At {
    /// Does something with what stands below a key.
    pub(crate) fn inside<T>(
        &mut self,
        key: &str,
        work: impl FnOnce(&mut Self) -> Result<T, Finding>,
    ) -> Result<T, Finding> {
        self.path.push(key.to_owned());
        let done = work(self);
        self.path.pop();
        done
    }

    /// Does something with the value of a key, if there is one.
    pub(crate) fn child(
        &mut self,
        table: &Map<String, Value>,
        key: &str,
        work: impl FnOnce(&mut Self, &Value) -> Result<(), Finding>,
    ) -> Result<(), Finding> {
        match table.get(key) {
            Some(value) => self.inside(key, |at| work(at, value)),
            None => Ok(()),
        }
    }

    /// Does something with each item of a list.
    pub(crate) fn each(
        &mut self,
        value: &Value,
        mut work: impl FnMut(&mut Self, &Value) -> Result<(), Finding>,
    ) -> Result<(), Finding> {
        let items = value
            .as_array()
            .ok_or_else(|| self.invalid("expected a list"))?;
        for (index, item) in items.iter().enumerate() {
            self.inside(&index.to_string(), |at| work(at, item))?;
        }
        Ok(())
    }

    /// Does something with the text of a key, if there is one.
    pub(crate) fn text(
        &mut self,
        table: &Map<String, Value>,
        key: &str,
        work: impl FnOnce(&str),
    ) -> Result<(), Finding> {
        self.child(table, key, |at, value| {
            work(at.str(value)?);
            Ok(())
        })
    }

    /// Returns a value that is a text.
    pub(crate) fn str<'v>(&self, value: &'v Value) -> Result<&'v str, Finding> {
        let text = value.as_str();
        text.ok_or_else(|| self.invalid("expected a text"))
    }

    /// Returns a table that has no other keys than those.
    pub(crate) fn table<'v>(
        &self,
        value: &'v Value,
        known: &[&str],
    ) -> Result<&'v Map<String, Value>, Finding> {
        let table = value
            .as_object()
            .ok_or_else(|| self.invalid("expected a table"))?;
        let Some(unknown) = table.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(table);
        };
        let short: String = unknown.chars().take(64).collect();
        let reach = usize::max(3, short.chars().count() / 3);
        let distance = |name: &&str| (strsim::damerau_levenshtein(name, &short), name.to_string());
        let mut near: Vec<_> = known.iter().map(distance).collect();
        near.retain(|(distance, _)| *distance <= reach);
        near.sort_unstable();
        let nearest = near.into_iter().take(2).map(|(_, name)| name).collect();
        Err(self.wrong(unknown, Problem::UnknownKey { nearest }))
    }

    /// Says what is wrong with the value that is looked at.
    pub(crate) fn invalid(&self, message: impl Into<String>) -> Finding {
        let message = message.into();
        (self.path.clone(), Problem::Invalid { message })
    }

    /// Says what is wrong with a key below.
    pub(crate) fn wrong(&self, key: &str, problem: Problem) -> Finding {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        (path, problem)
    }

    /// Says that a key below has no effect.
    pub(crate) fn remark(&mut self, key: &str, message: &'static str) {
        let mut path = self.path.clone();
        path.push(key.to_owned());
        self.remarks.push((path, message));
    }

    /// Says that the value that is looked at has no effect.
    pub(crate) fn remark_here(&mut self, message: &'static str) {
        self.remarks.push((self.path.clone(), message));
    }

    /// Returns where the translation stands.
    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }
}

//! Arguments of capabilities: JSON of a guest, read into the type of one capability.
//!
//! The type is the check. Its fields say what is required, its [`kinds`] how long a text and how large
//! a number may be, and an error names the argument, its value and what was expected instead. The
//! same types make the reference page and the tables of the builtin tools (`src/reference.rs`).

mod entry;
pub(crate) mod kinds;
mod problem;
mod read;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{CallError, Code};

pub(crate) use entry::{Entry, Reference, References};
pub(crate) use problem::misfit;

/// What has a JSON Schema. Only tests look at schemas, so nothing of them is in the program.
#[cfg(test)]
pub(crate) use schemars::JsonSchema as Shape;

/// What has a JSON Schema. Only tests look at schemas, so nothing of them is in the program.
#[cfg(not(test))]
pub(crate) trait Shape {}

#[cfg(not(test))]
impl<T> Shape for T {}

/// The arguments of a capability.
pub(crate) trait Arguments: DeserializeOwned + Shape + Send + Sync + 'static {}

impl<T: DeserializeOwned + Shape + Send + Sync + 'static> Arguments for T {}

/// Takes no arguments.
#[derive(serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Reads arguments into their type; those of the names in `dropped` decide nothing.
pub(crate) fn read<T: Arguments>(
    arguments: &Map<String, Value>,
    dropped: &'static [&'static str],
) -> Result<T, CallError> {
    T::deserialize(read::Reader::Arguments(arguments, dropped))
        .map_err(|problem| CallError::new(Code::InvalidArgs, problem.to_string()))
}

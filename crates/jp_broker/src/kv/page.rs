//! Lists: how many rows an answer holds, and how it says that there are more.

use std::marker::PhantomData;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::{RawValue, to_raw_value};

use super::{Failure, handler::Scope};
use crate::{
    CallError,
    answer::Status,
    arguments::kinds::{Rows, or_usual},
};

/// The most text of one answer, in bytes: a thousand long notes would exceed the limit of any tool.
const BYTES: usize = 4 * 1024 * 1024;

/// Which rows are listed, and how many.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(
    test,
    schemars(bound = "S: schemars::JsonSchema + Default + Serialize")
)]
#[serde(deny_unknown_fields, bound = "S: Deserialize<'de> + Default")]
pub(super) struct List<S, const USUAL: i64, const LEAST: i64> {
    /// Which ones.
    #[serde(default, deserialize_with = "or_usual")]
    pub(super) status: S,
    /// How many at most.
    #[serde(default)]
    pub(super) limit: Rows<USUAL, LEAST>,
}

/// Which rows are deleted.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(
    test,
    schemars(bound = "S: schemars::JsonSchema + Default + Serialize")
)]
#[serde(deny_unknown_fields, bound = "S: Deserialize<'de> + Default")]
pub(super) struct Clear<S> {
    /// Which ones.
    #[serde(default, deserialize_with = "or_usual")]
    pub(super) status: S,
}

/// A row that can be listed.
pub(super) trait Listed: Serialize {
    /// What an answer calls the list.
    const KEY: &'static str;
}

/// The rows that an answer holds.
pub(super) struct Page<T> {
    rows: Vec<Box<RawValue>>,
    /// Whether there are more.
    more: bool,
    kind: PhantomData<fn() -> T>,
}

impl<T: Listed> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("status", &Status::Ok)?;
        map.serialize_entry(T::KEY, &self.rows)?;
        if self.more {
            map.serialize_entry("more", &true)?;
            map.serialize_entry("limit", &self.rows.len())?;
        }
        map.end()
    }
}

#[cfg(test)]
impl<T: Listed + schemars::JsonSchema> schemars::JsonSchema for Page<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Page of {}", T::KEY).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "status": generator.subschema_for::<Status>(),
                T::KEY: { "type": "array", "items": generator.subschema_for::<T>() },
                "more": { "type": "boolean" },
                "limit": { "type": "integer" },
            },
            "required": ["status", T::KEY],
        })
    }
}

/// Lists rows. The statement takes the user and a number of rows; when rows are left out the answer
/// has `more: true` and how many it could hold.
pub(super) fn list<T: Listed>(
    scope: &Scope<'_>,
    sql: &str,
    limit: i64,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Page<T>, Failure> {
    let mut statement = scope.transaction.prepare_cached(sql)?;
    let mut found = statement.query(params![scope.user, limit.saturating_add(1)])?;
    let wanted = usize::try_from(limit).unwrap_or(0);
    let (mut rows, mut bytes, mut more) = (Vec::new(), 0_usize, false);
    while let Some(row) = found.next()? {
        let row = written(&read(row)?)?;
        bytes = bytes.saturating_add(row.get().len());
        if rows.len() >= wanted || (bytes > BYTES && !rows.is_empty()) {
            more = true;
            break;
        }
        rows.push(row);
    }
    let kind = PhantomData;
    Ok(Page { rows, more, kind })
}

fn written(row: &impl Serialize) -> Result<Box<RawValue>, CallError> {
    to_raw_value(row).map_err(|error| CallError::internal(error.to_string()))
}

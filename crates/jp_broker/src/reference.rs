//! What is made from the types of all capabilities: the reference page of the documentation, and the
//! tables by which the builtin tools describe and check their arguments. Only tests compile this.
//!
//! `JP_UPDATE=1 cargo test -p jp_broker --lib reference` writes both files; without it a stale one
//! fails the test.

mod fits;
mod guests;
mod page;
mod schema;

use std::{env, fs, path::Path};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The schemas of a capability.
pub(crate) struct Shapes {
    arguments: Value,
    reply: Value,
}

impl Shapes {
    pub(crate) fn of<A: JsonSchema, R: JsonSchema>() -> Self {
        let settings = || SchemaSettings::draft2020_12().with(|all| all.inline_subschemas = true);
        let arguments = settings().for_deserialize().into_generator();
        let reply = settings().for_serialize().into_generator();
        Self {
            arguments: arguments.into_root_schema_for::<A>().to_value(),
            reply: reply.into_root_schema_for::<R>().to_value(),
        }
    }
}

/// Compares a file with what it should be, or writes it if that is asked for.
#[track_caller]
fn is_current(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    if env::var_os("JP_UPDATE").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "{} is stale; write it again with `JP_UPDATE=1 cargo test -p jp_broker --lib reference`",
        path.display()
    );
}

#[test]
fn the_page_of_capabilities_is_current() {
    is_current("docs/features/capabilities-table.md", &page::page());
}

#[test]
fn the_tables_of_the_builtin_tools_are_current() {
    let tables = guests::tables();
    is_current("crates/jp_tool_brokered/src/tools/calls.rs", &tables);
}

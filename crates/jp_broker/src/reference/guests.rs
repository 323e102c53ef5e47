//! Writes the tables by which the builtin tools describe and check the arguments of their calls.
//!
//! The tools are small modules that cannot carry serde's derived code, so they read a table. What a
//! table cannot say, such as how long a text may be, is for the host to check.

use serde_json::Value;

use super::schema::{self, Property};
use crate::table::table;

/// What the builtin tools call.
const CALLED: [&str; 5] = ["coding.", "github.", "http.", "kv.sqlite.", "mcp."];
const SEARCH: &str = "search.internet";

const HEAD: &str = "\
//! What each capability takes, as the host reads it.
//!
//! Made from the types of `jp_broker`: edit those, and write this again with
//! `JP_UPDATE=1 cargo test -p jp_broker --lib reference`.

use crate::tool::{Action, Kind, calls, optional, required};
";

/// Writes the file.
pub(super) fn tables() -> String {
    let mut file = HEAD.to_owned();
    for known in table() {
        let name = known.spec().name;
        if name != SEARCH && !CALLED.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let schema = known.shapes().arguments;
        let constant = name.trim_start_matches("kv.sqlite.").replace('.', "_");
        file.push_str(&format!(
            "\npub(super) const {}: Action = calls(\n    {name:?},\n    &{:?},\n    &[{}],\n);\n",
            constant.to_uppercase(),
            schema::one_of(&schema),
            arguments(&schema, 2),
        ));
    }
    file
}

fn arguments(schema: &Value, depth: usize) -> String {
    let offered = schema::properties(schema).into_iter();
    let offered = offered.filter(|property| property.schema["x-offered"] != false);
    let lines: Vec<String> = offered.map(|one| argument(&one, depth)).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{}{}", lines.concat(), "    ".repeat(depth - 1)),
    }
}

fn argument(property: &Property<'_>, depth: usize) -> String {
    let Property {
        name,
        schema,
        required,
    } = property;
    let (outer, inner) = ("    ".repeat(depth), "    ".repeat(depth + 1));
    let need = if *required { "required" } else { "optional" };
    let meaning = schema::meaning(schema);
    let kind = kind(schema, depth + 1);
    let aliases = schema::texts(&schema["x-aliases"]);
    let aliases = match aliases.is_empty() {
        true => String::new(),
        false => format!(".or(&{aliases:?})"),
    };
    let line = format!("{outer}{need}({name:?}, {kind}, {meaning:?}){aliases},\n");
    if line.trim_end().len() <= 100 && !kind.contains('\n') {
        return line;
    }
    format!(
        "{outer}{need}(\n{inner}{name:?},\n{inner}{kind},\n{inner}{meaning:?},\n{outer}){aliases},\n"
    )
}

fn kind(schema: &Value, depth: usize) -> String {
    if schema["enum"].is_array() {
        return format!("Kind::Word(&{:?})", schema::texts(&schema["enum"]));
    }
    let items = &schema["items"];
    match schema["type"].as_str() {
        Some("string") => "Kind::Text".to_owned(),
        Some("integer") => match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            (Some(least), Some(most)) => format!("Kind::Between({least}, {most})"),
            (None, None) => "Kind::Integer".to_owned(),
            _ => panic!("no kind for {schema}"),
        },
        Some("number") => "Kind::Positive".to_owned(),
        Some("object") => "Kind::Object".to_owned(),
        Some("array") => match (schema::entry(items), items["type"].as_str()) {
            (Some(entry), _) => format!("Kind::Entries(&[{}])", arguments(entry, depth + 1)),
            (None, Some("integer")) => "Kind::Integers".to_owned(),
            (None, _) if items["type"].is_array() => "Kind::References".to_owned(),
            _ => panic!("no kind for {schema}"),
        },
        None if schema["type"].is_array() => "Kind::Reference".to_owned(),
        None => "Kind::Json".to_owned(),
        Some(_) => panic!("no kind for {schema}"),
    }
}

//! Writes the page of the documentation that lists all capabilities.

use serde_json::Value;

use super::{
    Shapes,
    schema::{self, Property},
};
use crate::{capability::Spec, table::table};

const HEAD: &str = "\
# All capabilities

Made from the types that jp reads the arguments into, by `JP_UPDATE=1 cargo test -p jp_broker --lib reference`. A tool that calls a
capability on another tool's data needs what that tool is granted, too.

| capability | what it does | data of | what to grant (`grant.calls`) |
|---|---|---|---|
";

const ARGUMENTS: &str = "
# Arguments and answers

`*` marks arguments that are required. All others may be left out or be `null`. Unknown arguments are refused, except by `log.emit`.
In an answer, `?` marks what is not always there, and `[]` a list.
";

/// Writes the page.
pub(super) fn page() -> String {
    let known = table();
    let mut page = HEAD.to_owned();
    for known in &known {
        let Spec {
            name,
            summary,
            owner,
            scope,
        } = known.spec();
        let scope = scope.map_or(String::new(), |field| format!(".<{field}>"));
        let owner = owner.map_or(String::new(), |tool| format!(" `{tool}`"));
        page.push_str(&format!(
            "| `{name}` | {summary} |{owner} | `{name}{scope}` |\n"
        ));
    }
    page.push_str(ARGUMENTS);
    for known in &known {
        let Shapes { arguments, reply } = known.shapes();
        page.push_str(&format!("\n## `{}`\n\n", known.spec().name));
        page.push_str(&of_arguments(&arguments));
        page.push_str(&format!("Answers `{}`.\n", in_brief(&reply)));
    }
    page
}

fn of_arguments(schema: &Value) -> String {
    let properties = schema::properties(schema);
    if properties.is_empty() {
        return "Takes no arguments. ".to_owned();
    }
    let mut table = "| argument | value | meaning |\n|---|---|---|\n".to_owned();
    rows(&properties, "", &mut table);
    let one_of = schema::one_of(schema);
    if !one_of.is_empty() {
        let names: Vec<String> = one_of.iter().map(|name| format!("`{name}`")).collect();
        table.push_str(&format!("\nOne of {} is required.\n", names.join(" and ")));
    }
    table.push('\n');
    table
}

fn rows(properties: &[Property<'_>], above: &str, table: &mut String) {
    for Property {
        name,
        schema,
        required,
    } in properties
    {
        let star = if *required { "*" } else { "" };
        let mut meaning = schema::meaning(schema);
        let aliases = schema::texts(&schema["x-aliases"]);
        if !aliases.is_empty() {
            meaning.push_str(&format!("; also `{}`", aliases.join("`, `")));
        }
        let value = words(schema);
        table.push_str(&format!(
            "| `{above}{name}`{star} | {value} | {} |\n",
            meaning.replace('|', "\\|")
        ));
        if let Some(entry) = schema::entry(&schema["items"]) {
            let above = format!("{above}{name}[].");
            rows(&schema::properties(entry), &above, table);
        }
    }
}

/// Says what a value must be.
fn words(schema: &Value) -> String {
    if schema["enum"].is_array() {
        return format!("`{}`", schema::texts(&schema["enum"]).join("`, `"));
    }
    let number = |key: &str| schema[key].as_i64();
    match schema["type"].as_str() {
        Some("string") => match (number("x-bytes"), number("minLength")) {
            (Some(most), Some(least)) => format!("text of {least} to {most} bytes"),
            (Some(most), None) => format!("text of at most {most} bytes"),
            _ => "text".to_owned(),
        },
        Some("integer") => match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => format!("whole number from {least} to {most}"),
            _ => "whole number".to_owned(),
        },
        Some("number") => "number above 0".to_owned(),
        Some("array") => {
            let items = &schema["items"];
            let of = match items["type"].as_str() {
                Some("integer") => "whole numbers",
                _ if schema::entry(items).is_some() => "titles and objects",
                _ if items["type"].is_array() => "texts and whole numbers",
                _ => panic!("no words for {items}"),
            };
            match number("maxItems") {
                Some(most) => format!("list of {of}, at most {most}"),
                None => format!("list of {of}"),
            }
        }
        Some("object") => "object".to_owned(),
        _ if schema["type"].is_array() => "text or whole number".to_owned(),
        _ => "any JSON".to_owned(),
    }
}

/// Writes an answer as `{status, items[]}`.
fn in_brief(schema: &Value) -> String {
    let fields = schema::properties(schema).into_iter().map(|property| {
        let Property {
            name,
            schema,
            required,
        } = property;
        let mark = if required { "" } else { "?" };
        let (list, inner) = match schema["items"].is_object() {
            true => ("[]", &schema["items"]),
            false => ("", &schema),
        };
        match inner["properties"].is_object() {
            true => format!("{name}{list}{mark}: {}", in_brief(inner)),
            false => format!("{name}{list}{mark}"),
        }
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

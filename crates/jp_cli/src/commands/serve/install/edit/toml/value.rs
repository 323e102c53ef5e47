//! Turns TOML into JSON's values and back.

use serde_json::{Map, Value};
use toml_edit::Item;

/// Writes a value on one line.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| format!("{key} = {}", written(value)));
            match members.collect::<Vec<_>>() {
                none if none.is_empty() => "{}".to_owned(),
                some => format!("{{ {} }}", some.join(", ")),
            }
        }
        scalar => scalar.to_string(),
    }
}

/// Reads a value.
pub(super) fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let members = table
            .iter()
            .map(|(key, item)| (key.to_owned(), value_of(item)));
        return Value::Object(members.collect::<Map<_, _>>());
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables
            .iter()
            .map(|table| value_of(&Item::Table(table.clone())));
        return Value::Array(tables.collect());
    }
    item.as_value().map_or(Value::Null, scalar)
}

fn scalar(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::from(*flag.value()),
        toml_edit::Value::Array(items) => items.iter().map(scalar).collect(),
        toml_edit::Value::InlineTable(table) => {
            let members = table
                .iter()
                .map(|(key, value)| (key.to_owned(), scalar(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        // Neither is in an entry of jp; as text they can be compared.
        toml_edit::Value::Float(number) => Value::from(number.value().to_string()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
    }
}

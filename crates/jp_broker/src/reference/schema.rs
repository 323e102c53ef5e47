//! Reads the JSON Schema of a type.

use serde_json::{Map, Value};

/// One property of an object.
pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    /// What its value must be, without `null`.
    pub(super) schema: Value,
    pub(super) required: bool,
}

/// Returns the properties of an object.
pub(super) fn properties(schema: &Value) -> Vec<Property<'_>> {
    let required: Vec<&str> = texts(&schema["required"]);
    let all = schema["properties"].as_object().into_iter().flatten();
    all.map(|(name, schema)| Property {
        name,
        schema: without_null(schema),
        required: required.contains(&name.as_str()),
    })
    .collect()
}

/// Returns the strings of a list.
pub(super) fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// Returns the arguments of which one must be there.
pub(super) fn one_of(schema: &Value) -> Vec<&str> {
    let ways = schema["anyOf"].as_array().into_iter().flatten();
    ways.flat_map(|way| texts(&way["required"])).collect()
}

/// Returns the object that an entry of a list may be instead of a title.
pub(super) fn entry(items: &Value) -> Option<&Value> {
    let ways = items["anyOf"].as_array()?;
    ways.iter().find(|way| way["type"] == "object")
}

/// Returns what a value means, in one line without a full stop, and what stands for one left out.
pub(super) fn meaning(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text.replace('\n', " ");
    let mut meaning = text.trim_end_matches('.').to_owned();
    if let Some(usual) = schema.get("default") {
        let usual = usual.as_str().map_or(usual.to_string(), str::to_owned);
        let zero = schema["x-zero"].as_str();
        let zero = zero.map_or(String::new(), |zero| format!(", 0 for {zero}"));
        meaning.push_str(&format!(" (default {usual}{zero})"));
    }
    meaning
}

/// Takes `null` out of what a value may be: leaving it out means the same.
fn without_null(schema: &Value) -> Value {
    let Some(object) = schema.as_object() else {
        return Value::Object(Map::new());
    };
    let mut schema = object.clone();
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [one] = kinds.as_slice() {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        ways.retain(|way| way["type"] != "null");
        if let [Value::Object(only)] = ways.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    Value::Object(schema)
}

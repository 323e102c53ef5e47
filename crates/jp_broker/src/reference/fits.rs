//! What a schema allows the type reads, and what it does not allow the type refuses.

use serde_json::{Map, Value, json};

use super::schema;
use crate::table::table;

#[test]
fn the_check_of_the_arguments_is_what_the_schema_says() {
    let (mut accepted, mut refused) = (0, 0);
    for known in table() {
        let name = known.spec().name;
        let schema = known.shapes().arguments;
        for arguments in good(&schema) {
            let answer = known.check(arguments.as_object().unwrap());
            let shown = jp_text::start(&arguments.to_string(), 300);
            assert!(answer.is_ok(), "{name} {shown}: {answer:?}");
            accepted += 1;
        }
        for arguments in bad(&schema) {
            // A thing that is not an object does not get as far as a type.
            let Some(arguments) = arguments.as_object() else {
                continue;
            };
            let answer = known.check(arguments);
            let shown = jp_text::start(&Value::from(arguments.clone()).to_string(), 300);
            assert!(answer.is_err(), "{name} {shown} was accepted");
            refused += 1;
        }
    }
    assert!(accepted > 200 && refused > 300, "{accepted} {refused}");
}

#[test]
fn an_alias_is_read_as_the_argument_it_stands_for() {
    let mut seen = Vec::new();
    for known in table() {
        let schema = known.shapes().arguments;
        let full = good(&schema).swap_remove(0);
        for property in schema::properties(&schema) {
            for alias in schema::texts(&property.schema["x-aliases"]) {
                let mut arguments = full.as_object().unwrap().clone();
                let value = arguments.remove(property.name).unwrap();
                arguments.insert(alias.to_owned(), value);
                assert!(known.check(&arguments).is_ok(), "{alias}");
                arguments.insert(alias.to_owned(), true.into());
                assert!(known.check(&arguments).is_err(), "{alias}");
                seen.push(alias.to_owned());
            }
        }
    }
    assert_eq!(seen, ["in_seconds", "in_seconds", "method", "payload"]);
}

/// Returns values that a schema allows, the fullest one first.
fn good(schema: &Value) -> Vec<Value> {
    if let Some(words) = schema["enum"].as_array() {
        return words.clone();
    }
    if schema["pattern"].is_string() {
        return vec!["en".into()];
    }
    let number = |key: &str| schema[key].as_i64();
    match schema["type"].as_str() {
        Some("string") => {
            let most = usize::try_from(number("x-bytes").unwrap_or(8)).unwrap();
            vec!["text".into(), "x".repeat(most).into()]
        }
        Some("integer") => vec![
            number("maximum").unwrap_or(7).into(),
            number("minimum").unwrap_or(-7).into(),
        ],
        Some("number") => vec![json!(1), json!(0.5)],
        Some("array") => {
            let each = good(&schema["items"]).into_iter();
            each.map(|one| json!([one])).chain([json!([])]).collect()
        }
        Some("object") => objects(schema),
        None if schema["type"].is_array() => vec!["text".into(), 7.into()],
        None => match schema::entry(schema) {
            Some(entry) => [good(entry), vec!["title".into()]].concat(),
            None => vec![json!([1, { "a": null }]), json!("text"), json!(false)],
        },
        Some(_) => panic!("no value for {schema}"),
    }
}

fn objects(schema: &Value) -> Vec<Value> {
    let properties = schema::properties(schema);
    let full: Map<String, Value> = properties
        .iter()
        .map(|one| (one.name.to_owned(), good(&one.schema).swap_remove(0)))
        .collect();
    let required = |name: &String| {
        properties
            .iter()
            .any(|one| one.required && one.name == name)
    };
    let mut least = full.clone();
    // A step has to have a title, under whatever name.
    least.retain(|name, _| required(name) || name == "title");
    let mut all = vec![full.clone(), least];
    for property in &properties {
        for value in good(&property.schema) {
            all.push(with(&full, property.name, value));
        }
        if !property.required && property.name != "title" {
            all.push(with(&full, property.name, Value::Null));
        }
    }
    all.into_iter().map(Value::Object).collect()
}

fn with(object: &Map<String, Value>, name: &str, value: Value) -> Map<String, Value> {
    let mut object = object.clone();
    object.insert(name.to_owned(), value);
    object
}

/// Returns values that a schema does not allow.
fn bad(schema: &Value) -> Vec<Value> {
    if schema["enum"].is_array() {
        return vec!["nonsense".into(), 5.into()];
    }
    if schema["pattern"].is_string() {
        return vec!["e".into(), "e n".into(), 5.into()];
    }
    let number = |key: &str| schema[key].as_i64();
    match schema["type"].as_str() {
        Some("string") => {
            let mut all = vec![json!(5), json!([]), json!({})];
            if let Some(most) = number("x-bytes") {
                all.push("x".repeat(usize::try_from(most).unwrap() + 1).into());
            }
            if number("minLength").is_some() {
                all.extend([json!(""), json!(" \n")]);
            }
            all
        }
        Some("integer") => {
            let mut all = vec![json!(1.5), json!(true), json!([]), json!(u64::MAX)];
            all.extend(number("minimum").map(|least| (least - 1).into()));
            all.extend(number("maximum").map(|most| (most + 1).into()));
            all
        }
        Some("number") => vec![json!(0), json!(-0.5), json!("1")],
        Some("array") => {
            let mut all = vec![json!({}), json!(5.5)];
            all.extend(bad(&schema["items"]).into_iter().map(|one| json!([one])));
            if let Some(most) = number("maxItems") {
                let many = usize::try_from(most).unwrap() + 1;
                all.push(vec!["x"; many].into());
            }
            all
        }
        Some("object") => bad_objects(schema),
        None if schema["type"].is_array() => vec![json!(1.5), json!(true), json!({})],
        None => match schema::entry(schema) {
            // A text is a title.
            Some(entry) => {
                let mut all = bad(entry);
                all.retain(|one| !one.is_string());
                all
            }
            None => Vec::new(),
        },
        Some(_) => panic!("no value for {schema}"),
    }
}

fn bad_objects(schema: &Value) -> Vec<Value> {
    let properties = schema::properties(schema);
    let full = good(schema).swap_remove(0);
    let full = full.as_object().unwrap();
    let mut all = vec![json!(5), json!("text")];
    for property in &properties {
        for value in bad(&property.schema) {
            all.push(with(full, property.name, value).into());
        }
        if property.required {
            let mut without = full.clone();
            without.remove(property.name);
            all.push(without.into());
            all.push(with(full, property.name, Value::Null).into());
        }
    }
    if schema["additionalProperties"] == false {
        all.push(with(full, "nonsense", 1.into()).into());
    }
    all
}

//! What a model is told agrees with what the module accepts.

use serde_json::{Map, Value, json};

use super::check;
use crate::tool::{Kind, calls, required};
use crate::{ALL, Action, ModuleTool, find};

/// Makes a value that a property's schema allows.
fn sample(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => json!("text"),
        Some("integer") => json!(schema["minimum"].as_i64().unwrap_or(7)),
        Some("number") => json!(0.5),
        Some("object") => {
            let properties = schema["properties"].as_object();
            let fields = properties.into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), sample(field)))
                .collect::<Map<_, _>>()
                .into()
        }
        Some("array") => match schema["items"]["anyOf"].as_array() {
            Some(kinds) => kinds.iter().map(sample).collect(),
            None => vec![sample(&schema["items"])].into(),
        },
        _ => panic!("no sample for {schema}"),
    }
}

/// Makes the call of an action with every argument that the schema has for it.
fn full_call(tool: &ModuleTool, action: &Action, word: Option<&str>) -> Value {
    let schema = tool.schema();
    let mut call = Map::new();
    call.extend(word.map(|word| ("action".to_owned(), word.into())));
    for argument in action.arguments {
        let property = &schema["properties"][argument.name];
        call.insert(argument.name.to_owned(), sample(property));
        for alias in argument.aliases {
            let property = &schema["properties"][*alias];
            call.insert((*alias).to_owned(), sample(property));
        }
    }
    call.insert("user_id".to_owned(), "u".into());
    call.into()
}

#[test]
fn every_action_of_the_schema_is_understood_with_all_its_arguments() {
    for tool in ALL {
        let schema = tool.schema();
        let words: Vec<&str> = schema["properties"]["action"]["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|word| word.as_str().unwrap())
            .collect();
        let mut calls: Vec<(&Action, Option<&str>)> = words
            .iter()
            .map(|word| (tool.action(word).unwrap(), Some(*word)))
            .collect();
        if words.is_empty() {
            calls = tool.actions.iter().map(|action| (action, None)).collect();
        }
        assert!(calls.len() >= tool.actions.len());
        for (action, word) in calls {
            let input = full_call(tool, action, word).to_string();
            let answer = check(tool.name, input.as_bytes());
            let name = format!("{} ", action.call);
            assert!(answer.starts_with(&name), "{} {input}: {answer}", tool.name);
        }
    }
}

#[test]
fn every_argument_of_an_action_is_in_the_schema_and_the_other_way_round() {
    for tool in ALL {
        let schema = tool.schema();
        let properties = schema["properties"].as_object().unwrap();
        let arguments = || tool.actions.iter().flat_map(|action| action.arguments);
        for name in properties.keys() {
            let is_known = arguments()
                .any(|one| one.name == name || one.aliases.contains(&name.as_str()))
                || name == "user_id"
                || (name == "action" && tool.has_actions());
            assert!(is_known, "{} {name}", tool.name);
        }
        for argument in arguments() {
            assert!(properties.contains_key(argument.name), "{}", argument.name);
            // The schema shows one meaning for each name, so there may be only one.
            for other in arguments().filter(|other| other.name == argument.name) {
                assert_eq!(argument.kind, other.kind, "{} {}", tool.name, other.name);
                assert_eq!(
                    argument.meaning, other.meaning,
                    "{} {}",
                    tool.name, other.name
                );
                assert_eq!(
                    argument.aliases, other.aliases,
                    "{} {}",
                    tool.name, other.name
                );
            }
        }
        for action in tool.actions {
            let has = |key: &&str| action.arguments.iter().any(|one| one.name == *key);
            assert!(action.one_of.iter().all(has), "{}", action.call);
        }
        assert_eq!(schema["additionalProperties"], false);
    }
}

#[test]
fn a_model_is_told_which_action_needs_an_argument() {
    let schema = find("todo").unwrap().schema();
    let properties = schema["properties"].clone();
    assert_eq!(
        properties["title"]["description"],
        "What is to be done; for create (required)"
    );
    assert_eq!(
        properties["action"]["description"],
        "What to do: create, create_many, list, complete, reopen, delete, clear, reorder"
    );
    assert_eq!(schema["required"], json!(["action"]));
    let schema = find("reminders").unwrap().schema();
    assert_eq!(
        schema["properties"]["due_at"]["description"],
        "When, in seconds since 1970 (UTC); for create (this or delay_seconds is required), \
         snooze (this or delay_seconds is required)"
    );
    assert_eq!(properties["items"]["minItems"], 1);
    assert_eq!(properties["dependency_refs"]["minItems"], Value::Null);
    let schema = find("http_call").unwrap().schema();
    assert_eq!(schema["required"], json!(["method"]));
    let schema = find("mcp").unwrap().schema();
    assert_eq!(
        schema["properties"]["method"]["description"],
        "The same as tool"
    );
}

#[test]
fn an_argument_that_may_come_under_another_name_is_not_required_under_its_own() {
    static TOOL: ModuleTool = ModuleTool {
        name: "ask",
        summary: "",
        description: "",
        actions: &[calls(
            "search.internet",
            &[],
            &[required("query", Kind::Text, "").or(&["q"])],
        )],
    };
    assert_eq!(TOOL.schema()["required"], json!([]));
    let answer = String::from_utf8(TOOL.answer(br#"{"q":"x"}"#)).unwrap();
    assert!(answer.contains(r#""args":{"query":"x"}"#), "{answer}");
}

#[test]
fn each_tool_calls_what_it_is_granted_by_default() {
    let calls = |tool: &str| find(tool).unwrap().calls().collect::<Vec<_>>().join(" ");
    let family = |tool: &str, verbs: &str| {
        let names = verbs
            .split(' ')
            .map(|verb| format!("kv.sqlite.{tool}.{verb}"));
        assert_eq!(calls(tool), names.collect::<Vec<_>>().join(" "));
    };
    family(
        "todo",
        "create create_many list complete reopen delete clear reorder",
    );
    family("tasks", "schedule list enable disable delete clear");
    family("reminders", "create list complete delete snooze clear");
    family("planning", "create list get update delete clear");
    family("wakeup", "create list enable disable delete");
    assert_eq!(calls("coding"), "coding.generate");
    assert_eq!(calls("mcp"), "mcp.list_tools mcp.call");
    assert_eq!(calls("http_call"), "http.request");
    assert_eq!(calls("github"), "github.list_tools github.call_tool");
    assert_eq!(calls("search_internet"), "search.internet");
    assert_eq!(ALL.len(), 10);
}

#[test]
fn a_word_stands_for_one_action() {
    for tool in ALL {
        let mut words: Vec<&str> = tool
            .actions
            .iter()
            .flat_map(|one| one.words)
            .copied()
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count, "{}", tool.name);
        assert_eq!(tool.artifact(), format!("{}_tool", tool.name));
    }
}

#[test]
fn a_number_out_of_the_range_that_the_schema_says_is_refused_with_the_range() {
    for (tool, call, field) in [
        (
            "reminders",
            json!({ "action": "create", "title": "t" }),
            "due_at",
        ),
        (
            "reminders",
            json!({ "action": "create", "title": "t" }),
            "delay_seconds",
        ),
        ("reminders", json!({ "action": "list" }), "limit"),
        (
            "tasks",
            json!({ "action": "schedule", "name": "n", "prompt": "p" }),
            "run_at",
        ),
        (
            "tasks",
            json!({ "action": "schedule", "name": "n", "prompt": "p", "run_at": 1 }),
            "interval_minutes",
        ),
        (
            "wakeup",
            json!({ "action": "create", "name": "n", "prompt": "p" }),
            "interval_minutes",
        ),
        (
            "todo",
            json!({ "action": "create", "title": "t" }),
            "story_points",
        ),
        (
            "todo",
            json!({ "action": "create", "title": "t" }),
            "estimate_likely_minutes",
        ),
        ("planning", json!({ "action": "list" }), "limit"),
    ] {
        let schema = &find(tool).unwrap().schema()["properties"][field];
        let (least, most) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
        let (least, most) = (least.unwrap(), most.unwrap());
        let words = format!("Invalid {field}: must be a whole number between {least} and {most}");
        let with = |number: i64| {
            let mut call = call.clone();
            call[field] = number.into();
            check(tool, call.to_string().as_bytes())
        };
        for number in [least, most] {
            assert!(
                with(number).starts_with("kv.sqlite."),
                "{tool} {field} {number}"
            );
        }
        for number in [least - 1, most + 1, i64::MIN, i64::MAX] {
            assert_eq!(with(number), words, "{tool} {field} {number}");
        }
    }
}

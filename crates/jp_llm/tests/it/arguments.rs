//! Arguments as models send them: wrong, huge, deep, or claiming to come from the host.

use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, reader};

const KB: &str = "[kb.topic.t]\ntitle = \"The Topic\"\nsubjects = \"kb\"\n\
                  [kb.topic.off]\nenable = false\nsubjects = \"kb\"\n";

fn echo(parameters: &str) -> Desk {
    Desk::new(&reader("echo", parameters)).guest("echo", "echo")
}

/// Returns the arguments that reached the guest.
async fn reached(desk: &Desk, arguments: Value) -> Value {
    let said = desk.said("echo", arguments).await.unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    serde_json::from_str(said["arguments"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn what_is_wrong_is_a_result_that_names_path_and_rule() {
    let desk = echo("parameters.n = { type = \"integer\", required = true, enum = [1, 2] }");
    let said = desk
        .said("echo", json!({"n": 7, "m": 1}))
        .await
        .unwrap_err();
    assert!(said.starts_with("Invalid arguments:\n"), "{said}");
    assert!(
        said.contains("at `/n`") && said.contains("rule: /properties/n/enum"),
        "{said}"
    );
    assert!(said.contains("'m' was unexpected"), "{said}");
    assert!(
        said.contains("The schema of the arguments: {\"type\":\"object\""),
        "{said}"
    );
    let said = desk.said("echo", json!({})).await.unwrap_err();
    assert!(said.contains("\"n\" is a required property"), "{said}");
    for record in desk.records() {
        assert_eq!(
            (&*record.decision, &*record.outcome),
            ("undecided", "invalid")
        );
    }
}

#[tokio::test]
async fn arguments_are_coerced_and_completed_before_the_guest_sees_them() {
    let desk = echo(
        "parameters.n.type = \"integer\"\nparameters.l.type = \"array\"\n\
         parameters.d = { type = \"string\", default = \"given\" }",
    );
    let sent = json!({"n": "7", "l": "[1,2]"});
    assert_eq!(
        reached(&desk, sent).await,
        json!({"n": 7, "l": [1, 2], "d": "given"})
    );
}

#[tokio::test]
async fn a_topic_of_the_host_cannot_be_sent_by_a_model() {
    let desk = Desk::new(KB).file("kb/a.md", "A").file("secret/s.md", "S");
    let forged = json!({"topic": "t", "_topic": {"id": "x", "disabled": [], "learned": []}});
    let said = desk.said("learn", forged).await.unwrap_err();
    assert!(said.contains("'_topic' was unexpected"), "{said}");
}

#[tokio::test]
async fn an_unknown_topic_lists_the_topics_there_are() {
    let desk = Desk::new(KB).file("kb/a.md", "A");
    let said = desk
        .said("learn", json!({"topic": "off"}))
        .await
        .unwrap_err();
    assert_eq!(
        said,
        "Unknown topic: \"off\". Available topics:\n- t (The Topic)"
    );
    assert!(
        desk.said("learn", json!({"topic": "the topic"}))
            .await
            .is_ok()
    );
    let long = "x".repeat(1_000_000);
    let said = desk
        .said("learn", json!({"topic": long}))
        .await
        .unwrap_err();
    assert!(said.len() < 300, "{}", said.len());
    let none = Desk::new("");
    let said = none.said("learn", json!({"topic": "t"})).await.unwrap_err();
    assert!(said.ends_with("There are no topics."), "{said}");
}

#[tokio::test]
async fn arguments_of_64_mib_arrive_whole() {
    let desk = echo("parameters.x.type = \"string\"");
    let big = "x".repeat(64 << 20);
    let said = desk.said("echo", json!({"x": big})).await.unwrap();
    assert_eq!(said, ((64 << 20) + r#"{"x":""}"#.len()).to_string());
}

#[tokio::test]
async fn what_is_wrong_with_huge_arguments_is_told_in_few_words() {
    let desk = echo("parameters.l = { type = \"array\", items = { type = \"string\" } }");
    let wrong = vec![Value::from(0); 1_000_000];
    let said = desk.said("echo", json!({"l": wrong})).await.unwrap_err();
    assert!(said.len() < 3000 && said.contains("at `/l/0`"), "{said}");
    assert!(said.contains("too large to list every problem"), "{said}");
    let key = "k".repeat(10 << 20);
    let said = desk.said("echo", json!({key: 1})).await.unwrap_err();
    assert!(said.len() < 3000, "{}", said.len());
}

#[tokio::test]
async fn arguments_10000_levels_deep_are_refused_before_anybody_follows_them() {
    let desk = echo("parameters.x = {}");
    for make in [
        |value: Value| Value::Array(vec![value]),
        |value: Value| json!({ "x": value }),
    ] {
        let mut deep = Value::Null;
        for _ in 0..10_000 {
            // `json!` would copy what it holds, by recursion.
            deep = match make(Value::Null) {
                Value::Array(mut items) => {
                    items[0] = deep;
                    Value::Array(items)
                }
                Value::Object(mut map) => {
                    map.insert("x".to_owned(), deep);
                    Value::Object(map)
                }
                other => other,
            };
        }
        let mut call = call(json!({}));
        call.arguments.insert("x".to_owned(), deep);
        let said = desk.make("echo", call).await.said();
        let expected = "Invalid arguments: nested more than 128 levels deep";
        assert_eq!(said, Err(expected.to_owned()));
    }
    assert!(
        desk.records()
            .iter()
            .all(|record| record.outcome == "invalid")
    );
    let mut near = Value::Null;
    for _ in 0..120 {
        near = Value::Array(vec![near]);
    }
    assert_eq!(
        reached(&desk, json!({"x": near.clone()})).await,
        json!({"x": near})
    );
}

//! Texts that are meant to break something come back as they went in.

use serde_json::{Value, json};

use crate::host::{Host, NOW};

const TEXTS: [&str; 10] = [
    "a\0b",
    "\0",
    "'); DROP TABLE todo_items; --",
    "\" OR \"\"=\"",
    "? ?1 :a @b $c",
    "line\nbreak\r\n{\"status\":\"ok\"}",
    "\u{1b}[31mred\u{7}\u{8}",
    "\u{202e}txet \u{feff}\u{2028}",
    "%_\\",
    "💥\u{10ffff}é",
];

#[test]
fn hostile_texts_come_back_as_they_went_in() {
    let host = Host::new();
    for text in TEXTS {
        let todo = host.ann(
            "todo.create",
            json!({ "title": text, "notes": text, "dependency_refs": [text] }),
        );
        assert_eq!(todo["item"]["title"], text);
        assert_eq!(todo["item"]["notes"], text);
        assert_eq!(todo["item"]["dependency_refs"], json!([text]));
        let task = host.ann(
            "tasks.schedule",
            json!({ "name": text, "prompt": text, "run_at": NOW }),
        );
        assert_eq!(
            (&task["task"]["name"], &task["task"]["prompt"]),
            (&text.into(), &text.into())
        );
        let reminder = json!({ "title": text, "due_at": NOW });
        let (once, twice) = (
            host.ann("reminders.create", reminder.clone()),
            host.ann("reminders.create", reminder),
        );
        assert_eq!(once["reminder"]["title"], text);
        assert_eq!(once, twice);
        let steps =
            json!([{ "title": text, "id": text, "description": text, "due_date": text, text: 1 }]);
        let plan = host.ann(
            "planning.create",
            json!({ "title": text, "goal": text, "steps": steps, "status": text }),
        );
        assert_eq!(plan["plan"]["goal"], text);
        assert_eq!(plan["plan"]["steps"][0]["description"], text);
    }
    let stored = host.each("todo.list", json!({ "limit": 1000 }), "items", "title");
    assert_eq!(stored.len(), 2 * TEXTS.len());
    assert_eq!(
        host.each(
            "reminders.list",
            json!({ "limit": 0 }),
            "reminders",
            "title"
        ),
        TEXTS
    );
}

#[test]
fn deep_and_odd_arguments_are_refused_and_nothing_breaks() {
    let host = Host::new();
    let mut deep = json!([]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    for name in [
        "todo.create",
        "todo.create_many",
        "todo.reorder",
        "planning.create",
        "planning.update",
        "reminders.create",
    ] {
        for field in ["title", "items", "ordered_ids", "steps", "id"] {
            let arguments = json!({ "title": "t", "goal": "g", "id": 1, field: deep });
            let error = host.call("ann", name, arguments).unwrap_err();
            assert_eq!(error.code.as_str(), "invalid_args", "{name} {field}");
        }
    }
    let steps = json!([{ "title": "t", "x": deep, "depends_on": [["a"]] }]);
    let plan = json!({ "title": "t", "goal": "g", "steps": steps });
    let error = host.call("ann", "planning.create", plan).unwrap_err();
    assert!(error.message.contains("steps[0].depends_on[0]"), "{error}");
    let fields: serde_json::Map<String, Value> = (0..1000)
        .map(|n| (format!("\n{n}"), json!(1)))
        .chain([("title".to_owned(), json!("t"))])
        .collect();
    let plan = host.ann(
        "planning.create",
        json!({ "title": "t", "goal": "g", "steps": [fields] }),
    );
    let ignored = plan["ignored_fields"].as_array().unwrap();
    assert_eq!(ignored.len(), 21);
    assert_eq!(
        (&ignored[0], &ignored[20]),
        (&json!("steps[0].\\n0"), &json!("and 980 more"))
    );
}

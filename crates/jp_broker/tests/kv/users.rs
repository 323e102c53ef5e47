//! Two users on one store: neither sees, changes or counts the other's rows.

use jp_broker::Code;
use serde_json::{Value, json};

use crate::host::{Host, NOW};

/// What one user keeps: a row of each kind, each with id 1.
fn fill(host: &Host, user: &str) {
    for (name, arguments) in [
        ("todo.create", json!({ "title": "mine" })),
        (
            "tasks.schedule",
            json!({ "name": "mine", "prompt": "p", "run_at": NOW + 9 }),
        ),
        (
            "wakeup.create",
            json!({ "name": "mine", "prompt": "p", "interval_minutes": 5 }),
        ),
        (
            "reminders.create",
            json!({ "title": "mine", "in_seconds": 9 }),
        ),
        (
            "planning.create",
            json!({ "title": "mine", "goal": "g", "steps": ["one"] }),
        ),
    ] {
        host.call(user, name, arguments).unwrap();
    }
}

fn lists(host: &Host, user: &str) -> Vec<Value> {
    let all = json!({ "status": "all" });
    ["todo.list", "tasks.list", "wakeup.list", "reminders.list"]
        .map(|name| host.call(user, name, all.clone()).unwrap())
        .into_iter()
        .chain([host.call(user, "planning.list", json!({})).unwrap()])
        .collect()
}

#[test]
fn no_verb_reaches_another_users_row() {
    let host = Host::new();
    fill(&host, "ann");
    // What is switched off or completed is a different row to a statement.
    for (name, arguments) in [
        (
            "tasks.schedule",
            json!({ "name": "off", "prompt": "p", "run_at": NOW + 9 }),
        ),
        ("tasks.disable", json!({ "id": 2 })),
        (
            "wakeup.create",
            json!({ "name": "off", "prompt": "p", "interval_minutes": 5 }),
        ),
        ("wakeup.disable", json!({ "id": 2 })),
    ] {
        host.ann(name, arguments);
    }
    let mut reached = Vec::new();
    for name in ["tasks.enable", "wakeup.enable"] {
        let found = host.call("eve", name, json!({ "id": 2 }));
        if found.is_ok() {
            reached.push(name);
        }
    }
    let before = lists(&host, "ann");
    // The verbs, what to add to `id`, and whether the answer is "no such id" or a plain no.
    for (name, more, field) in [
        ("todo.complete", json!({}), None),
        ("todo.reopen", json!({}), None),
        ("todo.delete", json!({}), Some("deleted")),
        ("todo.reorder", json!({ "ordered_ids": [1] }), None),
        ("tasks.enable", json!({}), None),
        ("tasks.disable", json!({}), None),
        ("tasks.delete", json!({}), Some("deleted")),
        ("wakeup.enable", json!({}), None),
        ("wakeup.disable", json!({}), None),
        ("wakeup.delete", json!({}), Some("deleted")),
        ("reminders.complete", json!({}), Some("completed")),
        ("reminders.delete", json!({}), Some("deleted")),
        (
            "reminders.snooze",
            json!({ "in_seconds": 1 }),
            Some("snoozed"),
        ),
        ("planning.get", json!({}), None),
        (
            "planning.update",
            json!({ "title": "stolen", "steps": ["x"] }),
            None,
        ),
        ("planning.delete", json!({}), Some("deleted")),
    ] {
        let mut arguments = more;
        arguments["user_id"] = "ann".into();
        if name != "todo.reorder" {
            arguments["id"] = 1.into();
        }
        let found = host.call("eve", name, arguments);
        let refused = match (found, field) {
            (Err(error), None) => error.code == Code::NotFound,
            (Ok(answer), Some(field)) => answer[field] == false,
            _ => false,
        };
        if !refused {
            reached.push(name);
        }
    }
    assert_eq!(reached, Vec::<&str>::new());
    for (name, arguments) in [
        ("todo.clear", json!({ "status": "all", "user_id": "ann" })),
        ("tasks.clear", json!({ "user_id": "ann" })),
        (
            "reminders.clear",
            json!({ "status": "all", "user_id": "ann" }),
        ),
        ("planning.clear", json!({ "user_id": "ann" })),
    ] {
        assert_eq!(
            host.call("eve", name, arguments).unwrap()["deleted"],
            0,
            "{name}"
        );
    }
    assert_eq!(lists(&host, "ann"), before);
    for list in lists(&host, "eve") {
        let rows = list.as_object().unwrap().values().find_map(Value::as_array);
        assert_eq!(rows.unwrap().len(), 0, "{list}");
    }
}

#[test]
fn the_same_things_of_two_users_stay_apart() {
    let host = Host::new();
    fill(&host, "ann");
    fill(&host, "bob");
    // Positions, and the reminder with the same title and time, are each user's own.
    let bobs = host.call("bob", "todo.list", json!({})).unwrap();
    assert_eq!(bobs["items"][0]["position"], 1);
    assert_eq!(bobs["items"][0]["user_id"], "bob");
    let bobs = host.call("bob", "reminders.list", json!({})).unwrap();
    assert_eq!(bobs["reminders"][0]["id"], 2);
    host.call("bob", "todo.clear", json!({ "status": "all" }))
        .unwrap();
    assert_eq!(
        host.each("todo.list", json!({}), "items", "title"),
        ["mine", "one"]
    );
}

#[test]
fn a_user_may_have_any_name() {
    let host = Host::new();
    let users = ["", "' OR 1=1 --", "%", "ann\0", "ann", "ANN", "ünï"];
    for user in users {
        host.call(
            user,
            "todo.create",
            json!({ "title": user.to_owned() + "!" }),
        )
        .unwrap();
    }
    for user in users {
        let found = host
            .call(user, "todo.list", json!({ "status": "all" }))
            .unwrap();
        let titles: Vec<&str> = found["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["title"].as_str().unwrap())
            .collect();
        assert_eq!(titles, [user.to_owned() + "!"]);
    }
}

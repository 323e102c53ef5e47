//! What the handlers of reminders answer when all is well, and how long lists are.

use serde_json::{Value, json};

use crate::{
    answers::check,
    host::{Host, NOW, assert_holds},
};

#[test]
fn reminders_say_when_in_any_of_three_ways() {
    for (given, due_at) in [
        (json!({ "due_at": NOW + 7 }), NOW + 7),
        (json!({ "due_at": (NOW + 7) * 1000 }), NOW + 7),
        (json!({ "due_at": 999_999_999_999_i64 }), -1),
        (json!({ "in_seconds": 5 }), NOW + 5),
        (
            json!({ "delay_seconds": 3, "in_seconds": 5, "due_at": 1 }),
            NOW + 3,
        ),
        (json!({ "in_seconds": 5, "due_at": 1 }), NOW + 5),
        (json!({ "in_seconds": 0 }), NOW),
        (json!({ "due_at": 0 }), 0),
    ] {
        let host = Host::new();
        let mut arguments = given.clone();
        arguments["title"] = "t".into();
        let found = host.call("ann", "reminders.create", arguments);
        match found {
            Ok(found) => assert_eq!(found["reminder"]["due_at"], due_at, "{given}"),
            Err(error) => assert_eq!((due_at, error.code.as_str()), (-1, "invalid_args")),
        }
    }
}

#[test]
fn reminders_are_made_listed_snoozed_completed_and_deleted() {
    let ids = |ids: &[i64]| -> Value { ids.iter().map(|id| json!({ "id": id })).collect() };
    check(&[
        (
            "reminders.create",
            json!({ "title": "t", "in_seconds": 60 }),
            json!({ "status": "ok", "reminder": {
            "id": 1, "title": "t", "due_at": NOW + 60, "created_at": NOW, "completed_at": null,
            "fired_at": null, "attempts": 0, "last_error": null, "parked_at": null } }),
        ),
        (
            "reminders.create",
            json!({ "title": "t", "in_seconds": 62 }),
            json!({ "reminder": { "id": 1, "due_at": NOW + 60 } }),
        ),
        (
            "reminders.create",
            json!({ "title": "t", "in_seconds": 63 }),
            json!({ "reminder": { "id": 2 } }),
        ),
        (
            "reminders.create",
            json!({ "title": "u", "in_seconds": 60 }),
            json!({ "reminder": { "id": 3 } }),
        ),
        (
            "reminders.list",
            json!({}),
            json!({ "reminders": ids(&[1, 3, 2]) }),
        ),
        (
            "reminders.complete",
            json!({ "id": 1 }),
            json!({ "status": "ok", "completed": true }),
        ),
        (
            "reminders.complete",
            json!({ "id": 9 }),
            json!({ "completed": false }),
        ),
        (
            "reminders.create",
            json!({ "title": "t", "in_seconds": 61 }),
            json!({ "reminder": { "id": 2 } }),
        ),
        (
            "reminders.list",
            json!({ "status": "completed" }),
            json!({ "reminders": ids(&[1]) }),
        ),
        (
            "reminders.list",
            json!({ "status": "all", "limit": 0 }),
            json!({ "reminders": ids(&[1, 3, 2]) }),
        ),
        (
            "reminders.snooze",
            json!({ "id": 3, "delay_seconds": 600 }),
            json!({ "status": "ok", "snoozed": true }),
        ),
        (
            "reminders.snooze",
            json!({ "id": 9, "delay_seconds": 600 }),
            json!({ "snoozed": false }),
        ),
        (
            "reminders.list",
            json!({}),
            json!({ "reminders": [{ "id": 2 }, { "id": 3, "due_at": NOW + 600 }] }),
        ),
        (
            "reminders.snooze",
            json!({ "id": 1, "due_at": NOW + 1 }),
            json!({ "snoozed": true }),
        ),
        (
            "reminders.list",
            json!({ "status": "open", "limit": 1 }),
            json!({ "reminders": ids(&[1]), "more": true }),
        ),
        (
            "reminders.delete",
            json!({ "id": 1 }),
            json!({ "deleted": true }),
        ),
        (
            "reminders.clear",
            json!({ "status": "all" }),
            json!({ "deleted": 2 }),
        ),
    ]);
}

#[test]
fn a_list_without_limit_is_cut_where_it_says_so() {
    let host = Host::new();
    for at in 0..3 {
        let items: Value = (0..400).map(|n| json!(format!("{at} {n}"))).collect();
        host.ann("todo.create_many", json!({ "items": items }));
    }
    let found = host.ann("todo.list", json!({ "limit": 1000 }));
    assert_eq!(found["items"].as_array().unwrap().len(), 1000);
    assert_holds(&found, &json!({ "more": true, "limit": 1000 }));
    // Notes of 64 KiB: an answer holds 4 MiB of them.
    let notes = "n".repeat(64 * 1024);
    for _ in 0..7 {
        let item = json!({ "title": "t", "notes": notes });
        host.call(
            "bob",
            "todo.create_many",
            json!({ "items": vec![item; 10] }),
        )
        .unwrap();
    }
    let found = host
        .call("bob", "todo.list", json!({ "limit": 1000 }))
        .unwrap();
    assert_holds(&found, &json!({ "more": true, "limit": 63 }));
}

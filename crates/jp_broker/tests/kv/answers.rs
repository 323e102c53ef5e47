//! What each handler answers when all is well.

use serde_json::{Value, json};

use crate::host::{Host, NOW, assert_holds};

/// Runs calls one after the other on one store, as ann, and compares what they answer.
#[track_caller]
pub(crate) fn check(calls: &[(&str, Value, Value)]) {
    let host = Host::new();
    for (name, arguments, expected) in calls {
        assert_holds(&host.ann(name, arguments.clone()), expected);
    }
}

#[test]
fn a_todo_has_all_its_fields_in_the_seeds_names() {
    let host = Host::new();
    let found = host.ann(
        "todo.create",
        json!({ "user_id": "eve", "title": "buy milk" }),
    );
    let expected = json!({ "status": "ok", "item": {
        "id": 1, "user_id": "ann", "title": "buy milk", "notes": null, "position": 1,
        "created_at": NOW, "updated_at": NOW, "completed_at": null, "t_shirt_size": "XS",
        "story_points": 1, "estimate_optimistic_minutes": 41, "estimate_likely_minutes": 75,
        "estimate_pessimistic_minutes": 138, "dependency_refs": [],
    }});
    assert_eq!(found, expected);
}

#[test]
fn todos_are_made_listed_completed_reopened_ordered_and_deleted() {
    let titles = |titles: &[&str]| -> Value {
        titles
            .iter()
            .map(|title| json!({ "title": title }))
            .collect()
    };
    let many = json!({ "items": ["b", { "title": "c", "notes": "n", "story_points": 5,
        "estimate_likely_minutes": 7, "dependency_refs": ["todo:1"] }] });
    check(&[
        (
            "todo.create",
            json!({ "title": "a", "action": "create" }),
            json!({ "item": { "id": 1, "position": 1 } }),
        ),
        (
            "todo.create_many",
            many,
            json!({ "status": "ok", "items": [
            { "id": 2, "position": 2 },
            { "id": 3, "position": 3, "t_shirt_size": "L", "story_points": 5,
              "estimate_likely_minutes": 7, "dependency_refs": ["todo:1"], "notes": "n" }] }),
        ),
        (
            "todo.list",
            json!({}),
            json!({ "status": "ok", "items": titles(&["a", "b", "c"]) }),
        ),
        (
            "todo.complete",
            json!({ "id": 2 }),
            json!({ "item": { "id": 2, "completed_at": NOW } }),
        ),
        (
            "todo.list",
            json!({ "status": "open" }),
            json!({ "items": titles(&["a", "c"]) }),
        ),
        (
            "todo.list",
            json!({ "status": "completed" }),
            json!({ "items": titles(&["b"]) }),
        ),
        (
            "todo.list",
            json!({ "status": "all", "limit": 2 }),
            json!({ "items": titles(&["a", "b"]), "more": true, "limit": 2 }),
        ),
        (
            "todo.reopen",
            json!({ "id": 2 }),
            json!({ "item": { "completed_at": null } }),
        ),
        (
            "todo.reorder",
            json!({ "ordered_ids": [3, 1] }),
            json!({ "status": "ok" }),
        ),
        (
            "todo.list",
            json!({}),
            json!({ "items": titles(&["c", "a", "b"]) }),
        ),
        (
            "todo.create",
            json!({ "title": "d" }),
            json!({ "item": { "position": 4 } }),
        ),
        (
            "todo.delete",
            json!({ "id": 3 }),
            json!({ "deleted": true }),
        ),
        (
            "todo.delete",
            json!({ "id": 3 }),
            json!({ "deleted": false }),
        ),
        (
            "todo.complete",
            json!({ "id": 1 }),
            json!({ "status": "ok" }),
        ),
        ("todo.clear", json!({}), json!({ "deleted": 2 })),
        (
            "todo.list",
            json!({ "status": "all" }),
            json!({ "items": titles(&["a"]) }),
        ),
        (
            "todo.clear",
            json!({ "status": "completed" }),
            json!({ "deleted": 1 }),
        ),
        (
            "todo.create",
            json!({ "title": "e" }),
            json!({ "item": { "id": 5, "position": 1 } }),
        ),
    ]);
}

#[test]
fn tasks_are_scheduled_listed_switched_and_deleted() {
    let later = NOW + 500;
    let task = json!({ "name": "n", "prompt": "p", "run_at": later, "interval_minutes": 15 });
    let past = json!({ "name": "past", "prompt": "p", "run_at": 5, "interval_minutes": 0 });
    check(&[
        (
            "tasks.schedule",
            task,
            json!({ "status": "ok", "task": {
            "id": 1, "user_id": "ann", "name": "n", "prompt": "p", "run_at": later,
            "interval_minutes": 15, "enabled": true, "created_at": NOW, "updated_at": NOW,
            "last_run_at": null, "next_run_at": later, "origin": "tool:tasks" } }),
        ),
        (
            "tasks.schedule",
            past,
            json!({ "task": {
            "id": 2, "run_at": 5, "interval_minutes": null, "next_run_at": NOW } }),
        ),
        (
            "tasks.list",
            json!({}),
            json!({ "tasks": [{ "id": 2 }, { "id": 1 }] }),
        ),
        (
            "tasks.disable",
            json!({ "id": 2 }),
            json!({ "task": { "id": 2, "enabled": false } }),
        ),
        (
            "tasks.list",
            json!({ "status": "enabled" }),
            json!({ "tasks": [{ "id": 1 }] }),
        ),
        (
            "tasks.list",
            json!({ "status": "disabled" }),
            json!({ "tasks": [{ "id": 2 }] }),
        ),
        (
            "tasks.enable",
            json!({ "id": 2 }),
            json!({ "task": { "enabled": true, "next_run_at": NOW } }),
        ),
        (
            "tasks.enable",
            json!({ "id": 1 }),
            json!({ "task": { "next_run_at": later } }),
        ),
        (
            "tasks.list",
            json!({ "limit": 1 }),
            json!({ "tasks": [{ "id": 2 }], "more": true }),
        ),
        (
            "tasks.delete",
            json!({ "id": 2 }),
            json!({ "status": "ok", "deleted": true }),
        ),
        (
            "tasks.delete",
            json!({ "id": 2 }),
            json!({ "deleted": false }),
        ),
        (
            "tasks.disable",
            json!({ "id": 1 }),
            json!({ "status": "ok" }),
        ),
        (
            "tasks.clear",
            json!({ "status": "enabled" }),
            json!({ "deleted": 0 }),
        ),
        ("tasks.clear", json!({}), json!({ "deleted": 1 })),
    ]);
}

#[test]
fn wakeups_are_made_listed_switched_and_deleted() {
    let wakeup = json!({ "name": "n", "prompt": "p", "interval_minutes": 5 });
    check(&[
        (
            "wakeup.create",
            wakeup,
            json!({ "status": "ok", "task": {
            "id": 1, "user_id": "ann", "name": "n", "prompt": "p", "interval_minutes": 5,
            "enabled": true, "created_at": NOW, "updated_at": NOW, "last_run_at": null,
            "next_run_at": NOW + 300, "origin": "tool:wakeup" } }),
        ),
        (
            "wakeup.list",
            json!({}),
            json!({ "status": "ok", "tasks": [{ "id": 1 }] }),
        ),
        (
            "wakeup.disable",
            json!({ "id": 1 }),
            json!({ "task": { "enabled": false } }),
        ),
        (
            "wakeup.list",
            json!({ "status": "enabled" }),
            json!({ "tasks": [] }),
        ),
        (
            "wakeup.enable",
            json!({ "id": 1 }),
            json!({ "task": { "enabled": true, "next_run_at": NOW + 300 } }),
        ),
        (
            "wakeup.delete",
            json!({ "id": 1 }),
            json!({ "status": "ok", "deleted": true }),
        ),
    ]);
}

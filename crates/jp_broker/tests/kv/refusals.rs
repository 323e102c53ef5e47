//! What each handler refuses, and how it says so.

use jp_broker::Code;
use serde_json::{Value, json};

use crate::host::Host;

/// Asserts that each call is refused with a code and with words that name what is wrong.
#[track_caller]
pub(crate) fn check(host: &Host, code: Code, calls: &[(&str, Value, &str)]) {
    for (name, arguments, words) in calls {
        let answer = host.call("ann", name, arguments.clone());
        let error = answer.err();
        let error = error.unwrap_or_else(|| panic!("{name} {arguments} was not refused"));
        assert_eq!(error.code, code, "{name} {arguments}: {error}");
        assert!(error.message.contains(words), "{name} {arguments}: {error}");
    }
}

#[test]
fn what_is_missing_unknown_or_of_another_type_is_named() {
    let calls = [
        ("todo.create", json!({}), "missing argument `title`"),
        ("todo.create", json!({ "title": 5 }), "`title`"),
        (
            "todo.create",
            json!({ "title": "t", "colour": "red" }),
            "colour",
        ),
        (
            "todo.create",
            json!({ "title": " \n" }),
            "for `title`: expected a text that is not empty",
        ),
        (
            "todo.create",
            json!({ "title": "t", "t_shirt_size": "XXL" }),
            "for `t_shirt_size`: expected one of XS",
        ),
        (
            "todo.create",
            json!({ "title": "t", "story_points": 0 }),
            "`story_points`",
        ),
        (
            "todo.create",
            json!({ "title": "t", "estimate_likely_minutes": -1 }),
            "`estimate_likely_minutes`",
        ),
        (
            "todo.create",
            json!({ "title": "t", "dependency_refs": [1.5] }),
            "`dependency_refs[0]`",
        ),
        ("todo.create_many", json!({}), "`items`"),
        ("todo.create_many", json!({ "items": "a" }), "`items`"),
        (
            "todo.create_many",
            json!({ "items": ["a", 5] }),
            "`items[1]`",
        ),
        (
            "todo.create_many",
            json!({ "items": ["a", { "title": "t", "colour": 1 }] }),
            "`items[1].colour`",
        ),
        (
            "todo.create_many",
            json!({ "items": [{ "title": "" }] }),
            "`items[0].title`",
        ),
        ("todo.list", json!({ "status": "done" }), "`status`"),
        ("todo.list", json!({ "limit": 0 }), "`limit`"),
        ("todo.list", json!({ "limit": -1 }), "`limit`"),
        ("todo.complete", json!({}), "`id`"),
        ("todo.reorder", json!({}), "`ordered_ids`"),
        (
            "todo.reorder",
            json!({ "ordered_ids": ["1"] }),
            "`ordered_ids[0]`",
        ),
        (
            "tasks.schedule",
            json!({ "name": "n", "prompt": "p" }),
            "`run_at`",
        ),
        (
            "tasks.schedule",
            json!({ "name": "n", "run_at": 1 }),
            "`prompt`",
        ),
        (
            "tasks.schedule",
            json!({ "prompt": "p", "run_at": 1 }),
            "`name`",
        ),
        ("tasks.list", json!({ "status": "open" }), "`status`"),
        ("tasks.list", json!({ "limit": 0 }), "`limit`"),
        ("tasks.clear", json!({ "status": "open" }), "`status`"),
        (
            "wakeup.create",
            json!({ "name": "n", "prompt": "p" }),
            "`interval_minutes`",
        ),
        (
            "wakeup.create",
            json!({ "name": "n", "prompt": "p", "interval_minutes": 0 }),
            "`interval_minutes`",
        ),
        ("wakeup.list", json!({ "limit": 0 }), "`limit`"),
        ("reminders.create", json!({ "due_at": 5 }), "`title`"),
        (
            "reminders.create",
            json!({ "title": "t", "due_at": "tomorrow" }),
            "`due_at`",
        ),
        ("reminders.list", json!({ "limit": -1 }), "`limit`"),
        (
            "reminders.snooze",
            json!({ "id": 1 }),
            "missing argument `due_at`, `delay_seconds` or `in_seconds`",
        ),
        ("reminders.clear", json!({ "status": "fired" }), "`status`"),
        ("planning.create", json!({ "title": "t" }), "`goal`"),
        ("planning.create", json!({ "goal": "g" }), "`title`"),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "steps": {} }),
            "`steps`",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "steps": [5] }),
            "`steps[0]`",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "steps": [{}] }),
            "`steps[0].title`",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "steps": [{ "title": "a", "owner": "bob" }] }),
            "`steps[0].owner`",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "steps": [{ "title": "a", "points": 1.5 }] }),
            "`steps[0].points`",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g", "status": "" }),
            "`status`",
        ),
        ("planning.list", json!({ "limit": 0 }), "`limit`"),
        ("planning.update", json!({ "title": "t" }), "`id`"),
        ("planning.update", json!({ "id": 1, "goal": " " }), "`goal`"),
        ("planning.clear", json!({ "all": true }), "all"),
    ];
    check(&Host::new(), Code::InvalidArgs, &calls);
}

#[test]
fn ids_that_are_not_there_are_not_found() {
    let id = json!({ "id": 7 });
    let calls: Vec<(&str, Value, &str)> = [
        "todo.complete",
        "todo.reopen",
        "tasks.enable",
        "tasks.disable",
        "wakeup.enable",
        "wakeup.disable",
        "planning.get",
        "planning.update",
    ]
    .map(|name| (name, id.clone(), "7"))
    .into();
    let host = Host::new();
    check(&host, Code::NotFound, &calls);
    host.ann("todo.create", json!({ "title": "a" }));
    let reorder = json!({ "ordered_ids": [1, 7] });
    check(&host, Code::NotFound, &[("todo.reorder", reorder, "7")]);
    let twice = json!({ "ordered_ids": [1, 1] });
    check(
        &host,
        Code::InvalidArgs,
        &[("todo.reorder", twice, "names 1 twice")],
    );
}

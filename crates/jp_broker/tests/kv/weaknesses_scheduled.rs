//! The weaknesses that concern what runs later, when nobody watches.

use jp_broker::{
    Code,
    due::{Due, Failed, Options},
    kv::Quotas,
};
use serde_json::json;

use crate::host::{Host, NOW, assert_holds};

#[test]
fn weakness_15_a_user_keeps_no_more_than_the_quota() {
    let quotas = Quotas {
        todos: 3,
        plans: 1,
        reminders: 2,
        tasks: 2,
        wakeups: 1,
        smallest_interval_minutes: 5,
    };
    let host = Host::with_quotas(quotas);
    let task = |n: i64| json!({ "name": format!("{n}"), "prompt": "p", "run_at": NOW });
    let wakeup = json!({ "name": "n", "prompt": "p", "interval_minutes": 5 });
    host.ann("todo.create_many", json!({ "items": ["a", "b"] }));
    host.ann("planning.create", json!({ "title": "t", "goal": "g" }));
    host.ann("reminders.create", json!({ "title": "a", "in_seconds": 9 }));
    host.ann("reminders.create", json!({ "title": "b", "in_seconds": 9 }));
    host.ann("tasks.schedule", task(1));
    host.ann("tasks.schedule", task(2));
    host.ann("wakeup.create", wakeup.clone());
    for (name, arguments, words) in [
        (
            "todo.create_many",
            json!({ "items": ["c", "d"] }),
            "may keep 3 todos",
        ),
        (
            "planning.update",
            json!({ "id": 1, "steps": ["c", "d"] }),
            "may keep 3 todos",
        ),
        (
            "planning.create",
            json!({ "title": "t", "goal": "g" }),
            "may keep 1 plans",
        ),
        (
            "reminders.create",
            json!({ "title": "c", "in_seconds": 9 }),
            "`clear` with status `completed`",
        ),
        ("tasks.schedule", task(3), "may keep 2 tasks"),
        ("wakeup.create", wakeup.clone(), "may keep 1 wakeups"),
    ] {
        let error = host.call("ann", name, arguments).unwrap_err();
        assert_eq!(
            (error.code, error.reason),
            (Code::Conflict, Some("quota")),
            "{name}"
        );
        assert!(error.message.contains(words), "{error}");
    }
    assert_eq!(
        host.each("todo.list", json!({}), "items", "title"),
        ["a", "b"]
    );
    assert_eq!(
        host.ann("planning.get", json!({ "id": 1 }))["plan"]["steps"],
        json!(null)
    );
    // The same reminder again is no new one, others have their own, and what is deleted makes room.
    host.ann("reminders.create", json!({ "title": "a", "in_seconds": 9 }));
    host.call("bob", "wakeup.create", wakeup.clone()).unwrap();
    host.ann("wakeup.delete", json!({ "id": 1 }));
    host.ann("wakeup.create", wakeup);
    host.ann("tasks.clear", json!({}));
    host.ann("tasks.schedule", task(3));
}

#[test]
fn weakness_15_nothing_runs_more_often_than_the_smallest_interval() {
    let host = Host::with_quotas(Quotas {
        smallest_interval_minutes: 5,
        ..Quotas::default()
    });
    for (name, arguments) in [
        (
            "wakeup.create",
            json!({ "name": "n", "prompt": "p", "interval_minutes": 4 }),
        ),
        (
            "tasks.schedule",
            json!({ "name": "n", "prompt": "p", "run_at": NOW, "interval_minutes": 4 }),
        ),
    ] {
        let error = host.call("ann", name, arguments).unwrap_err();
        assert!(
            error
                .message
                .contains("invalid `interval_minutes`: expected at least 5"),
            "{error}"
        );
    }
}

#[test]
fn weakness_15_a_prompt_keeps_the_name_of_the_tool_that_left_it() {
    let host = Host::new();
    host.ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p", "run_at": NOW }),
    );
    host.ann(
        "wakeup.create",
        json!({ "name": "n", "prompt": "p", "interval_minutes": 1 }),
    );
    assert_eq!(
        host.each("tasks.list", json!({}), "tasks", "origin"),
        ["tool:tasks"]
    );
    assert_eq!(
        host.each("wakeup.list", json!({}), "tasks", "origin"),
        ["tool:wakeup"]
    );
    let due = Due::new(host.store.clone().unwrap());
    let events = due.claim(NOW + 60, 10).unwrap();
    let origins: Vec<&str> = events.iter().map(|event| event.origin.as_str()).collect();
    assert_eq!(origins, ["tool:tasks", "tool:wakeup"]);
}

#[test]
fn weakness_16_what_cannot_be_delivered_is_tried_less_and_less_often_and_given_up() {
    let host = Host::new();
    host.ann("reminders.create", json!({ "title": "t", "due_at": NOW }));
    let options = Options {
        attempts: 5,
        first_pause: 10,
        longest_pause: 35,
        ..Options::default()
    };
    let due = Due::with_options(host.store.clone().unwrap(), options);
    let (mut now, mut pauses) = (NOW, Vec::new());
    loop {
        let event = due.claim(now, 10).unwrap().pop().unwrap();
        match due
            .fail(&event.id, "no screen\nto show it on", now)
            .unwrap()
        {
            Failed::Again { at } => {
                assert_eq!(due.claim(at - 1, 10).unwrap(), []);
                pauses.push(at - now);
                now = at;
            }
            other => {
                assert_eq!(other, Failed::Parked);
                break;
            }
        }
    }
    assert_eq!(pauses, [10, 20, 35, 35]);
    assert_eq!(due.claim(now + 1_000_000, 10).unwrap(), []);
    assert_eq!(due.next().unwrap(), None);
    let parked = json!({ "attempts": 5, "last_error": "no screen\u{fffd}to show it on",
        "parked_at": now, "completed_at": null, "fired_at": null });
    assert_holds(
        &host.ann("reminders.list", json!({}))["reminders"],
        &json!([parked]),
    );
    host.ann("reminders.snooze", json!({ "id": 1, "due_at": now + 9 }));
    assert_eq!(due.claim(now + 9, 10).unwrap().len(), 1);
}

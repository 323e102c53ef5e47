//! Numbers, texts and lists beyond what makes sense.

use jp_broker::Code;
use serde_json::{Value, json};

use crate::{host::Host, refusals::check};

fn with(base: &Value, field: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[field] = value;
    changed
}

#[test]
fn numbers_beyond_64_bits_and_fractions_are_refused_everywhere() {
    let numbers = [
        json!(1.0),
        json!(1.5),
        json!(u64::MAX),
        json!(1e30),
        json!("1"),
        json!([1]),
        json!(true),
    ];
    let plan = json!({ "title": "t", "goal": "g" });
    for number in numbers {
        let id = json!({ "id": number });
        let task = json!({ "name": "n", "prompt": "p", "run_at": 1, "interval_minutes": 1 });
        let wakeup = json!({ "name": "n", "prompt": "p", "interval_minutes": 1 });
        let mut calls: Vec<(&str, Value, &str)> = [
            "todo.complete",
            "todo.reopen",
            "todo.delete",
            "tasks.enable",
            "tasks.disable",
            "tasks.delete",
            "wakeup.enable",
            "wakeup.disable",
            "wakeup.delete",
            "reminders.complete",
            "reminders.delete",
            "reminders.snooze",
            "planning.get",
            "planning.update",
            "planning.delete",
        ]
        .map(|name| (name, id.clone(), "`id`"))
        .into();
        calls.extend(
            ["todo", "tasks", "wakeup", "reminders", "planning"].map(|family| {
                let name: &str = Box::leak(format!("{family}.list").into_boxed_str());
                (name, json!({ "limit": number }), "`limit`")
            }),
        );
        calls.extend([
            (
                "tasks.schedule",
                with(&task, "run_at", number.clone()),
                "`run_at`",
            ),
            (
                "tasks.schedule",
                with(&task, "interval_minutes", number.clone()),
                "`interval_minutes`",
            ),
            (
                "wakeup.create",
                with(&wakeup, "interval_minutes", number.clone()),
                "`interval_minutes`",
            ),
            (
                "reminders.create",
                json!({ "title": "t", "due_at": number }),
                "`due_at`",
            ),
            (
                "reminders.create",
                json!({ "title": "t", "in_seconds": number }),
                "`in_seconds`",
            ),
            (
                "todo.reorder",
                json!({ "ordered_ids": [number] }),
                "`ordered_ids[0]`",
            ),
        ]);
        check(&Host::new(), Code::InvalidArgs, &calls);
    }
    let far = i64::MAX;
    let calls = [
        (
            "reminders.create",
            json!({ "title": "t", "due_at": far }),
            "`due_at`",
        ),
        (
            "reminders.create",
            json!({ "title": "t", "delay_seconds": far }),
            "`delay_seconds`",
        ),
        (
            "reminders.snooze",
            json!({ "id": 1, "in_seconds": far }),
            "`in_seconds`",
        ),
        (
            "tasks.schedule",
            json!({ "name": "n", "prompt": "p", "run_at": far }),
            "seconds since 1970",
        ),
        (
            "tasks.schedule",
            json!({ "name": "n", "prompt": "p", "run_at": 1, "interval_minutes": far }),
            "`interval_minutes`",
        ),
        (
            "wakeup.create",
            json!({ "name": "n", "prompt": "p", "interval_minutes": far }),
            "`interval_minutes`",
        ),
        (
            "todo.create",
            json!({ "title": "t", "story_points": far }),
            "`story_points`",
        ),
        (
            "todo.create",
            json!({ "title": "t", "estimate_pessimistic_minutes": far }),
            "`estimate_pessimistic_minutes`",
        ),
        (
            "planning.create",
            with(
                &plan,
                "steps",
                json!([{ "title": "a", "estimate_likely_minutes": far }]),
            ),
            "steps[0]",
        ),
    ];
    check(&Host::new(), Code::InvalidArgs, &calls);
    let past = Host::new().ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p", "run_at": i64::MIN, "interval_minutes": i64::MIN }),
    );
    assert_eq!(past["task"]["run_at"], 0);
}

#[test]
fn texts_and_lists_are_bounded_and_the_bound_is_said() {
    let text = |bytes: usize| Value::from("x".repeat(bytes));
    let (title, long) = (1024, 64 * 1024);
    let task = json!({ "name": "n", "prompt": "p", "run_at": 1, "interval_minutes": 1 });
    let wakeup = json!({ "name": "n", "prompt": "p", "interval_minutes": 1 });
    let plan = json!({ "title": "t", "goal": "g" });
    let todo = json!({ "title": "t" });
    for (name, base, field, most) in [
        ("todo.create", &todo, "title", title),
        ("todo.create", &todo, "notes", long),
        ("tasks.schedule", &task, "name", title),
        ("tasks.schedule", &task, "prompt", long),
        ("wakeup.create", &wakeup, "name", title),
        ("wakeup.create", &wakeup, "prompt", long),
        ("reminders.create", &todo, "title", title),
        ("planning.create", &plan, "title", title),
        ("planning.create", &plan, "goal", long),
        ("planning.create", &plan, "status", 256),
    ] {
        let host = Host::new();
        host.ann(name, with(base, field, text(most)));
        let words = format!("`{field}` takes {} bytes; {most} are the most", most + 1);
        check(
            &host,
            Code::InvalidArgs,
            &[(name, with(base, field, text(most + 1)), &words)],
        );
    }
    let host = Host::new();
    let items = |n: usize| json!({ "items": vec!["a"; n] });
    let steps = |n: usize| json!({ "title": "t", "goal": "g", "steps": vec!["a"; n] });
    host.ann("todo.create_many", items(500));
    host.ann("planning.create", steps(500));
    check(
        &host,
        Code::InvalidArgs,
        &[
            (
                "todo.create_many",
                items(501),
                "`items` has 501 entries; 500 are the most",
            ),
            ("planning.create", steps(501), "`steps` has 501 entries"),
            (
                "planning.create",
                json!({ "title": "t", "goal": "g", "steps": [text(1025)] }),
                "`steps[0]`",
            ),
            (
                "todo.create",
                json!({ "title": "t", "dependency_refs": vec!["a"; 65] }),
                "`dependency_refs`",
            ),
        ],
    );
}

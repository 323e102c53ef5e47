//! Numbers, texts and lists beyond what makes sense.

use jp_broker::Code;
use serde_json::{Value, json};

use crate::{
    host::{Host, NOW},
    refusals::check,
};

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
}

#[test]
fn a_reminder_without_a_time_is_refused() {
    let host = Host::new();
    let words = "missing argument `due_at`, `delay_seconds` or `in_seconds`";
    let nulls = json!({ "title": "t", "due_at": null, "delay_seconds": null });
    let calls = [
        ("reminders.create", json!({ "title": "t" }), words),
        ("reminders.create", nulls, words),
        ("reminders.snooze", json!({ "id": 1 }), words),
    ];
    check(&host, Code::InvalidArgs, &calls);
    let kept = host.ann("reminders.list", json!({ "status": "all" }));
    assert_eq!(kept["reminders"], json!([]));
}

#[test]
fn a_number_out_of_range_is_refused_with_the_range_and_never_changed() {
    let year_9999 = 253_402_300_799_i64;
    let time = "expected 0 to 253402300799, in seconds since 1970";
    let delay = "seconds`: expected 0 to 253402300799";
    let minutes = "for `interval_minutes`: expected 0 to 5256000";
    let task = json!({ "name": "n", "prompt": "p", "run_at": 1, "interval_minutes": 1 });
    let step = |step: Value| json!({ "title": "t", "goal": "g", "steps": [step] });
    for past in [-1, i64::MIN] {
        let reminder = |field: &str| with(&json!({ "title": "t" }), field, past.into());
        let snooze = |field: &str| with(&json!({ "id": 1 }), field, past.into());
        let calls = [
            ("reminders.create", reminder("due_at"), time),
            ("reminders.create", reminder("delay_seconds"), delay),
            ("reminders.create", reminder("in_seconds"), delay),
            ("reminders.snooze", snooze("due_at"), time),
            ("reminders.snooze", snooze("delay_seconds"), delay),
            ("tasks.schedule", with(&task, "run_at", past.into()), time),
            (
                "tasks.schedule",
                with(&task, "interval_minutes", past.into()),
                minutes,
            ),
            (
                "planning.create",
                step(json!({ "title": "a", "due_at": past })),
                time,
            ),
        ];
        check(&Host::new(), Code::InvalidArgs, &calls);
    }
    for family in ["todo", "tasks", "wakeup", "reminders", "planning"] {
        let list = format!("{family}.list");
        let words = match family {
            "reminders" => "for `limit`: expected 0 to 1000",
            _ => "for `limit`: expected 1 to 1000",
        };
        let calls = [-1, 1001, i64::MAX].map(|limit| json!({ "limit": limit }));
        let calls = calls.map(|call| (list.as_str(), call, words));
        check(&Host::new(), Code::InvalidArgs, &calls);
    }
    let longest = year_9999 - NOW;
    let too_late = format!("expected 0 to {longest} seconds from now");
    let calls = [
        (
            "reminders.create",
            json!({ "title": "t", "in_seconds": longest + 1 }),
            too_late.as_str(),
        ),
        (
            "planning.create",
            step(json!({ "title": "a", "due_at": u64::MAX })),
            "expected a whole number or a string",
        ),
        (
            "planning.create",
            step(json!({ "title": "a", "due_at": year_9999 * 1000 + 1000 })),
            time,
        ),
    ];
    check(&Host::new(), Code::InvalidArgs, &calls);
}

#[test]
fn texts_and_lists_are_bounded_and_the_bound_is_said() {
    let text = |bytes: usize| Value::from("x".repeat(bytes));
    let (title, long) = (1024, 64 * 1024);
    let task = json!({ "name": "n", "prompt": "p", "run_at": 1, "interval_minutes": 1 });
    let wakeup = json!({ "name": "n", "prompt": "p", "interval_minutes": 1 });
    let plan = json!({ "title": "t", "goal": "g" });
    let todo = json!({ "title": "t" });
    let reminder = json!({ "title": "t", "in_seconds": 1 });
    for (name, base, field, most) in [
        ("todo.create", &todo, "title", title),
        ("todo.create", &todo, "notes", long),
        ("tasks.schedule", &task, "name", title),
        ("tasks.schedule", &task, "prompt", long),
        ("wakeup.create", &wakeup, "name", title),
        ("wakeup.create", &wakeup, "prompt", long),
        ("reminders.create", &reminder, "title", title),
        ("planning.create", &plan, "title", title),
        ("planning.create", &plan, "goal", long),
        ("planning.create", &plan, "status", 256),
    ] {
        let host = Host::new();
        host.ann(name, with(base, field, text(most)));
        let found = most + 1;
        let words =
            format!("invalid value for `{field}`: expected at most {most} bytes, found {found}");
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
                "for `items`: expected at most 500 entries, found 501",
            ),
            (
                "planning.create",
                steps(501),
                "for `steps`: expected at most 500 entries, found 501",
            ),
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

//! Weaknesses of the program whose calls these are, which this one must not have: one test for each
//! number of the list in the requirements.

use jp_broker::Code;
use serde_json::{Value, json};

use crate::host::{Host, assert_holds};

#[test]
fn weakness_6_the_user_comes_from_the_host_and_not_from_the_arguments() {
    let host = Host::new();
    for user_id in [json!("bob"), json!(5), json!(null), json!({ "a": [] })] {
        let made = host.ann("todo.create", json!({ "title": "t", "user_id": user_id }));
        assert_eq!(made["item"]["user_id"], "ann");
    }
    assert_eq!(
        host.call("bob", "todo.list", json!({})).unwrap()["items"],
        json!([])
    );
    let stolen = host.call("bob", "todo.complete", json!({ "id": 1, "user_id": "ann" }));
    assert_eq!(stolen.unwrap_err().code, Code::NotFound);
}

#[test]
fn weakness_13_plans_without_steps_are_made_and_changed() {
    let host = Host::new();
    for steps in [json!({}), json!({ "steps": null })] {
        let mut plan = json!({ "title": "t", "goal": "g" });
        plan.as_object_mut()
            .unwrap()
            .extend(steps.as_object().unwrap().clone());
        let id = host.ann("planning.create", plan)["plan"]["id"].clone();
        let mut change = json!({ "id": id, "title": "u" });
        change
            .as_object_mut()
            .unwrap()
            .extend(steps.as_object().unwrap().clone());
        assert_eq!(host.ann("planning.update", change)["plan"]["title"], "u");
    }
}

#[test]
fn weakness_13_sizes_and_dependencies_of_a_todo_are_kept() {
    let said = json!({ "title": "t", "t_shirt_size": "L", "story_points": 4,
        "estimate_optimistic_minutes": 1, "estimate_likely_minutes": 2,
        "estimate_pessimistic_minutes": 3, "dependency_refs": ["todo:9"] });
    let host = Host::new();
    assert_holds(&host.ann("todo.create", said.clone())["item"], &said);
    let many = host.ann("todo.create_many", json!({ "items": [said.clone()] }));
    assert_holds(&many["items"][0], &said);
}

#[test]
fn weakness_13_clearing_completed_reminders_leaves_the_open_ones() {
    let host = Host::new();
    for n in 0..3 {
        let reminder = json!({ "title": format!("{n}"), "in_seconds": 9 });
        host.ann("reminders.create", reminder);
    }
    host.ann("reminders.complete", json!({ "id": 2 }));
    assert_eq!(
        host.ann("reminders.clear", json!({ "status": "completed" }))["deleted"],
        1
    );
    assert_eq!(
        host.each(
            "reminders.list",
            json!({ "status": "all" }),
            "reminders",
            "id"
        ),
        [1, 3]
    );
    host.ann("reminders.complete", json!({ "id": 1 }));
    assert_eq!(host.ann("reminders.clear", json!({}))["deleted"], 1);
    assert_eq!(
        host.each(
            "reminders.list",
            json!({ "status": "all" }),
            "reminders",
            "id"
        ),
        [1]
    );
}

#[test]
fn weakness_13_ids_keep_all_their_bits() {
    let host = Host::new();
    host.ann("todo.create", json!({ "title": "t" }));
    // Cut to 32 bits each of these would be 1.
    for id in [1_i64 + (1 << 32), 1 - (1 << 32), i64::MIN + 1] {
        assert_eq!(
            host.ann("todo.delete", json!({ "id": id }))["deleted"],
            false
        );
        let found = host.call("ann", "todo.complete", json!({ "id": id }));
        assert_eq!(found.unwrap_err().code, Code::NotFound);
    }
    let connection = rusqlite::Connection::open(&host.path).unwrap();
    let far = "UPDATE sqlite_sequence SET seq = 4294967300 WHERE name = 'todo_items'";
    connection.execute(far, []).unwrap();
    let made = host.ann("todo.create", json!({ "title": "far" }));
    assert_eq!(made["item"]["id"], 4_294_967_301_i64);
    let done = host.ann("todo.complete", json!({ "id": 4_294_967_301_i64 }));
    assert_eq!(done["item"]["title"], "far");
}

#[test]
fn weakness_13_a_huge_limit_is_refused_and_never_none() {
    let host = Host::new();
    for at in 0..3 {
        let items: Value = (0..400).map(|n| json!(format!("{at} {n}"))).collect();
        host.ann("todo.create_many", json!({ "items": items }));
    }
    let found = host.ann("todo.list", json!({ "limit": 1000 }));
    assert_eq!(found["items"].as_array().unwrap().len(), 1000);
    assert_eq!(found["more"], true);
    for limit in [1001, 1 << 31, 1 << 32, i64::MAX] {
        let error = host.call("ann", "todo.list", json!({ "limit": limit }));
        let message = error.unwrap_err().message;
        assert!(message.contains("expected 1 to 1000"), "{message}");
    }
}

#[test]
fn weakness_13_what_was_inserted_is_what_is_answered() {
    let host = Host::new();
    let (host, ids) = (&host, std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let ids = &ids;
            scope.spawn(move || {
                for n in 0..50 {
                    let title = format!("{thread} {n}");
                    let made = host.ann("todo.create", json!({ "title": title }));
                    assert_eq!(made["item"]["title"], title);
                    ids.lock()
                        .unwrap()
                        .push(made["item"]["id"].as_i64().unwrap());
                }
            });
        }
    });
    let mut ids = ids.into_inner().unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (1..=400).collect::<Vec<_>>());
    let positions = host.each("todo.list", json!({ "limit": 1000 }), "items", "position");
    assert_eq!(positions, (1..=400).map(Value::from).collect::<Vec<_>>());
}

#[test]
fn weakness_13_many_are_made_and_ordered_all_or_none() {
    let host = Host::new();
    let items = json!({ "items": ["a", "b", { "title": "c", "story_points": 0 }] });
    host.call("ann", "todo.create_many", items).unwrap_err();
    assert_eq!(host.ann("todo.list", json!({}))["items"], json!([]));
    host.ann("todo.create_many", json!({ "items": ["a", "b", "c"] }));
    host.call("ann", "todo.reorder", json!({ "ordered_ids": [3, 2, 99] }))
        .unwrap_err();
    assert_eq!(
        host.each("todo.list", json!({}), "items", "title"),
        ["a", "b", "c"]
    );
}

#[test]
fn weakness_13_a_deleted_plan_leaves_no_dependencies() {
    let host = Host::new();
    let count = || -> i64 {
        let connection = rusqlite::Connection::open(&host.path).unwrap();
        let sql = "SELECT count(*) FROM plan_step_dependencies";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let plan =
        json!({ "title": "t", "goal": "g", "steps": ["a", { "title": "b", "depends_on": "a" }] });
    for _ in 0..3 {
        host.ann("planning.create", plan.clone());
    }
    assert_eq!(count(), 3);
    host.ann("planning.delete", json!({ "id": 2 }));
    assert_eq!(count(), 2);
    host.ann("planning.clear", json!({}));
    assert_eq!(count(), 0);
}

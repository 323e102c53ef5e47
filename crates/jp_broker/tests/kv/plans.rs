//! Plans: steps as models write them, their to-dos and what they wait for.

use serde_json::{Value, json};

use crate::host::{Host, NOW, assert_holds};

fn dependencies(host: &Host) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(&host.path).unwrap();
    let sql = "SELECT step_ref, depends_on_ref FROM plan_step_dependencies ORDER BY id";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn pair(step: &str, on: &str) -> (String, String) {
    (format!("plan_step:1:{step}"), on.to_owned())
}

#[test]
fn a_plan_is_made_read_changed_and_deleted() {
    let host = Host::new();
    let made = host.ann("planning.create", json!({ "title": "t", "goal": "g" }));
    let plan = json!({ "id": 1, "user_id": "ann", "title": "t", "goal": "g", "steps": null,
        "status": "draft", "created_at": NOW, "updated_at": NOW });
    assert_eq!(
        made,
        json!({ "status": "ok", "plan": plan, "todo_items_created": 0 })
    );
    assert_eq!(host.ann("planning.get", json!({ "id": 1 }))["plan"], plan);
    host.set_clock(NOW + 5);
    let changed = host.ann(
        "planning.update",
        json!({ "id": 1, "status": "active", "steps": null }),
    );
    assert_holds(
        &changed,
        &json!({ "plan": { "title": "t", "status": "active", "steps": null,
        "created_at": NOW, "updated_at": NOW + 5 }, "todo_items_created": 0 }),
    );
    host.ann(
        "planning.create",
        json!({ "title": "u", "goal": "g", "steps": [] }),
    );
    assert_eq!(
        host.each("planning.list", json!({}), "plans", "title"),
        ["u", "t"]
    );
    let cut = host.ann("planning.list", json!({ "limit": 1 }));
    assert_holds(
        &cut,
        &json!({ "plans": [{ "title": "u", "steps": [] }], "more": true }),
    );
    assert_eq!(
        host.ann("planning.delete", json!({ "id": 1 }))["deleted"],
        true
    );
    assert_eq!(host.ann("planning.clear", json!({}))["deleted"], 1);
}

#[test]
fn steps_are_kept_in_one_form_and_become_todos() {
    let host = Host::new();
    let steps = json!([
        " first ",
        { "description": "second, in words", "id": "two", "owner": "AI", "priority": "P0",
          "deadline": "friday", "size": "xl", "story_points": 3, "due_at": 5 },
        { "name": "third", "step": "x", "mood": "good", "depends_on": null },
    ]);
    let made = host.ann(
        "planning.create",
        json!({ "title": "t", "goal": "g", "steps": steps }),
    );
    assert_eq!(
        made["plan"]["steps"],
        json!([
            { "title": "first", "owner": "human", "priority": "normal" },
            { "title": "second, in words", "owner": "agent", "priority": "urgent",
              "description": "second, in words", "id": "two", "due_date": "friday",
              "t_shirt_size": "XL", "story_points": 3, "due_at": 5 },
            { "title": "third", "owner": "human", "priority": "normal" },
        ])
    );
    assert_holds(
        &made,
        &json!({ "todo_items_created": 3, "ignored_fields": ["steps[2].mood"] }),
    );
    let todos = host.ann("todo.list", json!({}));
    assert_holds(
        &todos["items"],
        &json!([
            { "title": "first", "notes": "PlanStepRef: plan_step:1:0 | Owner: human | Priority: normal",
              "t_shirt_size": "XS", "position": 1 },
            { "title": "second, in words", "t_shirt_size": "XL", "story_points": 3, "notes":
              "PlanStepRef: plan_step:1:1 | Owner: agent | Priority: urgent | Due Date: friday | Due At: 5" },
            { "title": "third", "position": 3 },
        ]),
    );
}

#[test]
fn references_are_numbers_ids_titles_or_beginnings_of_them() {
    let host = Host::new();
    let steps = json!([
        { "title": "Set up: the database!", "id": "DB" },
        { "title": "write the api", "dependency_refs": ["db", 0, "0"] },
        { "title": "write the docs", "depends_on": "set up the database" },
        { "title": "ship", "dependency_refs": ["plan_step:1:1", "Set up", "todo:77", "plan_step:9:1",
            "write", "99", "nowhere", "-1", "plan_step:1:7"] },
    ]);
    let made = host.ann(
        "planning.create",
        json!({ "title": "t", "goal": "g", "steps": steps }),
    );
    assert_eq!(
        made["unresolved_dependencies"],
        json!([
            "steps[3]: write",
            "steps[3]: 99",
            "steps[3]: nowhere",
            "steps[3]: -1",
            "steps[3]: plan_step:1:7"
        ])
    );
    let expected = [
        pair("1", "plan_step:1:0"),
        pair("2", "plan_step:1:0"),
        pair("3", "plan_step:1:0"),
        pair("3", "plan_step:1:1"),
        pair("3", "plan_step:9:1"),
        pair("3", "todo:77"),
    ];
    assert_eq!(dependencies(&host), expected);
    let references = host.each("todo.list", json!({}), "items", "dependency_refs");
    assert_eq!(references[1], json!(["plan_step:1:0"]));
}

#[test]
fn new_steps_replace_dependencies_and_add_only_missing_todos() {
    let host = Host::new();
    let steps = json!(["a", { "title": "b", "depends_on": "a" }]);
    host.ann(
        "planning.create",
        json!({ "title": "t", "goal": "g", "steps": steps }),
    );
    let steps = json!(["a", "b", { "title": "c", "depends_on": ["a", "b"] }]);
    let changed = host.ann("planning.update", json!({ "id": 1, "steps": steps }));
    assert_eq!(changed["todo_items_created"], 1);
    assert_eq!(
        host.each("todo.list", json!({}), "items", "title"),
        ["a", "b", "c"]
    );
    let expected = [pair("2", "plan_step:1:0"), pair("2", "plan_step:1:1")];
    assert_eq!(dependencies(&host), expected);
    // A step whose to-do was deleted gets one again; a to-do that only looks like one is none.
    host.ann("todo.clear", json!({ "status": "all" }));
    host.ann(
        "todo.create",
        json!({ "title": "x", "notes": "PlanStepRef: plan_step:1:0" }),
    );
    let changed = host.ann("planning.update", json!({ "id": 1, "steps": ["a"] }));
    assert_eq!(changed["todo_items_created"], 1);
}

#[test]
fn steps_that_could_never_start_are_refused_and_nothing_is_kept() {
    let host = Host::new();
    let circle = json!([{ "title": "a", "depends_on": "c" }, { "title": "b", "depends_on": "a" },
        { "title": "c", "depends_on": "b" }]);
    let itself = json!([{ "title": "a", "depends_on": 0 }]);
    for (steps, words) in [(circle, "circle"), (itself, "itself")] {
        let plan = json!({ "title": "t", "goal": "g", "steps": steps });
        let error = host.call("ann", "planning.create", plan).unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_args");
        assert!(
            error.message.contains("steps[0].dependency_refs"),
            "{error}"
        );
        assert!(error.message.contains(words), "{error}");
    }
    assert_eq!(host.ann("planning.list", json!({}))["plans"], json!([]));
    assert_eq!(host.ann("todo.list", json!({}))["items"], json!([]));
}

#[test]
fn many_steps_with_many_references_are_resolved_in_no_time() {
    let host = Host::new();
    let steps: Value = (0..500)
        .map(|at: usize| {
            let on: Vec<String> = (at.saturating_sub(64)..at)
                .map(|n| format!("step number {n} "))
                .collect();
            json!({ "title": format!("step number {at}"), "depends_on": on })
        })
        .collect();
    let made = host.ann(
        "planning.create",
        json!({ "title": "t", "goal": "g", "steps": steps }),
    );
    assert_eq!(made["todo_items_created"], 500);
    assert_eq!(made.get("unresolved_dependencies"), None);
}

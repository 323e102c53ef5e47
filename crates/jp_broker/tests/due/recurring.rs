//! What recurs: one run at a time, and none made up for.

use std::sync::Arc;

use jp_broker::due::Due;
use serde_json::{Value, json};

use crate::host::{Host, NOW, assert_holds};

fn run(due: &Due, now: i64) -> Vec<String> {
    let events = due.claim(now, 10).unwrap();
    let ids: Vec<String> = events.into_iter().map(|event| event.id).collect();
    assert_eq!(due.ack(&ids, now).unwrap(), ids.len());
    ids
}

#[test]
fn missed_runs_are_not_made_up_for() {
    let host = Host::new();
    host.ann(
        "wakeup.create",
        json!({ "name": "w", "prompt": "p", "interval_minutes": 10 }),
    );
    let due = Due::new(Arc::clone(host.store.as_ref().unwrap()));
    let first = NOW + 600;
    assert_eq!(run(&due, first), [format!("wakeup:1:{first}")]);
    assert_eq!(due.next().unwrap(), Some(first + 600));
    // A day later: one run for the first that was missed, and the next in its old rhythm.
    let later = first + 86_400 + 5;
    assert_eq!(run(&due, later), [format!("wakeup:1:{}", first + 600)]);
    assert_eq!(run(&due, later), Vec::<String>::new());
    assert_eq!(due.next().unwrap(), Some(first + 86_400 + 600));
    let expected =
        json!([{ "last_run_at": later, "next_run_at": first + 86_400 + 600, "enabled": true }]);
    assert_holds(&host.ann("wakeup.list", json!({}))["tasks"], &expected);
}

#[test]
fn a_task_runs_once_or_at_its_interval() {
    let host = Host::new();
    host.ann(
        "tasks.schedule",
        json!({ "name": "once", "prompt": "p", "run_at": NOW }),
    );
    host.ann(
        "tasks.schedule",
        json!({ "name": "often", "prompt": "p", "run_at": NOW, "interval_minutes": 1 }),
    );
    let due = Due::new(Arc::clone(host.store.as_ref().unwrap()));
    assert_eq!(
        run(&due, NOW),
        [format!("task:1:{NOW}"), format!("task:2:{NOW}")]
    );
    assert_eq!(run(&due, NOW + 60), [format!("task:2:{}", NOW + 60)]);
    let rows = host.ann("tasks.list", json!({}));
    let expected: Value = json!([
        { "id": 1, "enabled": false, "last_run_at": NOW, "next_run_at": NOW },
        { "id": 2, "enabled": true, "last_run_at": NOW + 60, "next_run_at": NOW + 120 },
    ]);
    assert_holds(&rows["tasks"], &expected);
    // Switched on again, what has run is another run with another id.
    host.ann("tasks.enable", json!({ "id": 1 }));
    assert_eq!(run(&due, NOW + 61), [format!("task:1:{}", NOW + 1)]);
}

#[test]
fn what_was_switched_off_while_it_ran_stays_off() {
    let host = Host::new();
    host.ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p", "run_at": NOW, "interval_minutes": 1 }),
    );
    let due = Due::new(Arc::clone(host.store.as_ref().unwrap()));
    let events = due.claim(NOW, 10).unwrap();
    host.ann("tasks.disable", json!({ "id": 1 }));
    assert_eq!(due.ack(&[&events[0].id], NOW + 5).unwrap(), 1);
    let expected = json!([{ "enabled": false, "last_run_at": NOW + 5, "next_run_at": NOW + 60 }]);
    assert_holds(&host.ann("tasks.list", json!({}))["tasks"], &expected);
    assert_eq!(due.next().unwrap(), None);
}

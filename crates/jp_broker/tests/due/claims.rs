//! Claims: who gets an event, for how long, and what comes after.

use std::{collections::BTreeSet, sync::Arc};

use jp_broker::{
    due::{Due, DueEvent, Failed, Kind, Options},
    kv::Store,
};
use serde_json::json;

use crate::host::{Host, NOW, assert_holds};

fn claimer(host: &Host) -> Due {
    Due::new(Arc::clone(host.store.as_ref().unwrap()))
}

fn ids(events: &[DueEvent]) -> Vec<&str> {
    events.iter().map(|event| event.id.as_str()).collect()
}

#[test]
fn an_event_says_what_is_due_in_one_line() {
    let host = Host::new();
    host.ann(
        "reminders.create",
        json!({ "title": "stand\nup", "due_at": NOW + 1 }),
    );
    host.ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p\r\nq", "run_at": NOW + 2 }),
    );
    let events = claimer(&host).claim(NOW + 5, 10).unwrap();
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let due = [NOW + 1, NOW + 2];
    assert_eq!(
        lines[0],
        format!(
            r#"{{"id":"reminder:1:{0}","kind":"reminder","user":"ann","title":"stand\nup","due_at":{0},"attempt":1,"redelivered":false,"origin":"tool:reminders"}}"#,
            due[0]
        )
    );
    assert_eq!(
        lines[1],
        format!(
            r#"{{"id":"task:1:{0}","kind":"task","user":"ann","title":"n","prompt":"p\r\nq","due_at":{0},"attempt":1,"redelivered":false,"origin":"tool:tasks"}}"#,
            due[1]
        )
    );
}

#[test]
fn what_is_not_due_is_not_handed_out_and_the_longest_waiting_comes_first() {
    let host = Host::new();
    host.ann(
        "reminders.create",
        json!({ "title": "c", "due_at": NOW + 30 }),
    );
    host.ann(
        "tasks.schedule",
        json!({ "name": "b", "prompt": "p", "run_at": NOW + 20 }),
    );
    host.ann(
        "reminders.create",
        json!({ "title": "a", "due_at": NOW + 10 }),
    );
    host.ann(
        "wakeup.create",
        json!({ "name": "d", "prompt": "p", "interval_minutes": 1 }),
    );
    let due = claimer(&host);
    assert_eq!(due.next().unwrap(), Some(NOW + 10));
    assert_eq!(due.claim(NOW + 9, 10).unwrap(), []);
    let first = due.claim(NOW + 60, 2).unwrap();
    let rest = due.claim(NOW + 60, 10).unwrap();
    let titles: Vec<&str> = first
        .iter()
        .chain(&rest)
        .map(|event| event.title.as_str())
        .collect();
    assert_eq!(titles, ["a", "b", "c", "d"]);
    let kinds: Vec<Kind> = rest.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Reminder, Kind::Wakeup]);
    assert_eq!(due.claim(NOW + 60, 10).unwrap(), []);
}

#[test]
fn an_acknowledged_reminder_has_fired_and_is_completed() {
    let host = Host::new();
    host.ann("reminders.create", json!({ "title": "a", "due_at": NOW }));
    let due = claimer(&host);
    let events = due.claim(NOW + 1, 10).unwrap();
    assert_eq!(due.ack(&ids(&events), NOW + 2).unwrap(), 1);
    assert_eq!(due.ack(&ids(&events), NOW + 3).unwrap(), 0);
    assert_eq!(due.claim(NOW + 100_000, 10).unwrap(), []);
    let expected = json!([{ "fired_at": NOW + 2, "completed_at": NOW + 2, "attempts": 0 }]);
    assert_holds(
        &host.ann("reminders.list", json!({ "status": "completed" }))["reminders"],
        &expected,
    );
    // Put off after it fired it comes again, as another event, even for the same time.
    host.ann("reminders.snooze", json!({ "id": 1, "due_at": NOW }));
    let again = due.claim(NOW + 100_000, 10).unwrap();
    assert_eq!(ids(&again), [format!("reminder:1:{}", NOW + 1)]);
    assert!(!again[0].redelivered);
}

#[test]
fn a_claim_that_ran_out_is_handed_out_again_with_the_same_id_and_marked() {
    let host = Host::new();
    host.ann("reminders.create", json!({ "title": "a", "due_at": NOW }));
    let (dead, alive) = (claimer(&host), claimer(&host));
    let first = dead.claim(NOW, 10).unwrap();
    assert_eq!(alive.claim(NOW + 59, 10).unwrap(), []);
    let second = alive.claim(NOW + 60, 10).unwrap();
    assert_eq!(ids(&second), ids(&first));
    assert_eq!((second[0].redelivered, second[0].attempt), (true, 2));
    // The first one is late: it may not fail or extend what is another's, but what it has
    // delivered is delivered.
    let id = &first[0].id;
    assert_eq!(dead.fail(id, "late", NOW + 61).unwrap(), Failed::Stale);
    assert_eq!(dead.extend(&[id], NOW + 61).unwrap(), 0);
    assert_eq!(dead.ack(&[id], NOW + 61).unwrap(), 1);
    assert_eq!(alive.ack(&[id], NOW + 62).unwrap(), 0);
    assert_eq!(alive.claim(NOW + 10_000, 10).unwrap(), []);
}

#[test]
fn a_claim_lasts_as_long_as_it_is_extended() {
    let host = Host::new();
    host.ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p", "run_at": NOW }),
    );
    let (busy, other) = (claimer(&host), claimer(&host));
    let events = busy.claim(NOW, 10).unwrap();
    for minute in 1..5 {
        assert_eq!(
            busy.extend(&ids(&events), NOW + 60 * minute - 1).unwrap(),
            1
        );
        assert_eq!(other.claim(NOW + 60 * minute, 10).unwrap(), []);
    }
    assert_eq!(busy.ack(&ids(&events), NOW + 400).unwrap(), 1);
}

#[test]
fn what_kills_its_claimers_is_parked() {
    let host = Host::new();
    host.ann(
        "tasks.schedule",
        json!({ "name": "n", "prompt": "p", "run_at": NOW, "interval_minutes": 1 }),
    );
    let options = Options {
        attempts: 3,
        lease: 10,
        ..Options::default()
    };
    let mut seen = Vec::new();
    for at in 0..6 {
        let due = Due::with_options(Arc::clone(host.store.as_ref().unwrap()), options);
        seen.extend(due.claim(NOW + 10 * at, 10).unwrap());
    }
    let attempts: Vec<i64> = seen.iter().map(|event| event.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert_eq!(ids(&seen).into_iter().collect::<BTreeSet<_>>().len(), 1);
    let parked = json!([{ "parked_at": NOW + 30, "attempts": 3, "enabled": true,
        "last_error": "it was handed out and never answered for" }]);
    assert_holds(&host.ann("tasks.list", json!({}))["tasks"], &parked);
    // An answer that comes after all counts; otherwise switching it on starts it anew.
    host.set_clock(NOW + 70);
    let enabled = host.ann("tasks.enable", json!({ "id": 1 }));
    assert_holds(
        &enabled["task"],
        &json!({ "parked_at": null, "attempts": 0, "last_error": null, "next_run_at": NOW + 70 }),
    );
    let due = claimer(&host);
    assert_eq!(due.claim(NOW + 70, 10).unwrap().len(), 1);
}

#[test]
fn what_is_parked_does_not_hide_what_waits_behind_it() {
    let host = Host::new();
    for n in 0..20 {
        host.ann(
            "reminders.create",
            json!({ "title": format!("{n}"), "due_at": NOW }),
        );
    }
    let options = Options {
        attempts: 1,
        ..Options::default()
    };
    let due = Due::with_options(Arc::clone(host.store.as_ref().unwrap()), options);
    assert_eq!(due.claim(NOW, 20).unwrap().len(), 20);
    host.ann(
        "reminders.create",
        json!({ "title": "behind", "due_at": NOW + 61 }),
    );
    let events = due.claim(NOW + 61, 3).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].title, "behind");
}

#[test]
fn a_late_answer_unparks() {
    let host = Host::new();
    host.ann("reminders.create", json!({ "title": "a", "due_at": NOW }));
    let options = Options {
        attempts: 1,
        ..Options::default()
    };
    let due = Due::with_options(Arc::clone(host.store.as_ref().unwrap()), options);
    let events = due.claim(NOW, 10).unwrap();
    assert_eq!(due.claim(NOW + 60, 10).unwrap(), []);
    assert_eq!(due.ack(&ids(&events), NOW + 61).unwrap(), 1);
    let expected = json!([{ "fired_at": NOW + 61, "parked_at": null, "last_error": null }]);
    assert_holds(
        &host.ann("reminders.list", json!({ "status": "all" }))["reminders"],
        &expected,
    );
}

#[test]
fn what_users_do_meanwhile_wins() {
    let host = Host::new();
    for title in ["completed", "deleted", "snoozed"] {
        host.ann("reminders.create", json!({ "title": title, "due_at": NOW }));
    }
    host.ann(
        "tasks.schedule",
        json!({ "name": "off", "prompt": "p", "run_at": NOW, "interval_minutes": 1 }),
    );
    let due = claimer(&host);
    let events = due.claim(NOW, 10).unwrap();
    host.ann("reminders.complete", json!({ "id": 1 }));
    host.ann("reminders.delete", json!({ "id": 2 }));
    host.ann("reminders.snooze", json!({ "id": 3, "due_at": NOW + 500 }));
    host.ann("tasks.disable", json!({ "id": 1 }));
    for event in &events {
        let failed = due.fail(&event.id, "no", NOW + 1).unwrap();
        assert!(matches!(failed, Failed::Again { .. } | Failed::Stale));
    }
    assert_eq!(
        ids(&due.claim(NOW + 10_000, 10).unwrap()),
        [format!("reminder:3:{}", NOW + 500)]
    );
}

#[test]
fn ids_that_are_none_apply_to_nothing() {
    let host = Host::new();
    host.ann("reminders.create", json!({ "title": "a", "due_at": NOW }));
    let due = claimer(&host);
    let wrong = [
        "",
        "reminder:1",
        "reminder:1:1",
        "task:1:1700000000",
        "x'; DROP TABLE reminders",
    ];
    due.claim(NOW, 10).unwrap();
    assert_eq!(due.ack(&wrong, NOW).unwrap(), 0);
    assert_eq!(due.extend(&wrong, NOW).unwrap(), 0);
    for id in wrong {
        assert_eq!(due.fail(id, "why", NOW).unwrap(), Failed::Stale);
    }
    assert_eq!(due.ack(&[format!("reminder:1:{NOW}")], NOW).unwrap(), 1);
}

#[test]
fn sixteen_claimers_hand_out_each_event_once() {
    let host = Host::new();
    for n in 0..400 {
        host.ann(
            "reminders.create",
            json!({ "title": format!("{n}"), "due_at": NOW }),
        );
    }
    let path = &host.path;
    let claimed: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(move || {
                    let due = Due::new(Arc::new(Store::open(path).unwrap()));
                    let mut mine = Vec::new();
                    loop {
                        let events = due.claim(NOW, 7).unwrap();
                        if events.is_empty() {
                            return mine;
                        }
                        due.ack(&ids(&events), NOW).unwrap();
                        mine.extend(events.into_iter().map(|event| event.id));
                    }
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(claimed.len(), 400);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 400);
}

//! What becomes of the tasks of a server that is gone.

use jp_store::{Answered, Change, STOPPED, State, Taken, TaskId, Updated};

use crate::conformance::{Engine, NOW, Server, TASK, found, state};

fn stopped() -> State {
    let error = format!(r#"{{"code":-32603,"message":"{STOPPED}"}}"#);
    State::Failed { error }
}

/// Makes a task that is working, one that waits and one that is done.
fn three(server: &dyn Server) -> [TaskId; 3] {
    let ids = [0; 3].map(|_| server.create("ann", &TASK, NOW).unwrap());
    let (requests, message) = (r#"{"a":{}}"#, None);
    let asks = Change::InputRequired { requests, message };
    server.update("ann", &ids[1], &asks, NOW).unwrap();
    let done = Change::Completed { result: "{}" };
    server.update("ann", &ids[2], &done, NOW).unwrap();
    ids
}

pub(crate) fn a_task_whose_server_is_gone_has_failed_and_says_so(engine: &dyn Engine) {
    let (gone, other) = (engine.open(NOW), engine.open(NOW));
    let [works, waits, done] = three(&*gone);
    let before = found(&*other, &done);
    drop(gone);
    for id in [&works, &waits] {
        let task = other.get("ann", id, NOW + 7).unwrap().unwrap();
        assert_eq!(task.state, stopped());
        assert_eq!(task.message.as_deref(), Some(STOPPED));
        assert_eq!(task.updated, NOW + 7);
        // It is so for good.
        assert_eq!(other.get("ann", id, NOW + 9).unwrap().unwrap(), task);
    }
    assert_eq!(found(&*other, &done), before);
}

pub(crate) fn whatever_is_done_with_an_orphan_finds_it_ended(engine: &dyn Engine) {
    let other = engine.open(NOW);
    for n in 0..3 {
        let gone = engine.open(NOW);
        let [_, waits, _] = three(&*gone);
        drop(gone);
        match n {
            0 => {
                let done = Change::Completed { result: "{}" };
                let changed = other.update("ann", &waits, &done, NOW).unwrap();
                assert_eq!(changed, Updated::Ended);
            }
            1 => {
                let answered = other.answer("ann", &waits, r#"{"a":1}"#, NOW).unwrap();
                assert_eq!(answered, Answered::Ended);
            }
            _ => {
                let taken = other.take_answers("ann", &waits, NOW).unwrap();
                assert_eq!(taken, Taken::Ended);
            }
        }
        assert_eq!(state(&*other, &waits), stopped());
    }
}

pub(crate) fn the_next_server_ends_what_was_left(engine: &dyn Engine) {
    let (gone, other) = (engine.open(NOW), engine.open(NOW));
    three(&*gone);
    drop(gone);
    assert_eq!(other.adopt(NOW).unwrap(), 2);
    assert_eq!(other.adopt(NOW).unwrap(), 0);
    let gone = engine.open(NOW);
    let [works, ..] = three(&*gone);
    drop(gone);
    let next = engine.open(NOW + 20);
    assert_eq!(next.adopt(NOW + 30).unwrap(), 0, "opening has done it");
    let task = found(&*next, &works);
    assert_eq!((task.state, task.updated), (stopped(), NOW + 20));
}

pub(crate) fn a_live_server_keeps_its_tasks(engine: &dyn Engine) {
    let live = engine.open(NOW);
    let [works, waits, _] = three(&*live);
    let before = [&works, &waits].map(|id| found(&*live, id));
    let other = engine.open(NOW + 1);
    assert_eq!(other.adopt(NOW + 1).unwrap(), 0);
    drop(engine.open(NOW + 1));
    assert_eq!([&works, &waits].map(|id| found(&*other, id)), before);
    let answered = other.answer("ann", &waits, r#"{"a":1}"#, NOW + 1).unwrap();
    assert!(matches!(answered, Answered::Kept { accepted: 1, .. }));
    let done = Change::Completed { result: "{}" };
    let changed = live.update("ann", &works, &done, NOW + 1).unwrap();
    assert_eq!(changed, Updated::Changed);
}

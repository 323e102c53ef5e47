//! Tasks as their worker and their client see them.

use std::thread;

use jp_store::{Change, NewTask, State, StoreError, Updated};

use crate::conformance::{Engine, NOW, TASK, found, state};

const DONE: Change<'_> = Change::Completed { result: "{}" };

pub(crate) fn a_task_goes_through_its_states(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let new = NewTask {
        message: Some("starting"),
        ..TASK
    };
    let id = server.create("ann", &new, NOW).unwrap();
    let task = found(&*server, &id);
    assert_eq!((&task.id, &task.server), (&id, server.server()));
    assert_eq!((task.tool.as_str(), task.poll_interval), ("report", 500));
    assert_eq!((task.created, task.updated, task.ttl), (NOW, NOW, 60_000));
    assert_eq!(task.message.as_deref(), Some("starting"));
    assert_eq!(task.state, State::Working);
    let (message, requests) = (Some("half"), r#"{"a":{}}"#);
    let (result, error) = (r#"{"ok":1}"#, r#"{"code":1}"#);
    let waits = State::InputRequired {
        requests: requests.to_owned(),
    };
    let (result_kept, error_kept) = (result.to_owned(), error.to_owned());
    let completed = State::Completed {
        result: result_kept,
    };
    let failed = State::Failed { error: error_kept };
    let steps = [
        (Change::InputRequired { requests, message }, waits),
        (Change::Working { message }, State::Working),
        (Change::Completed { result }, completed),
        (Change::Failed { error, message }, failed),
        (Change::Cancelled, State::Cancelled),
    ];
    for (change, expected) in steps {
        let id = server.create("ann", &TASK, NOW).unwrap();
        let changed = server.update("ann", &id, &change, NOW + 5).unwrap();
        assert_eq!(changed, Updated::Changed);
        let task = found(&*server, &id);
        assert_eq!(task.state, expected);
        assert_eq!((task.created, task.updated), (NOW, NOW + 5));
        let tells = !matches!(change, Change::Completed { .. } | Change::Cancelled);
        assert_eq!(task.message.as_deref(), message.filter(|_| tells));
    }
}

pub(crate) fn a_task_that_has_ended_never_changes_again(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let message = None;
    let ends = [
        DONE,
        Change::Failed {
            error: "{}",
            message,
        },
        Change::Cancelled,
    ];
    let requests = r#"{"a":{}}"#;
    let others = [
        Change::Working { message },
        Change::InputRequired { requests, message },
        Change::Completed { result: "[1]" },
    ];
    for end in ends {
        let id = server.create("ann", &TASK, NOW).unwrap();
        server.update("ann", &id, &end, NOW).unwrap();
        let before = found(&*server, &id);
        for change in others.iter().chain(&ends) {
            let changed = server.update("ann", &id, change, NOW + 9).unwrap();
            assert_eq!(changed, Updated::Ended);
            assert_eq!(found(&*server, &id), before);
        }
    }
}

pub(crate) fn documents_come_back_as_they_were_given(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let result = r#" {"b": 1e400, "a":12345678901234567890123,"t":"\u0000é\ud83d"} "#;
    for result in [result, "null", "\"\"", "[]"] {
        let id = server.create("ann", &TASK, NOW).unwrap();
        let done = Change::Completed { result };
        server.update("ann", &id, &done, NOW).unwrap();
        let result = result.to_owned();
        assert_eq!(state(&*server, &id), State::Completed { result });
    }
}

pub(crate) fn a_task_is_gone_when_its_time_is_over(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let over = NOW + TASK.ttl;
    let forever = NewTask {
        ttl: u64::MAX,
        ..TASK
    };
    let [working, done] = [0; 2].map(|_| server.create("ann", &TASK, NOW).unwrap());
    let stays = server.create("ann", &forever, NOW).unwrap();
    server.update("ann", &done, &DONE, NOW + 1).unwrap();
    assert_eq!(server.sweep_tasks(over - 1).unwrap(), 0);
    for id in [&working, &done] {
        assert!(server.get("ann", id, over - 1).unwrap().is_some());
        // Also before anything is swept.
        assert!(server.get("ann", id, over).unwrap().is_none());
        let changed = server.update("ann", id, &DONE, over).unwrap();
        assert_eq!(changed, Updated::Unknown);
    }
    assert_eq!(server.sweep_tasks(over).unwrap(), 2);
    assert_eq!(server.sweep_tasks(over).unwrap(), 0);
    // A clock that was set back brings nothing back.
    assert!(server.get("ann", &done, NOW).unwrap().is_none());
    assert!(server.get("ann", &stays, over).unwrap().is_some());
}

pub(crate) fn an_owner_has_as_many_tasks_as_the_limit_says(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let new = NewTask { most: 3, ..TASK };
    let first = server.create("ann", &new, NOW).unwrap();
    server.update("ann", &first, &DONE, NOW).unwrap();
    server.create("ann", &new, NOW + 1).unwrap();
    server.create("ann", &new, NOW + 1).unwrap();
    let error = server.create("ann", &new, NOW + 1).unwrap_err();
    let expected = "cannot keep another task: the owner has 3 (limit: 3)";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, StoreError::TooManyTasks { .. }));
    server.create("bob", &new, NOW + 1).unwrap();
    // The first one is over, and makes room for one more.
    let later = NOW + TASK.ttl;
    server.create("ann", &new, later).unwrap();
    server.create("ann", &new, later).unwrap_err();
}

pub(crate) fn of_many_ends_at_once_one_is_made(engine: &dyn Engine) {
    let first = engine.open(NOW);
    let id = first.create("ann", &TASK, NOW).unwrap();
    let ended = thread::scope(|scope| {
        let threads = [0; 8].map(|_| {
            let end = || engine.open(NOW).update("ann", &id, &DONE, NOW).unwrap();
            scope.spawn(end)
        });
        threads.map(|thread| thread.join().unwrap())
    });
    let made = ended.iter().filter(|end| **end == Updated::Changed);
    assert_eq!(made.count(), 1, "{ended:?}");
}

pub(crate) fn a_worker_learns_that_its_task_was_cancelled_elsewhere(engine: &dyn Engine) {
    let (worker, other) = (engine.open(NOW), engine.open(NOW));
    let id = worker.create("ann", &TASK, NOW).unwrap();
    let cancelled = other.update("ann", &id, &Change::Cancelled, NOW).unwrap();
    assert_eq!(cancelled, Updated::Changed);
    let taken = worker.take_answers("ann", &id, NOW).unwrap();
    assert_eq!(taken, jp_store::Taken::Ended);
    let changed = worker.update("ann", &id, &DONE, NOW).unwrap();
    assert_eq!(changed, Updated::Ended);
    assert_eq!(state(&*worker, &id), State::Cancelled);
}

pub(crate) fn what_is_there_is_there_for_the_next_server(engine: &dyn Engine) {
    let first = engine.open(NOW);
    let id = first.create("ann", &TASK, NOW).unwrap();
    first.update("ann", &id, &DONE, NOW).unwrap();
    let before = found(&*first, &id);
    drop(first);
    let next = engine.open(NOW + 1);
    assert_ne!(next.server(), &before.server);
    assert_eq!(found(&*next, &id), before);
}

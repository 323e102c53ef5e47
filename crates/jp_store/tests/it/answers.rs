//! What a client answers, on its way to the worker.

use std::thread;

use jp_store::{Answered, Change, State, Taken, TaskId};

use crate::conformance::{Engine, NOW, Server, TASK, found, state};

const fn kept(accepted: usize, outstanding: usize) -> Answered {
    Answered::Kept {
        accepted,
        outstanding,
    }
}

fn ask(server: &dyn Server, id: &TaskId, requests: &str) {
    let message = None;
    let asks = Change::InputRequired { requests, message };
    server.update("ann", id, &asks, NOW).unwrap();
}

fn asking(server: &dyn Server, requests: &str) -> TaskId {
    let id = server.create("ann", &TASK, NOW).unwrap();
    ask(server, &id, requests);
    id
}

fn waits_for(requests: &str) -> State {
    let requests = requests.to_owned();
    State::InputRequired { requests }
}

fn answers(responses: &str) -> Taken {
    let responses = responses.to_owned();
    Taken::Answers { responses }
}

pub(crate) fn each_answer_reaches_the_worker_once(engine: &dyn Engine) {
    let (worker, front) = (engine.open(NOW), engine.open(NOW));
    let id = asking(&*worker, r#"{"a":{"q":1},"b":{"q":2},"c":{}}"#);
    let take = || worker.take_answers("ann", &id, NOW).unwrap();
    let answer = |text| front.answer("ann", &id, text, NOW + 3).unwrap();
    assert_eq!(take(), Taken::Nothing);
    assert_eq!(answer(r#"{"b":{"n":1e400}}"#), kept(1, 2));
    assert_eq!(found(&*front, &id).updated, NOW + 3);
    assert_eq!(state(&*front, &id), waits_for(r#"{"a":{"q":1},"c":{}}"#));
    assert_eq!(answer(r#"{"a":1}"#), kept(1, 1));
    assert_eq!(take(), answers(r#"{"a":1,"b":{"n":1e400}}"#));
    assert_eq!(take(), Taken::Nothing);
    assert_eq!(answer(r#"{"c":null}"#), kept(1, 0));
    // Nothing is outstanding any more.
    assert_eq!(state(&*front, &id), State::Working);
    assert_eq!(take(), answers(r#"{"c":null}"#));
    worker.update("ann", &id, &Change::Cancelled, NOW).unwrap();
    assert_eq!(answer(r#"{"c":1}"#), Answered::Ended);
    assert_eq!(take(), Taken::Ended);
}

pub(crate) fn the_first_answer_counts_and_what_nobody_asked_for_is_left_out(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let answer = |id, text| server.answer("ann", id, text, NOW).unwrap();
    let take = |id| server.take_answers("ann", id, NOW).unwrap();
    let id = asking(&*server, r#"{"a":{},"b":{}}"#);
    assert_eq!(answer(&id, r#"{"a":1,"x":1}"#), kept(1, 1));
    assert_eq!(answer(&id, r#"{"a":2}"#), kept(0, 1));
    assert_eq!(take(&id), answers(r#"{"a":1}"#));
    assert_eq!(answer(&id, r#"{"a":3}"#), kept(0, 1));
    assert_eq!(take(&id), Taken::Nothing);
    let working = server.create("ann", &TASK, NOW).unwrap();
    assert_eq!(answer(&working, r#"{"a":1}"#), kept(0, 0));
    assert_eq!(take(&working), Taken::Nothing);
}

pub(crate) fn new_requests_take_the_place_of_old_ones(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let answer = |id, text| server.answer("ann", id, text, NOW).unwrap();
    let id = asking(&*server, r#"{"a":{},"b":{}}"#);
    assert_eq!(answer(&id, r#"{"a":1}"#), kept(1, 1));
    ask(&*server, &id, r#"{"c":{}}"#);
    assert_eq!(answer(&id, r#"{"b":1}"#), kept(0, 1));
    assert_eq!(answer(&id, r#"{"c":1}"#), kept(1, 0));
    let taken = server.take_answers("ann", &id, NOW).unwrap();
    assert_eq!(taken, answers(r#"{"a":1,"c":1}"#));
    // Without requests nothing could ever be answered.
    ask(&*server, &id, "{}");
    assert_eq!(state(&*server, &id), State::Working);
}

pub(crate) fn answers_at_once_are_all_kept(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let members = |value: &str| {
        let members = (0..16).map(|n| format!("\"{n:02}\":{value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let id = asking(&*server, &members("{}"));
    thread::scope(|scope| {
        for n in 0..16 {
            let (server, id) = (&server, &id);
            scope.spawn(move || {
                let one = format!("{{\"{n:02}\":7}}");
                server.answer("ann", id, &one, NOW).unwrap()
            });
        }
    });
    let taken = server.take_answers("ann", &id, NOW).unwrap();
    assert_eq!(taken, answers(&members("7")));
}

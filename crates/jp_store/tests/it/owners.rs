//! What belongs to another owner is as if it were not there, whatever is asked.

use jp_store::{Answered, Change, NewSpill, Quota, SpillId, Taken, TaskId, Updated};

use crate::conformance::{Engine, NOW, TASK, found};

const ROOM: Quota = Quota {
    owner: u64::MAX,
    total: u64::MAX,
};

pub(crate) fn no_owner_reaches_a_task_of_another(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.create("ann", &TASK, NOW).unwrap();
    let (requests, message) = (r#"{"a":{},"b":{}}"#, None);
    let asks = Change::InputRequired { requests, message };
    server.update("ann", &id, &asks, NOW).unwrap();
    server.answer("ann", &id, r#"{"b":1}"#, NOW).unwrap();
    let before = found(&*server, &id);
    let missing: TaskId = "0".repeat(32).parse().unwrap();
    for (owner, id) in [("bob", &id), ("ann", &missing), ("", &id), ("an_", &id)] {
        assert_eq!(server.get(owner, id, NOW).unwrap(), None);
        let changed = server.update(owner, id, &Change::Cancelled, NOW).unwrap();
        assert_eq!(changed, Updated::Unknown);
        let answered = server.answer(owner, id, r#"{"a":1}"#, NOW).unwrap();
        assert_eq!(answered, Answered::Unknown);
        let taken = server.take_answers(owner, id, NOW).unwrap();
        assert_eq!(taken, Taken::Unknown);
    }
    assert_eq!(found(&*server, &id), before);
    let taken = server.take_answers("ann", &id, NOW).unwrap();
    assert!(matches!(taken, Taken::Answers { .. }));
    // An orphan is ended by whoever asks for it, if it is theirs.
    drop(server);
    let next = engine.open(NOW);
    assert_eq!(next.get("bob", &id, NOW).unwrap(), None);
}

pub(crate) fn no_owner_reaches_a_result_of_another(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let new = NewSpill {
        mime_type: "text/plain",
        bytes: b"secret",
        expires: NOW + 9,
    };
    let id = server.keep("ann", &new, &ROOM, NOW).unwrap();
    let missing: SpillId = "0".repeat(32).parse().unwrap();
    for (owner, id) in [("bob", &id), ("ann", &missing), ("", &id), ("an_", &id)] {
        assert_eq!(server.read(owner, id, 0, 6, NOW).unwrap(), None);
    }
    assert!(server.read("ann", &id, 0, 6, NOW).unwrap().is_some());
}

pub(crate) fn each_owner_spends_nonces_of_its_own(engine: &dyn Engine) {
    let server = engine.open(NOW);
    for owner in ["ann", "bob"] {
        assert!(server.spend(owner, &[1; 16], NOW + 9, NOW).unwrap());
        assert!(!server.spend(owner, &[1; 16], NOW + 9, NOW).unwrap());
    }
}

pub(crate) fn names_that_look_alike_are_different_owners(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let names = [
        "ann",
        "Ann",
        "ann ",
        "ann\0",
        "ann\0x",
        "a\u{301}nn",
        "ánn",
        "%",
        "'",
    ];
    let ids = names.map(|name| server.create(name, &TASK, NOW).unwrap());
    for (mine, name) in names.iter().enumerate() {
        for (at, id) in ids.iter().enumerate() {
            let found = server.get(name, id, NOW).unwrap();
            assert_eq!(found.is_some(), at == mine, "{name:?}");
        }
        assert!(server.spend(name, &[1; 16], NOW + 9, NOW).unwrap());
    }
}

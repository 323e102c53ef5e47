//! What is too large or makes no sense is refused before anything is made of it.

use jp_store::{
    Change, MAX_DOCUMENT, MAX_MESSAGE, MAX_MIME_TYPE, MAX_OWNER, MAX_SPILL, MAX_TOOL, NewSpill,
    NewTask, Quota, StoreError, TaskId,
};

use crate::conformance::{Engine, NOW, Server, TASK, found};

const ROOM: Quota = Quota {
    owner: u64::MAX,
    total: u64::MAX,
};

/// Tries what needs `most` bytes at most with as many, and with one more.
fn try_both(what: &str, most: usize, act: impl Fn(usize) -> Result<(), StoreError>) {
    act(most).unwrap();
    let expected = format!(
        "invalid `{what}`: expected at most {most} bytes, found {}",
        most + 1
    );
    assert_eq!(act(most + 1).unwrap_err().to_string(), expected);
}

pub(crate) fn what_is_too_large_is_refused_by_name(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let create = |owner: &str, new: &NewTask<'_>| server.create(owner, new, NOW).map(drop);
    try_both("owner", MAX_OWNER, |n| create(&"o".repeat(n), &TASK));
    try_both("tool", MAX_TOOL, |n| {
        let tool = &"t".repeat(n);
        create("ann", &NewTask { tool, ..TASK })
    });
    try_both("message", MAX_MESSAGE, |n| {
        let message = "m".repeat(n);
        let message = Some(message.as_str());
        create("ann", &NewTask { message, ..TASK })
    });
    let keep = |mime_type: &str, bytes: &[u8]| {
        let expires = NOW + 1;
        let new = NewSpill {
            mime_type,
            bytes,
            expires,
        };
        server.keep("ann", &new, &ROOM, NOW).map(drop)
    };
    try_both("mime_type", MAX_MIME_TYPE, |n| keep(&"m".repeat(n), b""));
    try_both("bytes", MAX_SPILL, |n| keep("m", &vec![7; n]));
    let error = create("", &TASK).unwrap_err();
    let expected = "invalid `owner`: expected a name, found nothing";
    assert_eq!(error.to_string(), expected);
    documents(&*server);
}

fn documents(server: &dyn Server) {
    let message = None;
    let object = |n: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(n - 8));
    let fresh = || server.create("ann", &TASK, NOW).unwrap();
    let update = |id: &TaskId, change: &Change<'_>| {
        let before = found(server, id);
        let changed = server.update("ann", id, change, NOW + 1).map(drop);
        let is_same = found(server, id) == before;
        assert_eq!(is_same, changed.is_err(), "what is refused changes nothing");
        changed
    };
    try_both("result", MAX_DOCUMENT, |n| {
        let result = &object(n);
        update(&fresh(), &Change::Completed { result })
    });
    try_both("error", MAX_DOCUMENT, |n| {
        let error = &object(n);
        update(&fresh(), &Change::Failed { error, message })
    });
    try_both("requests", MAX_DOCUMENT, |n| {
        let requests = &object(n);
        update(&fresh(), &Change::InputRequired { requests, message })
    });
    let requests = r#"{"a":1,"b":1}"#;
    let asks = Change::InputRequired { requests, message };
    try_both("responses", MAX_DOCUMENT, |n| {
        let id = fresh();
        update(&id, &asks)?;
        server.answer("ann", &id, &object(n), NOW).map(drop)
    });
    // Two that fit each, and not both.
    let id = fresh();
    update(&id, &asks).unwrap();
    let half = object(MAX_DOCUMENT / 2 + 8);
    server.answer("ann", &id, &half, NOW).unwrap();
    let before = found(server, &id);
    let other = half.replace("\"a\"", "\"b\"");
    let error = server.answer("ann", &id, &other, NOW + 1).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    assert_eq!(found(server, &id), before);
}

pub(crate) fn what_is_no_json_is_refused(engine: &dyn Engine) {
    let server = engine.open(NOW);
    let id = server.create("ann", &TASK, NOW).unwrap();
    let message = None;
    for (text, is_json) in [
        ("", false),
        ("{\"a\":", false),
        ("1 2", false),
        ("[]", true),
    ] {
        let change = Change::InputRequired {
            requests: text,
            message,
        };
        let error = server.update("ann", &id, &change, NOW).unwrap_err();
        let expected = "invalid `requests`: expected a JSON object";
        assert_eq!(error.to_string(), expected, "{text}");
        let error = server.answer("ann", &id, text, NOW).unwrap_err();
        let expected = "invalid `responses`: expected a JSON object";
        assert_eq!(error.to_string(), expected, "{text}");
        if is_json {
            continue;
        }
        let (result, error) = (text, text);
        for change in [
            Change::Completed { result },
            Change::Failed { error, message },
        ] {
            let error = server.update("ann", &id, &change, NOW).unwrap_err();
            assert!(matches!(error, StoreError::NotJson { .. }), "{error}");
        }
    }
}

//! Calls that are refused before their arguments matter.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::{Caller, Code};
use serde_json::json;

use crate::{
    host::{Host, grant},
    refusals::check,
};

#[test]
fn without_a_store_the_answer_says_what_to_configure() {
    let host = Host::on(None, std::path::Path::new("nowhere"));
    let calls = [("todo.list", json!({}), "configure a file for it")];
    check(&host, Code::Unavailable, &calls);
}

#[tokio::test]
async fn another_tool_needs_the_owners_grant_besides_its_own() {
    let host = Host::new();
    let (own, none) = (Arc::new(grant(&["kv.sqlite.*"])), Arc::new(grant(&[])));
    for (tool, given, code) in [
        ("other", &own, "works on the data of tool 'todo'"),
        ("todo", &none, "is not allowed"),
    ] {
        let deadline = Instant::now() + Duration::from_secs(5);
        let caller = Caller::new("ann", tool, Arc::clone(given), deadline);
        let arguments = json!({ "title": "t" });
        let error = host
            .broker
            .call(
                &caller,
                "kv.sqlite.todo.create",
                arguments.as_object().unwrap(),
            )
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::Forbidden);
        assert!(error.message.contains(code), "{error}");
    }
}

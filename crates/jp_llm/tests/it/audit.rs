//! The log: one record for each call whatever became of it, and nothing of its arguments.

use jp_audit::Entry;
use jp_llm::{Call, ToolDefinition, tool::Cause};
use serde_json::{Value, json};

use crate::kit::{Desk, call, object, reader, script};

const SECRET: &str = "hunter2-hunter2";

fn desk() -> Desk {
    let number = "parameters.n.type = \"integer\"\nparameters.s.type = \"string\"\n";
    let config = [
        reader("echo", number),
        reader("ask", ""),
        reader("jp_tool_test", "parameters.path.type = \"string\""),
        script("says", "exec echo \"$1\"", ""),
    ]
    .concat();
    Desk::new(&config)
        .guest("echo", "echo")
        .guest("ask", "ask")
        .guest("jp_tool_test", "jp_tool_test")
        .trusted()
}

fn assert_secret(records: &[Entry]) {
    for record in records {
        assert!(!record.raw.contains(SECRET), "{}", record.raw);
    }
}

#[tokio::test]
async fn a_record_says_who_called_what_and_with_which_grant() {
    let desk = desk();
    let executed = desk.call("echo", json!({"s": SECRET})).await;
    let records = desk.records();
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!((&*record.principal, &*record.call_id), ("tester", "c1"));
    assert_eq!((&*record.tool, &*record.source), ("echo", "local"));
    assert_eq!(record.grant, "fs=/workspace:read net=none");
    assert_eq!(record.sha256.as_deref(), executed.details.sha256.as_deref());
    assert_eq!(record.fuel, executed.details.fuel);
    assert!(record.duration_us > 0 && record.time > 1_700_000_000_000);
    assert_secret(&records);
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_there_leaves_a_record_too() {
    let desk = desk();
    let made = ToolDefinition::for_call(
        "nope",
        &call(json!({"s": SECRET})),
        &desk.loaded,
        &desk.host,
    )
    .await;
    assert!(matches!(made, Err(error) if matches!(error.cause(), Cause::Missing(_))));
    let records = desk.records();
    assert_eq!(records.len(), 1);
    assert_eq!(
        (&*records[0].tool, &*records[0].outcome),
        ("nope", "invalid")
    );
    assert_secret(&records);
}

#[tokio::test]
async fn arguments_and_answers_leave_nothing_but_a_hash() {
    let desk = desk();
    let _ok = desk.call("echo", json!({"s": SECRET})).await;
    let _wrong_type = desk.call("echo", json!({"n": SECRET})).await;
    let _unknown_key = desk.call("echo", json!({SECRET: 1})).await;
    let _printed = desk.call("says", json!({"x": SECRET})).await;
    let answered = Call {
        answers: object(json!({"name": [SECRET]})),
        ..call(json!({}))
    };
    let _wrong_answer = desk.make("ask", answered).await;
    let records = desk.records();
    let outcomes: Vec<&str> = records.iter().map(|record| &*record.outcome).collect();
    assert_eq!(
        outcomes,
        ["success", "invalid", "invalid", "success", "invalid"]
    );
    assert_secret(&records);
    let hashes: std::collections::BTreeSet<_> = records
        .iter()
        .map(|record| &record.arguments_hash)
        .collect();
    assert_eq!(hashes.len(), records.len());
}

#[tokio::test]
async fn equal_arguments_have_equal_hashes() {
    let desk = desk();
    for arguments in [json!({"n": 1}), json!({"n": "1"}), json!({"n": 2})] {
        let _echoed = desk.call("echo", arguments).await;
    }
    let records = desk.records();
    assert_eq!(records[0].arguments_hash, records[1].arguments_hash);
    assert_ne!(records[0].arguments_hash, records[2].arguments_hash);
}

#[tokio::test]
async fn a_tool_that_says_no_is_recorded_with_its_words() {
    let desk = desk();
    assert!(
        desk.said("jp_tool_test", json!({"path": "nope"}))
            .await
            .is_err()
    );
    let record = &desk.records()[0];
    assert_eq!((&*record.decision, &*record.outcome), ("allowed", "error"));
    assert!(
        record
            .detail
            .as_deref()
            .unwrap()
            .starts_with("Failed to read file")
    );
    assert_eq!(record.transient, Some(false));
}

#[tokio::test]
async fn traces_and_transience_of_commands_are_kept() {
    let text =
        r#"echo '{"type":"error","message":"busy","trace":["a","b"],"transient":true}'; exit 3"#;
    let desk = Desk::new(&script("busy", text, "")).trusted();
    let said = desk.said("busy", json!({})).await;
    assert_eq!(said, Err("busy\n\nTrace:\na\nb".to_owned()));
    let record = &desk.records()[0];
    assert_eq!(
        (record.transient, record.trace.join(" ")),
        (Some(true), "a b".to_owned())
    );
}

#[tokio::test]
async fn a_call_that_cannot_be_written_down_did_not_happen() {
    let desk = desk();
    let _echoed = desk.call("echo", json!({})).await;
    let dir = desk.root.parent().unwrap().join("audit");
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        if path.extension().is_some_and(|e| e == "jsonl") {
            std::fs::create_dir(&path).unwrap();
        }
    }
    // A log looks once a millisecond whether its file is still there.
    let now = std::time::SystemTime::now();
    while now.elapsed().is_ok_and(|past| past.as_millis() < 2) {
        std::thread::yield_now();
    }
    let executed = desk.call("echo", json!({})).await;
    let error = executed.result.unwrap_err().to_string();
    assert!(error.contains("cannot record the call"), "{error}");
}

#[tokio::test]
async fn every_end_leaves_one_record() {
    let desk = desk();
    let mut made = 0;
    for arguments in [json!({}), json!({"n": Value::Null}), json!({"zzz": 1})] {
        let _ended = desk.call("echo", arguments).await;
        made += 1;
        assert_eq!(desk.records().len(), made);
    }
    let cancelled = call(json!({}));
    cancelled.cancel.cancel();
    let _ended = desk.make("echo", cancelled).await;
    assert_eq!(desk.records().len(), made + 1);
    assert_eq!(desk.records()[made].outcome, "cancelled");
}

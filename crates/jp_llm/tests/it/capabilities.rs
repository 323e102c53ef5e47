//! Capability calls through the whole pipeline: builtins and modules of a workspace, what they are
//! granted, and what is written down.

use jp_llm::{
    LazyBroker,
    broker::{BrokerPlaces, Means, Secret, SecretValue, VaultPaths},
    tool::{Cause, ErrorKind, Misconfigured, Refused},
};
use jp_test::{
    abi::{Abi, data},
    text::component,
};
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, wasm};

/// A module that asks the host for one thing.
fn asks(name: &str, args: &Value) -> Vec<u8> {
    answers(&json!({
        "status": "capability_call",
        "abi_version": 1,
        "capability_call": {"name": name, "args": args},
    }))
}

/// A module that always answers the same.
fn answers(answer: &Value) -> Vec<u8> {
    Abi::saying(answer.to_string()).bytes()
}

/// The configuration of a module that may make some calls.
fn module(name: &str, calls: &str) -> String {
    wasm(
        name,
        &format!("abi = 1\ngrant.workspace = \"none\"\ngrant.calls = {calls}"),
    )
}

pub(crate) fn places(desk: &Desk) -> BrokerPlaces {
    let dir = desk.root.parent().unwrap().join("broker");
    BrokerPlaces {
        store: dir.join("data/store.sqlite"),
        secrets: VaultPaths {
            secrets: dir.join("secrets/sealed"),
            key: dir.join("key/secrets"),
        },
        keyring: None,
    }
}

/// A workspace whose user has a broker.
pub(crate) fn desk(workspace: &str, user: &str) -> Desk {
    let mut desk = Desk::with_user(workspace, user);
    let (config, places) = (desk.loaded.config.broker.clone(), places(&desk));
    let broker =
        LazyBroker::new(move || jp_llm::broker::open(&config, &places, None, Means::default()));
    desk.rebuild(|host| host.broker(broker));
    desk
}

pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

async fn refused(desk: &Desk, tool: &str) -> Value {
    parsed(&desk.said(tool, json!({})).await.unwrap_err())
}

#[tokio::test]
async fn a_builtin_keeps_rows_for_whoever_calls() {
    let mut desk = desk("", "");
    let arguments = json!({"action": "create", "title": "buy milk", "user_id": "somebody else"});
    let said = parsed(&desk.said("todo", arguments).await.unwrap());
    assert_eq!(said["status"], "ok");
    let item = &said["capability_result"]["result"]["item"];
    assert_eq!(
        (&item["title"], &item["user_id"]),
        (&json!("buy milk"), &json!("tester"))
    );
    let list = || call(json!({"action": "list", "user_id": "tester"}));
    let mine = parsed(&desk.make("todo", list()).await.said().unwrap());
    desk.caller(|caller| caller.principal = "mallory".to_owned());
    let theirs = parsed(&desk.make("todo", list()).await.said().unwrap());
    let count = |said: &Value| {
        said["capability_result"]["result"]["items"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((count(&mine), count(&theirs)), (1, 0));
    let records = desk.records();
    let calls: Vec<_> = records
        .iter()
        .map(|record| record.capability.as_deref())
        .collect();
    let (create, list) = (Some("kv.sqlite.todo.create"), Some("kv.sqlite.todo.list"));
    assert_eq!(calls, [create, None, list, None, list, None]);
    assert!(
        records
            .iter()
            .all(|record| !record.raw.contains("buy milk"))
    );
}

#[tokio::test]
async fn a_module_gets_what_its_configuration_asks_for_and_no_more() {
    let config = [
        module("clock", r#"["clock.now_unix"]"#),
        module("other", r#"["log.emit"]"#),
        module("nobody", r#"["clock.nobody_made_this"]"#),
        wasm("silent", "abi = 1\ngrant.workspace = \"none\""),
    ]
    .concat();
    let now = asks("clock.now_unix", &json!({}));
    let desk = desk(&config, "")
        .file(".jp/tools/clock.wasm", &now)
        .file(".jp/tools/other.wasm", &now)
        .file(".jp/tools/silent.wasm", &now)
        .file(
            ".jp/tools/nobody.wasm",
            asks("clock.nobody_made_this", &json!({})),
        );
    let said = parsed(&desk.said("clock", json!({"anything": [1]})).await.unwrap());
    assert!(
        said["capability_result"]["result"]["unix"]
            .as_i64()
            .unwrap()
            > 1_700_000_000
    );
    for tool in ["other", "silent"] {
        let error = refused(&desk, tool).await;
        assert_eq!(error["code"], "forbidden", "{error}");
        let told = error["error"].as_str().unwrap();
        let line =
            format!("`grant.calls = [\"clock.now_unix\"]` under `[conversation.tools.{tool}]`");
        assert!(told.contains(&line), "{told}");
    }
    let error = refused(&desk, "nobody").await;
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("internal"), &json!("unimplemented"))
    );
    let decisions: Vec<String> = desk
        .records()
        .iter()
        .filter(|record| record.capability.is_some())
        .map(|record| format!("{} {} {}", record.tool, record.decision, record.outcome))
        .collect();
    let expected = [
        "clock allowed success",
        "other denied denied",
        "silent denied denied",
        "nobody allowed host_failure",
    ];
    assert_eq!(decisions, expected);
}

#[tokio::test]
async fn a_program_may_ask_too() {
    let ask = json!({
        "status": "capability_call",
        "abi_version": 1,
        "capability_call": {"name": "clock.now_unix", "args": {}},
    });
    let (ask, length) = (ask.to_string(), ask.to_string().len());
    let program = format!(
        r#"(module
          (import "wasi_snapshot_preview1" "fd_write"
            (func $write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1) {} {}
          (func (export "_start")
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
        data(
            0,
            &[
                16_u32.to_le_bytes(),
                u32::try_from(length).unwrap().to_le_bytes()
            ]
            .concat()
        ),
        data(16, ask.as_bytes()),
    );
    let config = module("program", r#"["clock.now_unix"]"#);
    let desk = desk(&config, "").file(".jp/tools/program.wasm", component(&program));
    let said = parsed(&desk.said("program", json!({})).await.unwrap());
    assert!(
        said["capability_result"]["result"]["unix"].is_i64(),
        "{said}"
    );
}

#[tokio::test]
async fn a_strangers_workspace_gets_no_network_no_secret_and_no_rows() {
    for (calls, net) in [
        (r#"["http.request"]"#, "grant.net = [\"example.com\"]"),
        (r#"["secrets.get.x"]"#, ""),
        (r#"["kv.sqlite.todo.clear"]"#, ""),
    ] {
        let config = format!("{}\n{net}\n", module("asks", calls));
        let user = "[policy]\nnet = true\ncalls = [\"*\", \"secrets.*\"]\n";
        let desk = desk(&config, user).file(".jp/tools/asks.wasm", answers(&json!({})));
        let error = desk.call("asks", json!({})).await.error();
        assert!(
            matches!(
                error.cause(),
                Cause::Refused(Refused::Denied {
                    untrusted: true,
                    ..
                })
            ),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_module_that_came_after_the_trust_gets_nothing_that_trust_gives() {
    let calls = r#"["kv.sqlite.todo.clear"]"#;
    let clear = || asks("kv.sqlite.todo.clear", &json!({"status": "all"}));
    let named = module("late", calls);
    let by_name = format!("[conversation.tools.late]\nsource = \"local\"\ngrant.calls = {calls}\n");
    for (config, path) in [
        (&named, ".jp/tools/late.wasm"),
        (&by_name, "wasm/late_tool.wasm"),
    ] {
        for run in ["", "run = \"unattended\"\n"] {
            let desk = desk(&format!("{config}\n{run}"), "").trusted().agreed();
            let desk = desk.file(path, clear());
            let error = desk.call("late", json!({})).await.error();
            assert_eq!(
                error.to_string(),
                format!("Wasm binary did not exist when you trusted this workspace: {path}")
            );
            assert_eq!(error.kind(), ErrorKind::Denied);
            assert!(error.hint().unwrap().contains("`jp trust`"), "{error:?}");
            assert_eq!(desk.record(), "denied, denied");
            // With the bytes there it is trusted, and other bytes are a change.
            let desk = desk.trusted();
            assert!(desk.said("late", json!({})).await.is_ok());
            let desk = desk.file(path, asks("kv.sqlite.todo.clear", &json!({})));
            let error = desk.call("late", json!({})).await.error();
            assert!(
                matches!(error.cause(), Cause::Refused(Refused::WasmChanged { .. })),
                "{error:?}"
            );
        }
    }
    // The user's own entry is the user's word, in whatever workspace the file lies.
    let desk = desk("", &named).file(".jp/tools/late.wasm", clear());
    assert!(desk.said("late", json!({})).await.is_ok());
}

#[tokio::test]
async fn work_on_another_tools_data_needs_both_grants() {
    let list = module("lists", r#"["kv.sqlite.todo.list"]"#);
    let without =
        format!("{list}\n[conversation.tools.todo]\nsource = \"builtin\"\ngrant.calls = []\n");
    for (config, allowed) in [(&list, true), (&without, false)] {
        let desk = desk(config, "")
            .file(
                ".jp/tools/lists.wasm",
                asks("kv.sqlite.todo.list", &json!({})),
            )
            .trusted();
        let said = desk.said("lists", json!({})).await;
        assert_eq!(said.is_ok(), allowed, "{said:?}");
    }
}

#[tokio::test]
async fn modules_are_found_by_convention_and_never_in_place_of_a_builtin() {
    let clock = asks("clock.now_unix", &json!({}));
    let desk = desk("", "")
        .file("wasm/greet_tool.wasm", answers(&json!({"hello": "world"})))
        .file("wasm/asks_tool.wasm", &clock)
        .file("wasm/todo_tool.wasm", &clock);
    assert_eq!(
        desk.said("greet", json!({"any": 1})).await.unwrap(),
        r#"{"hello":"world"}"#
    );
    assert_eq!(refused(&desk, "asks").await["code"], "forbidden");
    let error = desk.tool("todo").err().unwrap();
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::Shadowed { .. })
        ),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("wasm/todo_tool.wasm"));
}

#[tokio::test]
async fn a_guest_that_says_no_is_no_success() {
    let said = json!({"status": "error", "code": "invalid_args", "error": "Missing title"});
    let config = module("no", "[]");
    let desk = desk(&config, "").file(".jp/tools/no.wasm", answers(&said));
    assert_eq!(parsed(&desk.said("no", json!({})).await.unwrap_err()), said);
}

#[tokio::test]
async fn a_secret_is_a_handle_and_its_value_never_leaves() {
    let config = [
        module("get", r#"["secrets.get.forge"]"#),
        module("bare", r#"["secrets.get"]"#),
        module("leaks", r#"["secrets.get.forge"]"#),
    ]
    .concat();
    let user = "[policy]\ncalls = [\"secrets.*\"]\n";
    let value = "correct-horse-battery";
    let get = asks("secrets.get", &json!({"name": "forge"}));
    let desk = desk(&config, user)
        .file(".jp/tools/get.wasm", &get)
        .file(".jp/tools/bare.wasm", &get)
        .file(".jp/tools/leaks.wasm", answers(&json!({"found": value})))
        .trusted()
        .agreed();
    let store = jp_llm::broker::open_secrets(&places(&desk)).unwrap();
    store
        .set(&Secret {
            name: "forge".parse().unwrap(),
            value: SecretValue::new(value.as_bytes().to_vec()).unwrap(),
            audience: vec!["https://forge.example.com".parse().unwrap()],
            reveal: false,
            created: 0,
        })
        .unwrap();
    let said = desk.said("get", json!({})).await.unwrap();
    let result = &parsed(&said)["capability_result"]["result"];
    assert_eq!(result["handle"], "{{secret:forge}}");
    assert!(!said.contains(value));
    assert_eq!(refused(&desk, "bare").await["code"], "forbidden");
    let leaked = desk.said("leaks", json!({})).await.unwrap();
    assert_eq!(leaked, r#"{"found":"[secret:forge]"}"#);
    assert!(
        desk.records()
            .iter()
            .all(|record| !record.raw.contains(value))
    );
}

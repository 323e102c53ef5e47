//! What is kept between the calls of a prepared tool, and how often it is made.

use jp_policy::{Capabilities, Policy};
use serde_json::json;

use super::{super::arguments::COMPILED, *};
use crate::Caller;

/// A script that says nothing, of a tool whose schemas are a stranger's.
fn tool() -> ToolDefinition {
    ToolDefinition {
        schema_by: SchemaBy::Others,
        output_schema: Some(json!({"required": ["exit_code"]})),
        ..ToolDefinition::bash("bash")
    }
}

fn call() -> Call {
    Call {
        arguments: json!({"commands": "true"}).as_object().unwrap().clone(),
        ..Call::default()
    }
}

#[tokio::test]
async fn a_second_call_compiles_no_schema_again() {
    let held = tempfile::tempdir().unwrap();
    let host = Host::builder(held.path().into(), Policy::default()).build();
    let prepared = tool().prepare();
    let (before, runtime) = (COMPILED.get(), Arc::clone(&prepared.runtime));
    for _ in 0..3 {
        assert!(prepared.execute(call(), &host).await.unwrap().is_success());
        // Those of arguments and of results.
        assert_eq!(COMPILED.get() - before, 2);
    }
    assert!(Arc::ptr_eq(&runtime, &prepared.runtime));
    // A definition alone keeps nothing, and still works.
    let (tool, before) = (tool(), COMPILED.get());
    for calls in 1..3 {
        assert!(tool.execute(call(), &host).await.unwrap().is_success());
        assert_eq!(COMPILED.get() - before, 2 * calls);
    }
}

#[test]
fn a_grant_is_composed_once_for_each_policy() {
    let held = tempfile::tempdir().unwrap();
    let policy = Policy {
        capabilities: Capabilities {
            subprocess: true,
            ..Capabilities::default()
        },
        ..Policy::default()
    };
    let host = Host::builder(held.path().into(), policy).build();
    let less = |name: &str| {
        host.for_caller(Caller {
            principal: name.to_owned(),
            policy: Some(Policy::default()),
            ..Caller::default()
        })
    };
    let prepared = tool().prepare();
    for host in [&host, &less("ann"), &host, &less("bob"), &less("ann")] {
        prepared.preview(host).unwrap();
    }
    assert_eq!(prepared.grants.len(), 2);
    // What is kept is bounded, however many policies there are.
    for time_ms in 1..100 {
        let mut policy = Policy::default();
        policy.ceilings.time = std::time::Duration::from_millis(time_ms);
        let caller = Caller {
            policy: Some(policy),
            ..Caller::default()
        };
        prepared.preview(&host.for_caller(caller)).unwrap();
    }
    assert_eq!(prepared.grants.len(), 16);
}

//! What a module has done on its behalf: once and finally in ABI 1, again and again in ABI 2.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jp_policy::Limit;
use jp_test::{
    Host, Kit,
    abi::{Abi, data, entry},
};
use jp_tool::{Outcome, Problem};
use jp_wasm::{AbiVersion, Afterwards, CapabilityCalls, CapabilityError};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{call, content, limit, message};

/// Remembers every call and answers it with what it was asked.
#[derive(Default)]
struct Answers(Mutex<Vec<(String, String)>>);

impl Answers {
    fn seen(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl CapabilityCalls for Answers {
    async fn call(
        &self,
        name: &str,
        arguments: &str,
        _: Afterwards,
    ) -> Result<Box<RawValue>, CapabilityError> {
        self.0
            .lock()
            .unwrap()
            .push((name.to_owned(), arguments.to_owned()));
        match name {
            "never" => std::future::pending().await,
            "refused" | "busy" => Err(CapabilityError {
                json: json!({"status": "error", "code": "forbidden", "error": "no"}).to_string(),
                problem: Problem {
                    code: Some("forbidden".to_owned()),
                    message: "no".to_owned(),
                },
                transient: name == "busy",
            }),
            "large" => Ok(to_raw_value(&"x".repeat(2 << 20)).unwrap()),
            _ => Ok(RawValue::from_string("{}".to_owned()).unwrap()),
        }
    }
}

fn envelope(name: &str) -> String {
    format!(
        r#"{{"status":"capability_call","abi_version":1,"capability_call":{{"name":"{name}","args":{{"title": "buy  milk"}}}}}}"#
    )
}

/// A kit whose calls are answered, and the one that answers.
fn kit() -> (Kit, Arc<Answers>) {
    let answers = Arc::new(Answers::default());
    let kit = Kit::new(Host::OnDemand).answered_by(Arc::<Answers>::clone(&answers));
    (kit, answers)
}

#[tokio::test]
async fn the_result_of_the_one_call_is_final() {
    let (kit, answers) = kit();
    let module =
        Abi::saying(envelope("kv.sqlite.todo.create")).with(&entry("resume", "(unreachable)"));
    let said: Value =
        serde_json::from_str(&content(kit.call_bytes(&module.bytes(), "{}").await)).unwrap();
    assert_eq!(said["capability_result"]["name"], "kv.sqlite.todo.create");
    // As the module wrote them, spaces included.
    let seen = [(
        "kv.sqlite.todo.create".to_owned(),
        r#"{"title": "buy  milk"}"#.to_owned(),
    )];
    assert_eq!(answers.seen(), seen);
}

#[tokio::test]
async fn arguments_that_are_absent_are_an_empty_object() {
    let (kit, answers) = kit();
    let said = r#"{"status":"capability_call","capability_call":{"name":"clock.now_unix"}}"#;
    content(kit.call_bytes(&Abi::saying(said).bytes(), "{}").await);
    assert_eq!(
        answers.seen(),
        [("clock.now_unix".to_owned(), "{}".to_owned())]
    );
}

#[tokio::test]
async fn a_refused_capability_is_an_error_of_the_tool() {
    let (kit, _) = kit();
    for (name, later) in [("refused", false), ("busy", true)] {
        let module = Abi::saying(envelope(name)).bytes();
        let ended = kit.call_bytes(&module, "{}").await;
        let Ok(Outcome::Error {
            message, transient, ..
        }) = ended.result
        else {
            panic!("{:?}", ended.result);
        };
        assert!(message.contains("forbidden"), "{message}");
        assert_eq!(transient, later, "{name}");
    }
}

#[tokio::test]
async fn without_anybody_to_answer_every_capability_is_forbidden() {
    let answer: Value = serde_json::from_str(&message(
        call(&Abi::saying(envelope("clock.now_unix")), "{}").await,
    ))
    .unwrap();
    assert_eq!(
        answer,
        json!({
            "status": "error",
            "code": "forbidden",
            "error": "Capability 'clock.now_unix' is not allowed for tool 'probe'",
            "retryable": false,
        })
    );
}

#[tokio::test]
async fn a_result_beyond_the_output_limit_is_refused() {
    let (kit, _) = kit();
    let kit = kit.limits(|limits| limits.output_bytes = 1 << 20);
    let ended = kit
        .call_bytes(&Abi::saying(envelope("large")).bytes(), "{}")
        .await;
    assert_eq!(limit(&ended), Limit::Output);
}

#[tokio::test]
async fn waiting_for_an_answer_counts_against_the_deadline() {
    let (kit, _) = kit();
    let kit = kit.limits(|limits| limits.time = std::time::Duration::from_millis(100));
    let ended = kit
        .call_bytes(&Abi::saying(envelope("never")).bytes(), "{}")
        .await;
    assert_eq!(limit(&ended), Limit::Time);
}

/// A module that makes `calls` capability calls and then answers with what it was told last.
fn resuming(calls: u32) -> Abi {
    let asks = envelope("clock.now_unix");
    let ask = format!("(call $pack (i32.const 16) (i32.const {}))", asks.len());
    Abi::running(&ask)
        .with(&data(16, asks.as_bytes()))
        .with(&format!(
            "(global $left (mut i32) (i32.const {})) {}",
            calls.saturating_sub(1),
            entry(
                "resume",
                &format!(
                    "(if (result i64) (global.get $left)
                   (then (global.set $left (i32.sub (global.get $left) (i32.const 1))) {ask})
                   (else (call $pack (local.get $at) (local.get $len))))"
                )
            )
        ))
}

#[tokio::test]
async fn a_module_goes_on_with_what_it_was_told() {
    for calls in [1, 2, 64] {
        let (kit, answers) = kit();
        let kit = kit.abi(AbiVersion::Two);
        let said: Value = serde_json::from_str(&content(
            kit.call_bytes(&resuming(calls).bytes(), "{}").await,
        ))
        .unwrap();
        assert_eq!(said["status"], "ok");
        assert_eq!(answers.seen().len(), calls as usize);
    }
}

#[tokio::test]
async fn the_sixty_fifth_call_is_not_made() {
    let (kit, answers) = kit();
    let kit = kit.abi(AbiVersion::Two);
    let ended = kit.call_bytes(&resuming(65).bytes(), "{}").await;
    let reason = ended.result.unwrap_err().to_string();
    assert_eq!(reason, "it made more than 64 capability calls in one call");
    assert_eq!(answers.seen().len(), 64);
}

#[tokio::test]
async fn all_steps_share_one_budget_of_fuel() {
    let busy = |turns: u32| {
        format!(
            "(local.set $i (i32.const {turns}))
             (loop $more (br_if $more (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))"
        )
    };
    let mut module = resuming(8);
    module.more = module
        .more
        .replacen("(if (result", &format!("{} (if (result", busy(20_000)), 1);
    let (kit, _) = kit();
    let kit = kit.abi(AbiVersion::Two);
    let kit = kit.limits(|limits| limits.fuel = Some(400_000));
    // One step takes some 100,000: each of them fits, all of them do not.
    assert_eq!(
        limit(&kit.call_bytes(&module.bytes(), "{}").await),
        Limit::Fuel
    );
    let kit = kit.limits(|limits| limits.fuel = Some(4_000_000));
    let ended = kit.call_bytes(&module.bytes(), "{}").await;
    assert!(ended.traces.fuel > 800_000, "{}", ended.traces.fuel);
    content(ended);
}

#[tokio::test]
async fn a_module_that_cannot_resume_speaks_the_first_version_whatever_is_configured() {
    let (kit, _) = kit();
    let kit = kit.abi(AbiVersion::Two);
    let module = Abi::saying(envelope("x"));
    assert!(content(kit.call_bytes(&module.bytes(), "{}").await).contains("capability_result"));
    let second = envelope("x").replace("\"abi_version\":1", "\"abi_version\":2");
    let refused = message(kit.call_bytes(&Abi::saying(&second).bytes(), "{}").await);
    assert!(refused.contains("version 2 (supported: 1)"), "{refused}");
    let resumes = Abi::saying(&second).with(&entry("resume", jp_test::abi::ECHO));
    content(kit.call_bytes(&resumes.bytes(), "{}").await);
}

#[tokio::test]
async fn without_anybody_to_answer_a_resuming_module_is_told_so() {
    let kit = Kit::new(Host::OnDemand).abi(AbiVersion::Two);
    let told = message(kit.call_bytes(&resuming(3).bytes(), "{}").await);
    assert!(told.contains("forbidden"), "{told}");
}

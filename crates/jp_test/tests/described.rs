//! Components that speak `jp:tool@0.2.0`: they describe themselves, tell how far they are, and have
//! the host do things on their behalf.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jp_policy::{Limit, Limits};
use jp_test::{Host, Kit, text};
use jp_tool::{Outcome, Problem};
use jp_wasm::{
    Afterwards, CapabilityCalls, CapabilityError, Ended, Error, GuestEvents, LogLevel, Prepared,
    ToolKind,
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

/// Hears and answers everything, and remembers it.
#[derive(Default)]
struct Everything(Mutex<Vec<String>>, Meeting);

/// Where two calls wait for each other.
struct Meeting(tokio::sync::Barrier);

impl Default for Meeting {
    fn default() -> Self {
        Self(tokio::sync::Barrier::new(2))
    }
}

impl Everything {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl GuestEvents for Everything {
    fn progress(&self, message: &str, fraction: Option<f64>) {
        self.note(format!("progress {message} {fraction:?}"));
    }

    fn log(&self, level: LogLevel, text: &str) {
        self.note(format!("log {level:?} {text}"));
    }
}

#[async_trait]
impl CapabilityCalls for Everything {
    async fn call(
        &self,
        name: &str,
        arguments: &str,
        _: Afterwards,
    ) -> Result<Box<RawValue>, CapabilityError> {
        self.note(format!("call {name} {arguments}"));
        match name {
            "never" => std::future::pending().await,
            "meet" => {
                self.1.0.wait().await;
                Ok(to_raw_value("met").unwrap())
            }
            "refused" => Err(CapabilityError {
                json: json!({"status": "error", "code": "forbidden", "error": "no"}).to_string(),
                problem: Problem {
                    code: Some("forbidden".to_owned()),
                    message: "no".to_owned(),
                },
                transient: false,
            }),
            _ => Ok(to_raw_value(&json!({"unix": 7})).unwrap()),
        }
    }
}

async fn prepared(kit: &Kit) -> Prepared {
    let path = jp_test::guest("described");
    kit.runtime().prepare_path(path, &|_| {}).await.unwrap()
}

async fn call(kit: &Kit, arguments: &Value) -> Ended {
    kit.call("described", arguments).await
}

#[tokio::test]
async fn a_component_says_what_it_is() {
    for host in Host::ALL {
        let kit = Kit::new(host);
        let prepared = prepared(&kit).await;
        assert_eq!(
            prepared.kind(),
            ToolKind::Component {
                describes: true,
                requests: false
            }
        );
        assert_eq!(prepared.kind().speaks(), "jp:tool@0.2.0");
        for _ in 0..4 {
            let said = kit.runtime().describe(&prepared, &Limits::default()).await;
            let said = said.unwrap().unwrap();
            let tool = said.tool("described").unwrap();
            assert_eq!(tool.summary, "Calls capabilities.");
            assert_eq!(tool.parameters["type"], "object");
        }
    }
}

#[tokio::test]
async fn a_tool_of_the_first_version_has_nothing_to_say_about_itself() {
    let kit = Kit::new(Host::OnDemand);
    let path = jp_test::guest("echo");
    let echo = kit.runtime().prepare_path(path, &|_| {}).await.unwrap();
    assert_eq!(
        echo.kind(),
        ToolKind::Component {
            describes: false,
            requests: false
        }
    );
    let said = kit.runtime().describe(&echo, &Limits::default()).await;
    assert_eq!(said.unwrap(), None);
}

#[tokio::test]
async fn describing_is_limited_like_a_call() {
    let kit = Kit::new(Host::OnDemand);
    let limits = Limits {
        fuel: Some(10),
        ..Limits::default()
    };
    let said = kit.runtime().describe(&prepared(&kit).await, &limits).await;
    assert!(
        matches!(said, Err(Error::Limit { limit: Limit::Fuel })),
        "{said:?}"
    );
}

#[tokio::test]
async fn what_it_tells_is_heard_and_what_it_asks_is_answered() {
    for host in Host::ALL {
        let everything = Arc::new(Everything::default());
        let kit = Kit::new(host)
            .heard_by(Arc::<Everything>::clone(&everything))
            .answered_by(Arc::<Everything>::clone(&everything));
        let said = kit
            .answer(
                "described",
                &json!({"calls": ["clock.now_unix", "refused"]}),
            )
            .await;
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said[0]["ok"], r#"{"unix":7}"#);
        assert_eq!(
            (&said[1]["err"], &said[1]["message"]),
            (&json!("forbidden"), &json!("no"))
        );
        assert_eq!(
            everything.seen(),
            [
                "log Info probe",
                "progress clock.now_unix Some(0.0)",
                r#"call clock.now_unix {"a": 1}"#,
                "progress refused Some(0.5)",
                r#"call refused {"a": 1}"#,
                "progress done None",
            ]
        );
    }
}

#[tokio::test]
async fn without_anybody_there_it_runs_and_every_capability_is_forbidden() {
    for host in Host::ALL {
        let said = Kit::new(host)
            .answer("described", &json!({"calls": ["clock.now_unix"]}))
            .await;
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said[0]["err"], "forbidden");
        assert_eq!(
            said[0]["message"],
            "Capability 'clock.now_unix' is not allowed for tool 'probe'"
        );
    }
}

#[tokio::test]
async fn the_sixty_fifth_call_is_not_made() {
    let everything = Arc::new(Everything::default());
    let kit = Kit::new(Host::OnDemand).answered_by(Arc::<Everything>::clone(&everything));
    let calls = |count: usize| json!({"calls": vec!["x"; count]});
    assert!(call(&kit, &calls(64)).await.result.is_ok());
    let ended = call(&kit, &calls(65)).await;
    let Err(Error::Trap { reason }) = ended.result else {
        panic!()
    };
    assert_eq!(reason, "it made more than 64 capability calls in one call");
    assert_eq!(everything.seen().len(), 128);
}

#[tokio::test]
async fn waiting_for_an_answer_counts_against_the_deadline() {
    let everything = Arc::new(Everything::default());
    let kit = Kit::new(Host::OnDemand)
        .answered_by(everything)
        .limits(|limits| limits.time = std::time::Duration::from_millis(100));
    let ended = call(&kit, &json!({"calls": ["never"]})).await;
    assert!(matches!(
        ended.result,
        Err(Error::Limit { limit: Limit::Time })
    ));
}

#[tokio::test]
async fn calls_that_wait_for_each_other_are_under_way_together() {
    for host in Host::ALL {
        let kit = Kit::new(host).answered_by(Arc::new(Everything::default()));
        let together = json!({"together": ["meet", "refused", "meet"]});
        let said = kit.answer("described", &together).await;
        assert_eq!(said, r#"["\"met\"",["forbidden","\"met\""]]"#);
    }
}

#[tokio::test]
async fn calls_under_way_are_counted_and_stopped_like_others() {
    let everything = Arc::new(Everything::default());
    let kit = Kit::new(Host::OnDemand)
        .answered_by(Arc::<Everything>::clone(&everything))
        .limits(|limits| limits.time = std::time::Duration::from_millis(200));
    let ended = call(&kit, &json!({"together": vec!["never"; 64]})).await;
    assert!(
        matches!(ended.result, Err(Error::Limit { limit: Limit::Time })),
        "{:?}",
        ended.result
    );
    let ended = call(&kit, &json!({"together": vec!["never"; 65]})).await;
    assert!(
        matches!(ended.result, Err(Error::Trap { .. })),
        "{:?}",
        ended.result
    );
    assert_eq!(
        everything
            .seen()
            .iter()
            .filter(|line| line.starts_with("call"))
            .count(),
        128
    );
}

#[tokio::test]
async fn a_flood_of_events_is_output_and_stopped_like_it() {
    for text in ["", "many words"] {
        let ended = call(&Kit::new(Host::OnDemand), &json!({"flood": text})).await;
        assert!(
            matches!(
                ended.result,
                Err(Error::Limit {
                    limit: Limit::Output
                })
            ),
            "{:?}",
            ended.result
        );
    }
}

/// A component that exports the interface of the second version, but other functions.
#[tokio::test]
async fn an_interface_of_another_shape_is_refused() {
    let bytes = text::component(
        r#"(component
          (component $inner)
          (instance $guest (instantiate $inner))
          (export "jp:tool/guest@0.2.0" (instance $guest)))"#,
    );
    let made = Kit::new(Host::OnDemand).call_bytes(&bytes, "{}").await;
    let Err(Error::Instantiate { reason }) = made.result else {
        panic!("{:?}", made.result)
    };
    assert!(
        reason.contains("describe") || reason.contains("run"),
        "{reason}"
    );
}

#[tokio::test]
async fn old_components_still_answer() {
    let said = Kit::new(Host::OnDemand).call("counter", &json!({})).await;
    assert!(matches!(said.result, Ok(Outcome::Success { content }) if content == "1"));
}

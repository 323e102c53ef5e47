//! Conversions between the WIT types of `jp:tool@0.1.0` and those of `jp_tool`. What version 0.2.0
//! adds is in `answer.rs`.

use jp_tool::{Action, AnswerType, AnswerTypeError, Context, Outcome, Question};

/// Bindings generated from the contract.
#[expect(
    missing_docs,
    reason = "generated from the WIT text, which has the documentation"
)]
mod generated {
    wasmtime::component::bindgen!({
        world: "tool",
        path: "../jp_tool/wit/tool.wit",
        exports: { default: async },
    });
}

/// Bindings generated from the second version of the contract.
pub(crate) mod described {
    wasmtime::component::bindgen!({
        world: "described-tool",
        path: "../jp_tool/wit/0.2.0",
        imports: {
            "jp:tool/capabilities.call-capability": async | trappable,
            "jp:tool/capabilities.start-capability": async | trappable,
            "jp:tool/capabilities.[method]pending-call.take": async | trappable,
            default: trappable,
        },
        exports: { default: async },
        with: {
            "jp:tool/types@0.1.0": super::generated::jp::tool::types,
            "jp:tool/content@0.2.0.blob": crate::blob::KeptBlob,
            "jp:tool/capabilities@0.2.0.pending-call": crate::pending::PendingCall,
            "wasi:io/poll@0.2.0": wasmtime_wasi_io::bindings::wasi::io::poll,
        },
    });
}

pub use generated::jp::tool::types as wit;
pub(crate) use generated::{Tool as Guest, ToolPre as GuestPre};

/// Turns an outcome into its WIT form.
#[must_use]
pub fn to_wit_outcome(outcome: &Outcome) -> wit::Outcome {
    match outcome {
        Outcome::Success { content } => wit::Outcome::Success(content.clone()),
        Outcome::Error {
            message,
            trace,
            transient,
        } => wit::Outcome::Error(wit::ErrorInfo {
            message: message.clone(),
            trace: trace.clone(),
            transient: *transient,
        }),
        Outcome::NeedsInput { question } => wit::Outcome::NeedsInput(wit::Question {
            id: question.id.clone(),
            text: question.text.clone(),
            answer_type: question.answer_type.to_wit(),
            default: question.default.as_ref().map(ToString::to_string),
        }),
    }
}

/// Turns the WIT form into an outcome.
///
/// A question whose answer type or default cannot be read becomes a lasting error of the tool: it
/// is the tool that wrote it, and nobody could answer it.
#[must_use]
pub fn from_wit_outcome(outcome: wit::Outcome) -> Outcome {
    match outcome {
        wit::Outcome::Success(content) => Outcome::Success { content },
        wit::Outcome::Error(wit::ErrorInfo {
            message,
            trace,
            transient,
        }) => Outcome::Error {
            message,
            trace,
            transient,
        },
        wit::Outcome::NeedsInput(question) => match from_wit_question(question) {
            Ok(question) => Outcome::NeedsInput { question },
            Err(problem) => Outcome::failed(problem.to_string()),
        },
    }
}

/// What a tool did wrong in what it gave back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    #[error("the tool asked a question nobody can answer: {0}")]
    AnswerType(#[source] AnswerTypeError),
    #[error("the tool asked a question whose default is not JSON: {0}")]
    Default(#[source] serde_json::Error),
    #[error("the tool gave a structured result that is not JSON: {0}")]
    Structured(#[source] serde_json::Error),
}

/// Reads a question, or says what is wrong with it.
pub(crate) fn from_wit_question(question: wit::Question) -> Result<Question, AnswerError> {
    let wit::Question {
        id,
        text,
        answer_type,
        default,
    } = question;
    let answer_type = AnswerType::from_wit(&answer_type).map_err(AnswerError::AnswerType)?;
    let default = default.map(|json| serde_json::from_str(&json));
    let default = default.transpose().map_err(AnswerError::Default)?;
    Ok(Question {
        id,
        text,
        answer_type,
        default,
    })
}

pub(crate) fn to_wit_context(context: &Context) -> wit::Context {
    let action = match context.action {
        Action::Run => wit::Action::Run,
        Action::FormatArguments => wit::Action::FormatArguments,
    };
    wit::Context {
        root: context.root.as_str().to_owned(),
        action,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn test_outcome_roundtrip() {
        let outcome = Outcome::Success {
            content: "hello".into(),
        };
        let wit_outcome = to_wit_outcome(&outcome);
        let roundtrip = from_wit_outcome(wit_outcome);
        assert_eq!(outcome, roundtrip);
    }

    fn outcomes() -> impl Strategy<Value = Outcome> {
        let kinds = prop_oneof![
            Just(AnswerType::Boolean),
            Just(AnswerType::Text),
            proptest::collection::vec(".*", 0..4)
                .prop_map(|options| AnswerType::Select { options }),
        ];
        let defaults = proptest::option::of(prop_oneof![
            any::<bool>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ]);
        prop_oneof![
            ".*".prop_map(|content| Outcome::Success { content }),
            (".*", proptest::collection::vec(".*", 0..4), any::<bool>()).prop_map(
                |(message, trace, transient)| Outcome::Error {
                    message,
                    trace,
                    transient
                }
            ),
            (".*", ".*", kinds, defaults).prop_map(|(id, text, answer_type, default)| {
                Outcome::NeedsInput {
                    question: Question {
                        id,
                        text,
                        answer_type,
                        default,
                    },
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn every_outcome_survives_the_round_trip(outcome in outcomes()) {
            prop_assert_eq!(from_wit_outcome(to_wit_outcome(&outcome)), outcome);
        }
    }

    fn asked(answer_type: &str, default: Option<&str>) -> Outcome {
        from_wit_outcome(wit::Outcome::NeedsInput(wit::Question {
            id: "q".into(),
            text: "?".into(),
            answer_type: answer_type.into(),
            default: default.map(str::to_owned),
        }))
    }

    #[test]
    fn a_question_nobody_can_answer_is_an_error_of_the_tool() {
        for outcome in [asked("number", None), asked("text", Some("{"))] {
            assert!(
                matches!(
                    outcome,
                    Outcome::Error {
                        transient: false,
                        ..
                    }
                ),
                "{outcome:?}"
            );
        }
        let Outcome::NeedsInput { question } = asked("\"Boolean\"", Some("false")) else {
            panic!()
        };
        assert_eq!(
            (question.answer_type, question.default),
            (AnswerType::Boolean, Some(json!(false)))
        );
    }
}

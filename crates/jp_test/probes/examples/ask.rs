//! Asks for a name with the question `name`, and greets once it is answered.

use jp_probes::{Call, probe};
use jp_tool::{AnswerType, Outcome, Question};
use serde_json::Value;

fn run(call: &Call) -> Outcome {
    let answers: Value = serde_json::from_str(&call.answers).unwrap_or_default();
    match answers.get("name").and_then(Value::as_str) {
        Some(name) => format!("hello {name}").into(),
        None => Question {
            id: "name".into(),
            text: "Who are you?".into(),
            answer_type: AnswerType::Text,
            default: Some("nobody".into()),
        }
        .into(),
    }
}

probe!(run);

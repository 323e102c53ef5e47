//! Asks for a name with the question `name`, and greets once it is answered. `{"forever": true}` makes it ask for another
//! name after every answer.

use jp_probes::{Call, probe};
use jp_tool::{AnswerType, Outcome, Question};
use serde_json::Value;

fn run(call: &Call) -> Outcome {
    let answers: Value = serde_json::from_str(&call.answers).unwrap_or_default();
    let id = match call.get("forever") == true {
        true => format!(
            "name-{}",
            answers.as_object().map_or(0, |known| known.len())
        ),
        false => "name".to_owned(),
    };
    match answers.get(&id).and_then(Value::as_str) {
        Some(name) => format!("hello {name}").into(),
        None => Question {
            id,
            text: "Who are you?".into(),
            answer_type: AnswerType::Text,
            default: Some("nobody".into()),
        }
        .into(),
    }
}

probe!(run);

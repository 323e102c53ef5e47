//! Answers with `{"bytes": n}` bytes: as content, or with `{"as": …}` as the `message` or `trace`
//! of an error or the `text`, `options` or `default` of a question.

use jp_probes::{Call, probe};
use jp_tool::{AnswerType, Outcome, Question};

fn run(call: &Call) -> Outcome {
    let big = "x".repeat(call.number("bytes"));
    let mut question = Question {
        id: "q".into(),
        text: "?".into(),
        answer_type: AnswerType::Text,
        default: None,
    };
    match call.text("as").as_str() {
        "message" => return Outcome::failed(big),
        "trace" => {
            return Outcome::Error {
                message: "m".into(),
                trace: vec![big],
                transient: false,
            };
        }
        "text" => question.text = big,
        "options" => question.answer_type = AnswerType::Select { options: vec![big] },
        "default" => question.default = Some(big.into()),
        _ => return big.into(),
    }
    question.into()
}

probe!(run);

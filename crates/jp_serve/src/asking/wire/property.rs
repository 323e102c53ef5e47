//! A question as a field of a form.

use jp_tool::{AnswerType, Choice, Question};
use serde_json::{Value, json};

/// Returns the schema of the answer.
pub(super) fn of(question: &Question) -> Value {
    let mut property = kind(&question.answer_type);
    property["description"] = json!(question.text);
    if let Some(default) = fitting_default(question) {
        property["default"] = default.clone();
    }
    property
}

/// Tells whether the person must answer. A question with a default need not be answered.
pub(super) fn is_required(question: &Question) -> bool {
    fitting_default(question).is_none()
}

fn fitting_default(question: &Question) -> Option<&Value> {
    let default = question.default.as_ref()?;
    question
        .answer_type
        .check(default)
        .is_ok()
        .then_some(default)
}

fn kind(kind: &AnswerType) -> Value {
    match kind {
        AnswerType::Boolean => json!({ "type": "boolean" }),
        AnswerType::Text => json!({ "type": "string" }),
        AnswerType::Integer => json!({ "type": "integer" }),
        AnswerType::Number => json!({ "type": "number" }),
        AnswerType::Select { options } => json!({ "type": "string", "enum": options }),
        AnswerType::Choice { options } => json!({ "type": "string", "oneOf": titled(options) }),
        AnswerType::Labelled { options } => {
            let names: Vec<&str> = options.iter().map(Choice::shown).collect();
            json!({ "type": "string", "enum": values(options), "enumNames": names })
        }
        AnswerType::Choices { options } if options.iter().all(|one| one.title.is_none()) => {
            json!({ "type": "array", "items": { "type": "string", "enum": values(options) } })
        }
        AnswerType::Choices { options } => {
            json!({ "type": "array", "items": { "anyOf": titled(options) } })
        }
    }
}

fn values(options: &[Choice]) -> Vec<&str> {
    options.iter().map(|option| option.value.as_str()).collect()
}

fn titled(options: &[Choice]) -> Value {
    let one = |option: &Choice| json!({ "const": option.value, "title": option.shown() });
    options.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerRequest;

    use super::*;

    fn titles() -> Vec<Choice> {
        let one = |value: &str| Choice {
            value: value.to_owned(),
            title: Some(value.to_uppercase()),
        };
        vec![one("a"), one("b")]
    }

    /// What the library makes of a property on its way out.
    fn sent(property: &Value) -> Value {
        let request = json!({"method": "elicitation/create", "params": {"mode": "form",
            "message": "m", "requestedSchema": {"type": "object", "properties": {"p": property}}}});
        let request: ServerRequest = serde_json::from_value(request).unwrap();
        let sent = serde_json::to_value(&request).unwrap();
        sent["params"]["requestedSchema"]["properties"]["p"].clone()
    }

    #[test]
    fn every_answer_type_has_a_schema_that_reaches_the_client() {
        let both = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
        let plain = ["a", "b"]
            .map(|value| Choice::from(value.to_owned()))
            .to_vec();
        for (answer_type, default, expected) in [
            (
                AnswerType::Integer,
                json!(30),
                json!({"type": "integer", "default": 30}),
            ),
            (
                AnswerType::Number,
                json!(95.5),
                json!({"type": "number", "default": 95.5}),
            ),
            (
                AnswerType::Choice { options: titles() },
                json!("a"),
                json!({"type": "string", "oneOf": both, "default": "a"}),
            ),
            (
                AnswerType::Labelled { options: titles() },
                json!("c"),
                json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            ),
            (
                AnswerType::Choices { options: titles() },
                json!(["b"]),
                json!({"type": "array", "items": {"anyOf": both}, "default": ["b"]}),
            ),
            (
                AnswerType::Choices { options: plain },
                json!(null),
                json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
            ),
        ] {
            let question = Question {
                id: "p".to_owned(),
                text: "P?".to_owned(),
                answer_type,
                default: Some(default),
            };
            let property = of(&question);
            let mut expected = expected;
            expected["description"] = json!("P?");
            assert_eq!(property, expected);
            assert_eq!(sent(&property), expected);
            assert_eq!(is_required(&question), expected.get("default").is_none());
        }
    }
}

//! Answer types that came after `jp:tool@0.1.0`, and what can be chosen.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::AnswerType;

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What the tool is told.
    pub value: String,

    /// What the person is shown; the value where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Choice {
    /// Returns what the person is shown.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

/// A value that speaks for itself.
impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self { value, title: None }
    }
}

/// The JSON form of the later types.
#[derive(Deserialize)]
enum Later {
    #[serde(alias = "integer")]
    Integer,
    #[serde(alias = "number")]
    Number,
    #[serde(alias = "choice")]
    Choice { options: Vec<Choice> },
    #[serde(alias = "labelled")]
    Labelled { options: Vec<Choice> },
    #[serde(alias = "choices")]
    Choices { options: Vec<Choice> },
}

/// Reads one of the later types.
pub(super) fn later(value: &Value) -> Option<AnswerType> {
    Some(match Later::deserialize(value).ok()? {
        Later::Integer => AnswerType::Integer,
        Later::Number => AnswerType::Number,
        Later::Choice { options } => AnswerType::Choice { options },
        Later::Labelled { options } => AnswerType::Labelled { options },
        Later::Choices { options } => AnswerType::Choices { options },
    })
}

pub(super) fn is_among(options: &[Choice], answer: &Value) -> bool {
    options.iter().any(|option| *answer == option.value)
}

/// Tells whether a number is whole. Some clients write whole numbers as `30.0`.
pub(super) fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|value| value.fract() == 0.0)
}

pub(super) fn values(options: &[Choice]) -> Value {
    options.iter().map(|option| option.value.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options() -> Vec<Choice> {
        let titled = Choice {
            value: "a".to_owned(),
            title: Some("A".to_owned()),
        };
        vec![titled, "b".to_owned().into()]
    }

    #[test]
    fn later_types_have_a_json_form_and_none_in_0_1_0() {
        let both = json!([{"value": "a", "title": "A"}, {"value": "b"}]);
        for (kind, form) in [
            (AnswerType::Integer, json!("Integer")),
            (AnswerType::Number, json!("Number")),
            (
                AnswerType::Choice { options: options() },
                json!({"Choice": {"options": both}}),
            ),
            (
                AnswerType::Labelled { options: options() },
                json!({"Labelled": {"options": both}}),
            ),
            (
                AnswerType::Choices { options: options() },
                json!({"Choices": {"options": both}}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&kind).unwrap(), form);
            let lower = form
                .to_string()
                .to_lowercase()
                .replace("\"title\":\"a\"", "\"title\":\"A\"");
            for text in [form.to_string(), lower] {
                assert_eq!(serde_json::from_str::<AnswerType>(&text).unwrap(), kind);
                assert!(AnswerType::from_wit(&text).is_err(), "{text}");
            }
            assert!(AnswerType::from_wit(&kind.to_wit()).is_err());
        }
    }

    #[test]
    fn answers_of_later_types_are_checked() {
        let (one, many) = (
            AnswerType::Labelled { options: options() },
            AnswerType::Choices { options: options() },
        );
        for (kind, answer, fits) in [
            (&AnswerType::Integer, json!(-3), true),
            (&AnswerType::Integer, json!(30.0), true),
            (&AnswerType::Integer, json!(1.5), false),
            (&AnswerType::Integer, json!("3"), false),
            (&AnswerType::Number, json!(1.5), true),
            (&AnswerType::Number, json!(true), false),
            (&one, json!("a"), true),
            (&one, json!("A"), false),
            (&one, json!(["a"]), false),
            (&many, json!(["a", "b"]), true),
            (&many, json!([]), true),
            (&many, json!(["a", "c"]), false),
            (&many, json!("a"), false),
        ] {
            assert_eq!(kind.check(&answer).is_ok(), fits, "{kind:?} {answer}");
        }
        let error = one.check(&json!("c")).unwrap_err().to_string();
        assert_eq!(error, r#"expected one of ["a","b"], got "c""#);
    }
}

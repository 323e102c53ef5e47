//! Questions a tool may ask, and which answers fit them.

mod choice;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use choice::Choice;

/// Something a tool must know before it can go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The name under which the answer is handed back.
    pub id: String,

    /// The question, on one line.
    pub text: String,

    /// What counts as an answer.
    pub answer_type: AnswerType,

    /// The answer to take when nobody chooses another.
    #[serde(default)]
    pub default: Option<Value>,
}

/// What counts as an answer to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum AnswerType {
    /// Yes or no.
    Boolean,

    /// One of the options.
    Select {
        /// What can be chosen.
        options: Vec<String>,
    },

    /// Any text.
    Text,

    /// A whole number.
    Integer,

    /// A number.
    Number,

    /// One of the options, by its value.
    Choice {
        /// What can be chosen.
        options: Vec<Choice>,
    },

    /// The same, put to MCP clients in the form that those of 2025-06-18 know too.
    Labelled {
        /// What can be chosen.
        options: Vec<Choice>,
    },

    /// Any number of the options, as an array of their values.
    Choices {
        /// What can be chosen.
        options: Vec<Choice>,
    },
}

/// Why an answer type or an answer was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerTypeError(String);

impl fmt::Display for AnswerTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AnswerTypeError {}

impl AnswerTypeError {
    pub(crate) fn expected(what: &str, got: &Value) -> Self {
        Self(format!("expected {what}, got {}", shorten(got)))
    }
}

impl Question {
    /// Returns how many bytes of output this is.
    #[must_use]
    pub fn size(&self) -> usize {
        let default = self.default.as_ref().map(ToString::to_string);
        self.id
            .len()
            .saturating_add(self.text.len())
            .saturating_add(self.answer_type.to_wit().len())
            .saturating_add(default.map_or(0, |json| json.len()))
    }
}

impl AnswerType {
    /// Writes the form that `jp:tool@0.1.0` uses: `boolean`, `text` or `{"select":{"options":[…]}}`. The
    /// other types have none there; what is written for them is read by nobody.
    #[must_use]
    pub fn to_wit(&self) -> String {
        match self {
            Self::Boolean => "boolean".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Select { options } => {
                serde_json::json!({"select": {"options": options}}).to_string()
            }
            other => serde_json::json!(other).to_string(),
        }
    }

    /// Returns what can be chosen, if it is a choice.
    #[must_use]
    pub fn options(&self) -> Vec<Choice> {
        match self {
            Self::Select { options } => options.iter().cloned().map(Choice::from).collect(),
            Self::Choice { options } | Self::Labelled { options } | Self::Choices { options } => {
                options.clone()
            }
            Self::Boolean | Self::Text | Self::Integer | Self::Number => Vec::new(),
        }
    }

    /// Reads either spelling (`boolean` or `Boolean`, `select` or `Select`), bare or JSON-quoted.
    ///
    /// # Errors
    ///
    /// When the text is no answer type.
    pub fn from_wit(text: &str) -> Result<Self, AnswerTypeError> {
        let text = text.trim();
        match serde_json::from_str(text) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self::from_name(text),
        }
    }

    /// Checks an answer against this type.
    ///
    /// # Errors
    ///
    /// When the answer does not fit; the error says what would.
    pub fn check(&self, answer: &Value) -> Result<(), AnswerTypeError> {
        if self.fits(answer) {
            return Ok(());
        }
        let expected = match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Select { options } => format!("one of {}", Value::from(options.clone())),
            Self::Choice { options } | Self::Labelled { options } => {
                format!("one of {}", choice::values(options))
            }
            Self::Choices { options } => format!("an array of {}", choice::values(options)),
        };
        Err(AnswerTypeError::expected(&expected, answer))
    }

    fn fits(&self, answer: &Value) -> bool {
        match (self, answer) {
            (Self::Boolean, Value::Bool(_))
            | (Self::Text, Value::String(_))
            | (Self::Number, Value::Number(_)) => true,
            (Self::Integer, Value::Number(number)) => choice::is_whole(number),
            (Self::Select { options }, Value::String(choice)) => options.contains(choice),
            (Self::Choice { options } | Self::Labelled { options }, one) => {
                choice::is_among(options, one)
            }
            (Self::Choices { options }, Value::Array(many)) => {
                many.iter().all(|one| choice::is_among(options, one))
            }
            _ => false,
        }
    }

    fn from_name(name: &str) -> Result<Self, AnswerTypeError> {
        match name {
            "boolean" | "Boolean" => Ok(Self::Boolean),
            "text" | "Text" => Ok(Self::Text),
            _ => Err(AnswerTypeError(format!(
                "unknown answer type {}, expected `boolean`, `text` or `select` with options",
                shorten(&Value::from(name))
            ))),
        }
    }

    fn from_value(value: &Value) -> Result<Self, AnswerTypeError> {
        let unknown = || Self::from_name(&shorten(value));
        match value {
            Value::String(name) => Self::from_name(name),
            Value::Object(map) if map.len() == 1 => {
                let Some(select) = map.get("select").or_else(|| map.get("Select")) else {
                    return unknown();
                };
                let options = select.get("options").and_then(Value::as_array);
                let texts = options
                    .and_then(|all| all.iter().map(|o| o.as_str().map(str::to_owned)).collect());
                match texts {
                    Some(options) => Ok(Self::Select { options }),
                    None => Err(AnswerTypeError(
                        "`select` needs `options`, an array of texts".to_owned(),
                    )),
                }
            }
            _ => unknown(),
        }
    }
}

impl<'de> Deserialize<'de> for AnswerType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match choice::later(&value) {
            Some(kind) => Ok(kind),
            None => Self::from_value(&value).map_err(serde::de::Error::custom),
        }
    }
}

/// Quotes a value in a message without letting a guest make the message huge.
fn shorten(value: &Value) -> String {
    jp_text::shorten(&value.to_string(), 80).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn select(options: &[&str]) -> AnswerType {
        AnswerType::Select {
            options: options.iter().map(|o| (*o).to_owned()).collect(),
        }
    }

    #[test]
    fn both_spellings_are_understood_bare_and_quoted() {
        for text in ["boolean", "Boolean", "\"boolean\"", " \"Boolean\" "] {
            assert_eq!(
                AnswerType::from_wit(text).unwrap(),
                AnswerType::Boolean,
                "{text}"
            );
        }
        for text in ["text", "Text", "\"text\""] {
            assert_eq!(
                AnswerType::from_wit(text).unwrap(),
                AnswerType::Text,
                "{text}"
            );
        }
        for key in ["select", "Select"] {
            let text = format!(r#"{{"{key}":{{"options":["a","b"]}}}}"#);
            assert_eq!(AnswerType::from_wit(&text).unwrap(), select(&["a", "b"]));
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_would_fit() {
        for text in [
            "",
            "yes",
            "7",
            "{}",
            r#"{"select":[]}"#,
            r#"{"select":{"options":[1]}}"#,
        ] {
            assert!(AnswerType::from_wit(text).is_err(), "{text}");
        }
        let error = AnswerType::from_wit(&"x".repeat(100_000))
            .unwrap_err()
            .to_string();
        assert!(error.len() < 300, "{}", error.len());
    }

    #[test]
    fn answers_are_checked_against_their_type() {
        assert!(AnswerType::Boolean.check(&json!(true)).is_ok());
        assert!(AnswerType::Text.check(&json!("x")).is_ok());
        assert!(select(&["a"]).check(&json!("a")).is_ok());
        let error = select(&["a", "b"])
            .check(&json!("c"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, r#"expected one of ["a","b"], got "c""#);
        let error = AnswerType::Boolean
            .check(&json!("yes"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, r#"expected true or false, got "yes""#);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = AnswerType::from_wit(&text);
        }

        #[test]
        fn options_survive_the_wit_form(options in proptest::collection::vec(".*", 0..5)) {
            let kind = AnswerType::Select { options };
            prop_assert_eq!(AnswerType::from_wit(&kind.to_wit()).unwrap(), kind);
        }
    }
}

//! What a tool may have to know before it can go on: answers of a person, a message of the caller's
//! model, the places the caller works in.

use serde_json::{Value, json};

use crate::{AnswerType, AnswerTypeError, Question, Role};

/// One thing a tool must know.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An answer of the person.
    Question(Question),

    /// A message of the caller's model.
    Sample(Sample),

    /// The places the caller works in.
    Roots {
        /// The name under which they are handed back.
        id: String,
    },
}

/// What the caller's model is to go on with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// The name under which the message is handed back.
    pub id: String,

    /// What was said so far.
    pub messages: Vec<SampleMessage>,

    /// What the model is told first.
    pub system_prompt: Option<String>,

    /// The most tokens it may write.
    pub max_tokens: u32,
}

/// A message to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleMessage {
    /// Who says it.
    pub role: Role,

    /// What it says.
    pub text: String,
}

impl From<Question> for Input {
    fn from(question: Question) -> Self {
        Self::Question(question)
    }
}

impl Input {
    /// Returns the name under which the answer is handed back.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Question(question) => &question.id,
            Self::Sample(sample) => &sample.id,
            Self::Roots { id } => id,
        }
    }

    /// Returns it as a question, for those who can only be asked questions.
    #[must_use]
    pub fn to_question(&self) -> Question {
        let text = match self {
            Self::Question(question) => return question.clone(),
            Self::Sample(sample) => {
                let last = sample.messages.last();
                let last = last.map_or("", |message| message.text.as_str());
                format!("How does your model answer this? {last}")
            }
            Self::Roots { .. } => "Which directory do you work in, as a URI?".to_owned(),
        };
        Question {
            id: self.id().to_owned(),
            text,
            answer_type: AnswerType::Text,
            default: None,
        }
    }

    /// Checks an answer, and returns it in the form that the tool is told it in. A text is enough for
    /// everything that [`Self::to_question`] makes a question of.
    ///
    /// # Errors
    ///
    /// When the answer does not fit; the error says what would.
    pub fn check(&self, answer: Value) -> Result<Value, AnswerTypeError> {
        match (self, answer) {
            (Self::Question(question), answer) => {
                question.answer_type.check(&answer).map(|()| answer)
            }
            (Self::Sample(_), Value::String(text)) => Ok(json!({ "text": text })),
            (Self::Sample(_), answer) if answer["text"].is_string() => Ok(answer),
            (Self::Sample(_), answer) => Err(AnswerTypeError::expected(
                "a text, or an object with the field `text`",
                &answer,
            )),
            (Self::Roots { .. }, Value::String(uri)) => Ok(json!([{ "uri": uri }])),
            (Self::Roots { .. }, answer) => match answer.as_array() {
                Some(roots) if roots.iter().all(|root| root["uri"].is_string()) => Ok(answer),
                _ => Err(AnswerTypeError::expected(
                    "a URI, or an array of objects with the field `uri`",
                    &answer,
                )),
            },
        }
    }

    /// Returns how many bytes of output this is.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Question(question) => question.size(),
            Self::Sample(sample) => {
                let messages = sample.messages.iter().map(|message| message.text.len());
                let system_prompt = sample.system_prompt.as_ref().map_or(0, String::len);
                messages
                    .fold(system_prompt, usize::saturating_add)
                    .saturating_add(sample.id.len())
            }
            Self::Roots { id } => id.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Input {
        Input::Sample(Sample {
            id: "s".to_owned(),
            messages: vec![SampleMessage {
                role: Role::User,
                text: "2 + 2?".to_owned(),
            }],
            ..Sample::default()
        })
    }

    fn roots() -> Input {
        Input::Roots { id: "r".to_owned() }
    }

    #[test]
    fn a_text_answers_every_kind_and_more_is_kept() {
        let question = Input::from(sample().to_question());
        for (input, answer, kept) in [
            (question, json!("4"), json!("4")),
            (sample(), json!("4"), json!({"text": "4"})),
            (
                sample(),
                json!({"text": "4", "model": "m"}),
                json!({"text": "4", "model": "m"}),
            ),
            (roots(), json!("file:///a"), json!([{"uri": "file:///a"}])),
            (
                roots(),
                json!([{"uri": "a:b", "name": "b"}]),
                json!([{"uri": "a:b", "name": "b"}]),
            ),
            (roots(), json!([]), json!([])),
        ] {
            assert_eq!(input.check(answer).unwrap(), kept);
        }
        assert_eq!(
            sample().to_question().text,
            "How does your model answer this? 2 + 2?"
        );
    }

    #[test]
    fn an_answer_that_does_not_fit_says_what_would() {
        for (input, answer, expected) in [
            (
                sample(),
                json!({"words": 1}),
                "an object with the field `text`",
            ),
            (sample(), json!(4), "a text"),
            (roots(), json!([{"uri": 1}]), "a URI"),
            (roots(), json!({}), "an array of objects"),
        ] {
            let error = input.check(answer).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

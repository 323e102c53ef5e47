//! What a tool may have to know before it can go on: answers of a person, a message of the caller's
//! model, the places the caller works in.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::{AnswerType, AnswerTypeError, Question, Role};

/// One thing a tool must know.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An answer of the person.
    Question(Question),

    /// Several answers of the person at once.
    Form(Form),

    /// A message of the caller's model.
    Sample(Sample),

    /// The places the caller works in.
    Roots {
        /// The name under which they are handed back.
        id: String,
    },
}

/// Questions that a person answers together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Form {
    /// The name under which the answers are handed back.
    pub id: String,

    /// What they are about, on one line.
    pub text: String,

    /// The questions. One that has a default need not be answered.
    pub questions: Vec<Question>,
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
            Self::Form(form) => &form.id,
            Self::Sample(sample) => &sample.id,
            Self::Roots { id } => id,
        }
    }

    /// Returns it as a question, for those who can only be asked questions.
    #[must_use]
    pub fn to_question(&self) -> Question {
        let text = match self {
            Self::Question(question) => return question.clone(),
            Self::Form(form) => form.to_string(),
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
    /// everything that [`Self::to_question`] makes a question of, except for a form.
    ///
    /// # Errors
    ///
    /// When the answer does not fit; the error says what would.
    pub fn check(&self, answer: Value) -> Result<Value, AnswerTypeError> {
        match (self, answer) {
            (Self::Question(question), answer) => {
                question.answer_type.check(&answer).map(|()| answer)
            }
            (Self::Form(form), answer) => form.check(&answer),
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
            Self::Form(form) => form
                .questions
                .iter()
                .map(Question::size)
                .fold(form.text.len(), usize::saturating_add)
                .saturating_add(form.id.len()),
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

impl Form {
    /// Checks the answers, and returns those to its questions, with defaults for those left out.
    fn check(&self, answers: &Value) -> Result<Value, AnswerTypeError> {
        let Some(given) = answers.as_object() else {
            return Err(AnswerTypeError::expected("an object", answers));
        };
        let mut all = Map::new();
        for question in &self.questions {
            let answer = given.get(&question.id).or(question.default.as_ref());
            let answer = answer.unwrap_or(&Value::Null);
            question.answer_type.check(answer)?;
            all.insert(question.id.clone(), answer.clone());
        }
        Ok(Value::Object(all))
    }
}

/// What it is about, and its questions.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        for question in &self.questions {
            write!(f, " {}", question.text)?;
        }
        Ok(())
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

    #[test]
    fn a_form_is_checked_question_by_question_and_completed() {
        let question = |id: &str, answer_type, default| Question {
            id: id.to_owned(),
            text: format!("{id}?"),
            answer_type,
            default,
        };
        let form = Input::Form(Form {
            id: "f".to_owned(),
            text: "Please:".to_owned(),
            questions: vec![
                question("age", AnswerType::Integer, None),
                question("name", AnswerType::Text, Some(json!("jp"))),
            ],
        });
        for (answer, expected) in [
            (json!({"age": 3}), Some(json!({"age": 3, "name": "jp"}))),
            (
                json!({"age": 3, "name": "ada", "more": 1}),
                Some(json!({"age": 3, "name": "ada"})),
            ),
            (json!({"name": "ada"}), None),
            (json!({"age": "3"}), None),
            (json!({"age": 3, "name": 5}), None),
            (json!("3"), None),
        ] {
            assert_eq!(form.check(answer.clone()).ok(), expected, "{answer}");
        }
        assert_eq!(form.to_question().text, "Please: age? name?");
        // Of each question: id, text, type and default.
        let questions = (3 + 4 + 9) + (4 + 5 + 4 + 4);
        assert_eq!(form.size(), 1 + 7 + questions);
    }
}

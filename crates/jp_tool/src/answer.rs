//! All that a tool said in one run: its outcome, and what no text can hold.

use crate::{Content, Input, Outcome, Part, Question};

/// What a tool said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The outcome; its text stands for all of it.
    pub outcome: Outcome,

    /// What it said beside that.
    pub beside: Beside,
}

/// What a tool said beside its outcome. Empty where a text says it all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Beside {
    /// The parts of its result, and its result as data.
    pub content: Content,

    /// All it must know before it can go on, where that is more than the question of its outcome.
    pub inputs: Vec<Input>,

    /// Whether one of the inputs is enough.
    pub any: bool,

    /// What it complains about, where the message of its outcome is a document for a model.
    pub problem: Option<Problem>,
}

/// What a tool complains about, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The word that stands for its kind, such as `forbidden`.
    pub code: Option<String>,

    /// What happened.
    pub message: String,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            beside: Beside::default(),
        }
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Outcome::from(text).into()
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Outcome::from(text).into()
    }
}

impl From<Question> for Answer {
    fn from(question: Question) -> Self {
        Outcome::from(question).into()
    }
}

/// A success whose text is made of all its parts. One that is text alone is nothing else.
impl From<Content> for Answer {
    fn from(mut content: Content) -> Self {
        let is_text = content.structured.is_none()
            && matches!(content.parts.as_slice(), [Part::Text(part)] if part.annotations.is_none());
        if is_text && let Some(Part::Text(part)) = content.parts.pop() {
            return part.text.into();
        }
        Self {
            outcome: Outcome::Success {
                content: content.text(),
            },
            beside: Beside {
                content,
                ..Beside::default()
            },
        }
    }
}

impl Answer {
    /// Makes the answer of a tool that must know all of these before it can go on.
    #[must_use]
    pub fn needs(mut inputs: Vec<Input>) -> Self {
        let Some(first) = inputs.first() else {
            return Outcome::failed("the tool asked for input and did not say for which").into();
        };
        let question = first.to_question();
        if let [Input::Question(_)] = inputs.as_slice() {
            inputs.clear();
        }
        Self {
            outcome: Outcome::NeedsInput { question },
            beside: Beside {
                inputs,
                ..Beside::default()
            },
        }
    }

    /// Makes the answer of a tool that must know at least one of these before it can go on.
    #[must_use]
    pub fn needs_any(inputs: Vec<Input>) -> Self {
        let mut answer = Self::needs(inputs);
        answer.beside.any = !answer.beside.inputs.is_empty();
        answer
    }

    /// Adds what the tool complains about.
    #[must_use]
    pub fn with_problem(self, problem: Option<Problem>) -> Self {
        Self {
            beside: Beside {
                problem,
                ..self.beside
            },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_text_alone_is_kept_once() {
        let answer = Answer::from(Content::from(vec![Part::from("hi")]));
        assert_eq!(answer, Answer::from("hi"));
        let answer = Answer::from(Content {
            parts: vec![Part::from("three")],
            structured: Some(json!(3)),
        });
        assert_eq!(answer.outcome, Outcome::from("three"));
        assert_eq!(answer.beside.content.parts.len(), 1);
    }

    #[test]
    fn the_first_of_many_inputs_stands_for_all() {
        let roots = |id: &str| Input::Roots { id: id.to_owned() };
        let question = roots("a").to_question();
        let one = Answer::needs(vec![question.clone().into()]);
        assert_eq!(one, Answer::from(question.clone()));
        let two = Answer::needs(vec![roots("a"), roots("b")]);
        assert_eq!(two.outcome, Outcome::NeedsInput { question });
        assert_eq!(two.beside.inputs.len(), 2);
        let none = Answer::needs(Vec::new()).outcome;
        assert!(matches!(none, Outcome::Error { .. }), "{none:?}");
    }
}

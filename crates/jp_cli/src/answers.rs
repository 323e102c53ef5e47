//! Answers to a tool's questions: from the command line, or from the person at the keyboard.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use jp_llm::{AskRequest, Asker};
use jp_tool::{AnswerType, Question};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    error::CliError,
    progress::Progress,
    prompt::{self, Typed},
    text,
    ui::{Style, Ui},
};

/// Options that are listed.
const MAX_OPTIONS: usize = 200;

/// The answers of the command line, by question.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    given: BTreeMap<String, String>,
}

impl Answers {
    /// Reads `id=value` words.
    pub(crate) fn parse(words: &[String]) -> Result<Self, CliError> {
        let mut given = BTreeMap::new();
        for word in words {
            let Some((id, value)) = word.split_once('=').filter(|(id, _)| !id.is_empty()) else {
                return Err(CliError::usage(format!(
                    "invalid `--answer {word}`: expected ID=VALUE"
                )));
            };
            if given.insert(id.to_owned(), value.to_owned()).is_some() {
                return Err(CliError::usage(format!("`--answer {id}=…` is given twice")));
            }
        }
        Ok(Self { given })
    }

    /// Takes the answer that was given to a question.
    fn take(&mut self, question: &Question) -> Result<Option<Value>, CliError> {
        let Some(text) = self.given.remove(&question.id) else {
            return Ok(None);
        };
        match read(&text, &question.answer_type) {
            Ok(answer) => Ok(Some(answer)),
            Err(expected) => Err(CliError::usage(format!(
                "invalid `--answer {}={}`: expected {expected}",
                text::escape(&question.id),
                text::escape(&text)
            ))),
        }
    }
}

/// Answers what tools ask: from the command line, or by asking the person at the keyboard.
pub(crate) struct TerminalAsker {
    ui: Ui,
    cancel: CancellationToken,
    progress: Arc<Progress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: Answers,
    failed: Option<CliError>,
}

impl TerminalAsker {
    pub(crate) fn new(
        answers: Answers,
        ui: &Ui,
        cancel: &CancellationToken,
        progress: &Arc<Progress>,
    ) -> Self {
        Self {
            ui: ui.clone(),
            cancel: cancel.clone(),
            progress: Arc::clone(progress),
            state: Mutex::new(State {
                answers,
                failed: None,
            }),
        }
    }

    /// Returns why an answer of the command line could not be used.
    pub(crate) fn failed(&self) -> Option<CliError> {
        self.lock().failed.take()
    }

    /// Returns the answers that no question was asked for.
    pub(crate) fn unasked(&self) -> Vec<String> {
        self.lock().answers.given.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given(&self, question: &Question) -> Option<Value> {
        let mut state = self.lock();
        let taken = state.answers.take(question);
        taken.unwrap_or_else(|error| {
            state.failed = Some(error);
            None
        })
    }
}

#[async_trait]
impl Asker for TerminalAsker {
    async fn ask(&self, request: &AskRequest<'_>) -> Option<Value> {
        let given = self.given(request.question);
        if given.is_some() || self.lock().failed.is_some() || !self.ui.can_ask {
            return given;
        }
        self.progress.pause(&self.ui);
        let answer = ask(request.tool, request.question, &self.ui, &self.cancel).await;
        self.progress.resume(request.tool);
        answer
    }
}

/// What would fit in the place of an answer that does not.
#[derive(Debug, thiserror::Error)]
enum Expected {
    #[error("yes or no")]
    YesOrNo,
    #[error("one of {}", options.join(", "))]
    OneOf { options: Vec<String> },
    #[error("some of {}, with commas between them", options.join(", "))]
    SomeOf { options: Vec<String> },
    #[error("a whole number")]
    WholeNumber,
    #[error("a number")]
    Number,
}

/// Reads an answer as its question wants it; otherwise says what would fit.
fn read(text: &str, kind: &AnswerType) -> Result<Value, Expected> {
    match kind {
        AnswerType::Text => Ok(text.into()),
        AnswerType::Boolean => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "y" => Ok(true.into()),
            "false" | "no" | "n" => Ok(false.into()),
            _ => Err(Expected::YesOrNo),
        },
        AnswerType::Integer => {
            let number = text.trim().parse::<i64>();
            number.map(Value::from).map_err(|_| Expected::WholeNumber)
        }
        AnswerType::Number => {
            let number = text.trim().parse::<f64>().ok();
            let number = number.and_then(serde_json::Number::from_f64);
            number.map(Value::Number).ok_or(Expected::Number)
        }
        AnswerType::Choices { .. } => {
            let words = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            let answer: Value = words.map(|word| chosen(word, kind)).collect();
            match kind.check(&answer) {
                Ok(()) => Ok(answer),
                Err(_) => Err(Expected::SomeOf {
                    options: values(kind),
                }),
            }
        }
        AnswerType::Select { .. } | AnswerType::Choice { .. } | AnswerType::Labelled { .. } => {
            let answer = Value::from(text);
            match kind.check(&answer) {
                Ok(()) => Ok(answer),
                Err(_) => Err(Expected::OneOf {
                    options: values(kind),
                }),
            }
        }
    }
}

fn values(kind: &AnswerType) -> Vec<String> {
    let options = kind.options();
    let shown = options.iter().take(MAX_OPTIONS);
    shown
        .map(|option| text::escape(&option.value).to_string())
        .collect()
}

async fn ask(
    tool: &str,
    question: &Question,
    ui: &Ui,
    cancel: &CancellationToken,
) -> Option<Value> {
    // The name in front: a guest's question must not pass for one of ours.
    let name = ui.paint(Style::Strong, text::escape(tool));
    let asked = text::one_line(&question.text);
    ui.say(format_args!("{name} asks: {}", text::shorten(&asked, 2000)));
    let options = question.answer_type.options();
    for (at, option) in options.iter().take(MAX_OPTIONS).enumerate() {
        ui.say(format_args!(
            "  {}. {}",
            at + 1,
            text::one_line(option.shown())
        ));
    }
    if options.len() > MAX_OPTIONS {
        ui.say(format_args!("  … and {} more", options.len() - MAX_OPTIONS));
    }
    let default = question
        .default
        .as_ref()
        .filter(|answer| question.answer_type.check(answer).is_ok());
    loop {
        ui.write(&ui.paint(Style::Strong, keys(&question.answer_type, default)));
        let line = match prompt::line(cancel).await {
            Typed::Line(line) => line,
            Typed::Ended | Typed::TimedOut | Typed::Cancelled => {
                ui.say("");
                return None;
            }
        };
        match (line.as_str(), default) {
            ("", Some(default)) => return Some(default.clone()),
            (line, _) => match read(&chosen(line, &question.answer_type), &question.answer_type) {
                Ok(answer) => return Some(answer),
                Err(expected) => ui.say(format_args!("Please type {expected}.")),
            },
        }
    }
}

/// Returns the option a number stands for; a text that is an option itself wins.
fn chosen(line: &str, kind: &AnswerType) -> String {
    let options = kind.options();
    if options.is_empty() {
        return line.to_owned();
    }
    let line = line.trim();
    let numbered = line
        .parse::<usize>()
        .ok()
        .and_then(|number| options.get(number.checked_sub(1)?));
    match numbered {
        Some(option) if !options.iter().any(|option| option.value == line) => option.value.clone(),
        _ => line.to_owned(),
    }
}

fn keys(kind: &AnswerType, default: Option<&Value>) -> String {
    let default = default.map(|value| match value {
        Value::String(text) => text::shorten(&text::one_line(text), 80).into_owned(),
        other => other.to_string(),
    });
    match (kind, default.as_deref()) {
        (AnswerType::Boolean, Some("true")) => "[Y/n] ".to_owned(),
        (AnswerType::Boolean, Some(_)) => "[y/N] ".to_owned(),
        (AnswerType::Boolean, None) => "[y/n] ".to_owned(),
        (_, Some(default)) => format!("[{default}] > "),
        (AnswerType::Choices { .. }, None) => "numbers or texts, with commas > ".to_owned(),
        (
            AnswerType::Select { .. } | AnswerType::Choice { .. } | AnswerType::Labelled { .. },
            None,
        ) => "number or text > ".to_owned(),
        (AnswerType::Text | AnswerType::Integer | AnswerType::Number, None) => "> ".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jp_tool::Choice;
    use serde_json::json;

    use super::*;

    fn select() -> AnswerType {
        AnswerType::Select {
            options: vec!["red".into(), "2".into(), "blue".into()],
        }
    }

    fn choices() -> Vec<Choice> {
        let titled = Choice {
            value: "a".into(),
            title: Some("A".into()),
        };
        vec![titled, "b".to_owned().into()]
    }

    #[test]
    fn words_become_the_answers_that_questions_want() {
        for (text, kind, answer) in [
            ("Yes", AnswerType::Boolean, json!(true)),
            ("n", AnswerType::Boolean, json!(false)),
            ("true", AnswerType::Text, json!("true")),
            ("blue", select(), json!("blue")),
            (" -3 ", AnswerType::Integer, json!(-3)),
            ("95.5", AnswerType::Number, json!(95.5)),
            ("b", AnswerType::Choice { options: choices() }, json!("b")),
            (
                "1, b",
                AnswerType::Choices { options: choices() },
                json!(["a", "b"]),
            ),
            ("", AnswerType::Choices { options: choices() }, json!([])),
        ] {
            assert_eq!(read(text, &kind).unwrap(), answer);
        }
        assert_eq!(
            read("maybe", &AnswerType::Boolean).unwrap_err().to_string(),
            "yes or no"
        );
        for (text, kind, expected) in [
            ("green", select(), "one of red, 2, blue"),
            ("1.5", AnswerType::Integer, "a whole number"),
            ("NaN", AnswerType::Number, "a number"),
            (
                "A",
                AnswerType::Labelled { options: choices() },
                "one of a, b",
            ),
            (
                "a,c",
                AnswerType::Choices { options: choices() },
                "some of a, b, with commas between them",
            ),
        ] {
            assert_eq!(read(text, &kind).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn an_option_is_chosen_by_number_or_text() {
        assert_eq!(chosen("1", &select()), "red");
        assert_eq!(chosen("2", &select()), "2");
        assert_eq!(chosen("3", &select()), "blue");
        assert_eq!(chosen("9", &select()), "9");
        assert_eq!(chosen("0", &select()), "0");
    }

    #[test]
    fn an_answer_without_a_question_is_refused() {
        assert!(Answers::parse(&["x".into()]).is_err());
        assert!(Answers::parse(&["a=1".into(), "a=2".into()]).is_err());
    }
}

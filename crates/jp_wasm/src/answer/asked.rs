//! What a component of `jp:tool@0.2.0` must know, in the types of `jp_tool`.

use jp_tool::{AnswerType, Choice, Form, Input, Question, Sample, SampleMessage};

use super::role;
use crate::convert::{AnswerError, described::jp::tool0_2_0::inputs};

/// Reads all a tool must know. An input nobody could give is an error of the tool that wants it.
pub(super) fn all(wanted: Vec<inputs::Input>) -> Result<Vec<Input>, AnswerError> {
    wanted.into_iter().map(input).collect()
}

fn input(wanted: inputs::Input) -> Result<Input, AnswerError> {
    Ok(match wanted {
        inputs::Input::Question(asked) => Input::Question(question(asked)?),
        inputs::Input::Form(form) => {
            let questions = form.questions.into_iter().map(question);
            Input::Form(Form {
                id: form.id,
                text: form.text,
                questions: questions.collect::<Result<_, _>>()?,
            })
        }
        inputs::Input::Sample(sample) => Input::Sample(Sample {
            id: sample.id,
            messages: sample.messages.into_iter().map(message).collect(),
            system_prompt: sample.system_prompt,
            max_tokens: sample.max_tokens,
        }),
        inputs::Input::Roots(id) => Input::Roots { id },
    })
}

fn question(asked: inputs::Question) -> Result<Question, AnswerError> {
    let default = asked.default.map(|json| serde_json::from_str(&json));
    Ok(Question {
        id: asked.id,
        text: asked.text,
        answer_type: answer_type(asked.answer_type),
        default: default.transpose().map_err(AnswerError::Default)?,
    })
}

fn answer_type(kind: inputs::AnswerType) -> AnswerType {
    let choices = |options: Vec<inputs::Choice>| -> Vec<Choice> {
        let choice = |inputs::Choice { value, title }| Choice { value, title };
        options.into_iter().map(choice).collect()
    };
    match kind {
        inputs::AnswerType::Boolean => AnswerType::Boolean,
        inputs::AnswerType::Text => AnswerType::Text,
        inputs::AnswerType::Integer => AnswerType::Integer,
        inputs::AnswerType::Number => AnswerType::Number,
        inputs::AnswerType::Select(options) => AnswerType::Select { options },
        inputs::AnswerType::Choice(options) => AnswerType::Choice {
            options: choices(options),
        },
        inputs::AnswerType::Labelled(options) => AnswerType::Labelled {
            options: choices(options),
        },
        inputs::AnswerType::Choices(options) => AnswerType::Choices {
            options: choices(options),
        },
    }
}

fn message(message: inputs::SampleMessage) -> SampleMessage {
    SampleMessage {
        role: role(message.role),
        text: message.text,
    }
}

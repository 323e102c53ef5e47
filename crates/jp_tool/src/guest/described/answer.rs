//! Answers on their way out of a component of `jp:tool@0.2.0`.

use super::bindings::{
    exports::jp::tool0_2_0::guest,
    jp::tool0_2_0::{content as wit, inputs},
};
use crate::{
    Annotations, Answer, AnswerType, Beside, Blob, Choice, Content, Input, Media, Outcome, Part,
    Question, ResourceContents, Role,
};

/// Bytes go to the host in pieces of this size, so that it need not take them all at once.
const PIECE: usize = 64 * 1024;

/// Turns an answer into the form that the host is told it in.
pub(super) fn of(answer: Answer) -> guest::Outcome {
    let Answer { outcome, beside } = answer;
    let Beside {
        content,
        inputs,
        any,
        ..
    } = beside;
    match outcome {
        Outcome::Success { content: text } => {
            let Content {
                mut parts,
                structured,
            } = content;
            if parts.is_empty() && structured.is_none() {
                parts.push(text.into());
            }
            guest::Outcome::Success(to_wit(Content { parts, structured }))
        }
        Outcome::Error {
            message,
            trace,
            transient,
        } => guest::Outcome::Error(guest::Failure {
            message,
            trace,
            transient,
            content: to_wit(content),
        }),
        Outcome::NeedsInput { question } if inputs.is_empty() => {
            let asked = inputs::Input::Question(self::question(question));
            guest::Outcome::NeedsInput(vec![asked])
        }
        Outcome::NeedsInput { .. } => {
            let inputs = inputs.into_iter().map(input).collect();
            match any {
                true => guest::Outcome::NeedsAnyInput(inputs),
                false => guest::Outcome::NeedsInput(inputs),
            }
        }
    }
}

fn to_wit(content: Content) -> wit::Content {
    wit::Content {
        parts: content.parts.into_iter().map(part).collect(),
        structured: content.structured.map(|value| value.to_string()),
    }
}

fn part(part: Part) -> wit::Part {
    match part {
        Part::Text(part) => wit::Part::Text(wit::TextPart {
            text: part.text,
            annotations: part.annotations.map(annotations),
        }),
        Part::Image(part) => wit::Part::Image(media(part)),
        Part::Audio(part) => wit::Part::Audio(media(part)),
        Part::Resource(part) => wit::Part::Embedded(wit::EmbeddedResource {
            uri: part.resource.uri,
            mime_type: part.resource.mime_type,
            contents: match part.resource.contents {
                ResourceContents::Text(text) => wit::ResourceContents::Text(text),
                ResourceContents::Blob(bytes) => wit::ResourceContents::Blob(blob(&bytes)),
            },
            annotations: part.annotations.map(annotations),
        }),
        Part::ResourceLink(link) => wit::Part::Link(wit::ResourceLink {
            uri: link.uri,
            name: link.name,
            title: link.title,
            description: link.description,
            mime_type: link.mime_type,
            size: link.size,
            annotations: link.annotations.map(annotations),
        }),
    }
}

fn media(media: Media) -> wit::Media {
    wit::Media {
        data: blob(&media.data),
        mime_type: media.mime_type,
        annotations: media.annotations.map(annotations),
    }
}

fn blob(bytes: &Blob) -> wit::Blob {
    let mut pieces = bytes.as_bytes().chunks(PIECE);
    let blob = wit::Blob::new(pieces.next().unwrap_or_default());
    pieces.for_each(|piece| blob.append(piece));
    blob
}

fn annotations(annotations: Annotations) -> wit::Annotations {
    wit::Annotations {
        audience: annotations.audience.into_iter().map(role).collect(),
        priority: annotations.priority,
        last_modified: annotations.last_modified,
    }
}

fn input(input: Input) -> inputs::Input {
    match input {
        Input::Question(asked) => inputs::Input::Question(question(asked)),
        Input::Form(form) => inputs::Input::Form(inputs::Form {
            id: form.id,
            text: form.text,
            questions: form.questions.into_iter().map(question).collect(),
        }),
        Input::Roots { id } => inputs::Input::Roots(id),
        Input::Sample(sample) => inputs::Input::Sample(inputs::Sample {
            id: sample.id,
            messages: sample
                .messages
                .into_iter()
                .map(|message| inputs::SampleMessage {
                    role: role(message.role),
                    text: message.text,
                })
                .collect(),
            system_prompt: sample.system_prompt,
            max_tokens: sample.max_tokens,
        }),
    }
}

fn question(asked: Question) -> inputs::Question {
    inputs::Question {
        id: asked.id,
        text: asked.text,
        answer_type: answer_type(asked.answer_type),
        default: asked.default.map(|value| value.to_string()),
    }
}

fn answer_type(kind: AnswerType) -> inputs::AnswerType {
    match kind {
        AnswerType::Boolean => inputs::AnswerType::Boolean,
        AnswerType::Text => inputs::AnswerType::Text,
        AnswerType::Integer => inputs::AnswerType::Integer,
        AnswerType::Number => inputs::AnswerType::Number,
        AnswerType::Select { options } => inputs::AnswerType::Select(options),
        AnswerType::Choice { options } => inputs::AnswerType::Choice(choices(options)),
        AnswerType::Labelled { options } => inputs::AnswerType::Labelled(choices(options)),
        AnswerType::Choices { options } => inputs::AnswerType::Choices(choices(options)),
    }
}

fn choices(options: Vec<Choice>) -> Vec<inputs::Choice> {
    let choice = |Choice { value, title }| inputs::Choice { value, title };
    options.into_iter().map(choice).collect()
}

const fn role(role: Role) -> wit::Role {
    match role {
        Role::User => wit::Role::User,
        Role::Assistant => wit::Role::Assistant,
    }
}

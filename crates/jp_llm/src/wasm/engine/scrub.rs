//! Takes secrets out of what a tool said and printed: each kind of part in its own way, so that none is
//! a way around the others.

use std::borrow::Cow;

use jp_broker::Scrubber;
use jp_tool::{
    Annotations, AnswerType, Beside, Blob, Input, Media, Outcome, Part, Question, Resource,
    ResourceContents, ResourceLink,
};
use jp_wasm::ToolKind;

use crate::{
    runtime::{Invocation, Run},
    tool::HostError,
};

/// How the names of what concerns secrets start.
const SECRETS: &str = "secrets.";

/// Takes known secrets out of what a tool said and printed, if it could have learned one: by using it, or
/// from a host that might echo it.
pub(super) fn scrubbed(invocation: &Invocation<'_>, kind: ToolKind, run: Run) -> Run {
    let capabilities = invocation.grant().capabilities();
    let mut names = capabilities.brokered.names();
    let could = !capabilities.net.is_none() || names.any(|name| name.as_str().starts_with(SECRETS));
    let asks = !capabilities.brokered.is_none() || kind.makes_requests();
    if !asks || !could {
        return run;
    }
    let scrubber = match invocation.host.broker() {
        Ok(Some(broker)) => broker.services().scrubber_for(&capabilities.brokered),
        Ok(None) => return run,
        Err(error) => return Run::failed(error),
    };
    let scrubber = match scrubber {
        Ok(scrubber) => scrubber,
        // What cannot be scrubbed must not be shown.
        Err(error) => return Run::failed(invocation.error(HostError::Secrets(error))),
    };
    let text = |text: String| scrubber.scrub(&text).into_owned();
    let result = run.result.map(|outcome| match outcome {
        Outcome::Success { content } => Outcome::Success {
            content: text(content),
        },
        Outcome::Error {
            message,
            trace,
            transient,
        } => Outcome::Error {
            message: text(message),
            trace: trace.into_iter().map(text).collect(),
            transient,
        },
        Outcome::NeedsInput { mut question } => {
            question.text = text(question.text);
            Outcome::NeedsInput { question }
        }
    });
    let mut beside = run.beside;
    self::beside(&scrubber, &mut beside);
    Run {
        result,
        beside,
        stdout: scrubber.scrub_bytes(&run.stdout).into_owned(),
        stderr: scrubber.scrub_bytes(&run.stderr).into_owned(),
        ..run
    }
}

/// Takes secrets out of everything that is kept beside an outcome.
fn beside(scrubber: &Scrubber, beside: &mut Beside) {
    if scrubber.is_empty() {
        return;
    }
    let Beside {
        content,
        inputs,
        any: _,
        problem,
    } = beside;
    inputs
        .iter_mut()
        .for_each(|input| scrub_input(scrubber, input));
    content
        .parts
        .iter_mut()
        .for_each(|part| scrub_part(scrubber, part));
    if let Some(structured) = &mut content.structured {
        scrubber.scrub_json(structured);
    }
    if let Some(problem) = problem {
        text(scrubber, &mut problem.message);
        maybe(scrubber, &mut problem.code);
    }
}

fn scrub_input(scrubber: &Scrubber, input: &mut Input) {
    match input {
        Input::Question(asked) => question(scrubber, asked),
        Input::Form(form) => {
            text(scrubber, &mut form.text);
            let questions = form.questions.iter_mut();
            questions.for_each(|asked| question(scrubber, asked));
        }
        Input::Sample(sample) => {
            maybe(scrubber, &mut sample.system_prompt);
            let messages = sample.messages.iter_mut();
            messages.for_each(|message| text(scrubber, &mut message.text));
        }
        Input::Roots { .. } => {}
    }
}

fn question(scrubber: &Scrubber, asked: &mut Question) {
    text(scrubber, &mut asked.text);
    if let Some(default) = &mut asked.default {
        scrubber.scrub_json(default);
    }
    match &mut asked.answer_type {
        AnswerType::Select { options } => {
            options.iter_mut().for_each(|option| text(scrubber, option));
        }
        AnswerType::Choice { options }
        | AnswerType::Labelled { options }
        | AnswerType::Choices { options } => options.iter_mut().for_each(|option| {
            text(scrubber, &mut option.value);
            maybe(scrubber, &mut option.title);
        }),
        AnswerType::Boolean | AnswerType::Text | AnswerType::Integer | AnswerType::Number => {}
    }
}

fn scrub_part(scrubber: &Scrubber, part: &mut Part) {
    let annotations = match part {
        Part::Text(part) => {
            text(scrubber, &mut part.text);
            &mut part.annotations
        }
        Part::Image(media) | Part::Audio(media) => {
            let Media {
                data,
                mime_type,
                annotations,
            } = media;
            blob(scrubber, data);
            text(scrubber, mime_type);
            annotations
        }
        Part::Resource(part) => {
            resource(scrubber, &mut part.resource);
            &mut part.annotations
        }
        Part::ResourceLink(link) => {
            let ResourceLink {
                uri,
                name,
                title,
                description,
                mime_type,
                size: _,
                annotations,
            } = link;
            text(scrubber, uri);
            text(scrubber, name);
            [title, description, mime_type]
                .into_iter()
                .for_each(|value| maybe(scrubber, value));
            annotations
        }
    };
    if let Some(Annotations { last_modified, .. }) = annotations {
        maybe(scrubber, last_modified);
    }
}

fn resource(scrubber: &Scrubber, resource: &mut Resource) {
    text(scrubber, &mut resource.uri);
    maybe(scrubber, &mut resource.mime_type);
    match &mut resource.contents {
        ResourceContents::Text(contents) => text(scrubber, contents),
        ResourceContents::Blob(contents) => blob(scrubber, contents),
    }
}

fn text(scrubber: &Scrubber, text: &mut String) {
    if let Cow::Owned(scrubbed) = scrubber.scrub(text) {
        *text = scrubbed;
    }
}

fn maybe(scrubber: &Scrubber, value: &mut Option<String>) {
    if let Some(value) = value {
        text(scrubber, value);
    }
}

fn blob(scrubber: &Scrubber, blob: &mut Blob) {
    if let Cow::Owned(scrubbed) = scrubber.scrub_bytes(blob.as_bytes()) {
        *blob = scrubbed.into();
    }
}

#[cfg(test)]
mod tests {
    use jp_tool::{Choice, Content, Form, Problem, Role, Sample, SampleMessage};
    use serde_json::json;

    use super::*;

    const SECRET: &str = "correct-horse-battery";

    #[test]
    fn no_kind_of_part_carries_a_secret_out() {
        let scrubber = Scrubber::new([("pass", SECRET.as_bytes())]).unwrap();
        let annotations = || {
            Some(Annotations {
                last_modified: Some(SECRET.to_owned()),
                ..Annotations::default()
            })
        };
        let secret = || Some(SECRET.to_owned());
        let resource = |contents| {
            Part::resource(Resource {
                uri: format!("a:{SECRET}"),
                mime_type: secret(),
                contents,
            })
        };
        let parts = vec![
            Part::from(SECRET),
            Part::Image(Media {
                data: SECRET.as_bytes().to_vec().into(),
                mime_type: SECRET.to_owned(),
                annotations: annotations(),
            }),
            Part::audio(SECRET.as_bytes().to_vec(), SECRET),
            resource(ResourceContents::Text(SECRET.to_owned())),
            resource(ResourceContents::Blob(SECRET.as_bytes().to_vec().into())),
            Part::ResourceLink(ResourceLink {
                uri: SECRET.to_owned(),
                name: SECRET.to_owned(),
                title: secret(),
                description: secret(),
                mime_type: secret(),
                size: None,
                annotations: annotations(),
            }),
        ];
        let mut said = Beside {
            content: Content {
                parts,
                structured: Some(json!({SECRET: [SECRET]})),
            },
            inputs: vec![
                Input::Sample(Sample {
                    messages: vec![SampleMessage {
                        role: Role::User,
                        text: SECRET.to_owned(),
                    }],
                    system_prompt: secret(),
                    ..Sample::default()
                }),
                Input::Form(Form {
                    id: "f".to_owned(),
                    text: SECRET.to_owned(),
                    questions: vec![Question {
                        id: "q".to_owned(),
                        text: SECRET.to_owned(),
                        answer_type: AnswerType::Choices {
                            options: vec![Choice {
                                value: SECRET.to_owned(),
                                title: secret(),
                            }],
                        },
                        default: Some(json!([SECRET])),
                    }],
                }),
            ],
            any: false,
            problem: Some(Problem {
                code: secret(),
                message: SECRET.to_owned(),
            }),
        };
        let before = serde_json::to_string(&said.content.parts).unwrap();
        assert_eq!(before.matches(SECRET).count(), 15);
        beside(&scrubber, &mut said);
        let shown = format!("{said:?}");
        let json = serde_json::to_string(&said.content.parts).unwrap();
        assert!(!shown.contains(SECRET) && !json.contains(SECRET), "{shown}");
        let base64 = Blob::from(SECRET.as_bytes().to_vec()).to_base64();
        assert!(before.contains(&base64) && !json.contains(&base64));
    }
}

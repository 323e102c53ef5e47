//! What a component of `jp:tool@0.2.0` answers, in the types of `jp_tool`. The bytes of it are in
//! `blob.rs`.

mod asked;

use jp_tool::{
    Annotations, Answer, Beside, Blob, Content, EmbeddedResource, Media, Outcome, Part, Resource,
    ResourceContents, ResourceLink, Role, TextPart,
};
use wasmtime::component::Resource as Handle;
use wasmtime_wasi::WasiView as _;

use crate::{
    blob::KeptBlob,
    convert::{
        AnswerError,
        described::{exports::jp::tool0_2_0::guest, jp::tool0_2_0::content as wit},
    },
    host::State,
};

/// Turns the outcome of a component into an answer.
pub(crate) fn of(outcome: guest::Outcome, state: &mut State) -> wasmtime::Result<Answer> {
    match outcome {
        guest::Outcome::Success(said) => {
            let content = match content(said, state)? {
                Ok(content) => content,
                Err(problem) => return Ok(Outcome::failed(problem.to_string()).into()),
            };
            Ok(content.into())
        }
        guest::Outcome::Error(failure) => {
            let guest::Failure {
                message,
                trace,
                transient,
                content: beside,
            } = failure;
            // Invalid content beside an error must not hide the error.
            let content = content(beside, state)?.unwrap_or_default();
            let outcome = Outcome::Error {
                message,
                trace,
                transient,
            };
            let beside = Beside {
                content,
                ..Beside::default()
            };
            Ok(Answer { outcome, beside })
        }
        guest::Outcome::NeedsInput(wanted) => Ok(match asked::all(wanted) {
            Ok(inputs) => Answer::needs(inputs),
            Err(problem) => Outcome::failed(problem.to_string()).into(),
        }),
        guest::Outcome::NeedsAnyInput(wanted) => Ok(match asked::all(wanted) {
            Ok(inputs) => Answer::needs_any(inputs),
            Err(problem) => Outcome::failed(problem.to_string()).into(),
        }),
    }
}

/// Reads parts and data; the inner error is what the tool did wrong.
fn content(
    said: wit::Content,
    state: &mut State,
) -> wasmtime::Result<Result<Content, AnswerError>> {
    let mut parts = Vec::with_capacity(said.parts.len());
    for part in said.parts {
        parts.push(read(part, state)?);
    }
    let structured = said.structured.map(|json| serde_json::from_str(&json));
    Ok(match structured.transpose() {
        Ok(structured) => Ok(Content { parts, structured }),
        Err(error) => Err(AnswerError::Structured(error)),
    })
}

fn read(part: wit::Part, state: &mut State) -> wasmtime::Result<Part> {
    Ok(match part {
        wit::Part::Text(part) => Part::Text(TextPart {
            text: part.text,
            annotations: part.annotations.map(annotations),
        }),
        wit::Part::Image(part) => Part::Image(media(part, state)?),
        wit::Part::Audio(part) => Part::Audio(media(part, state)?),
        wit::Part::Embedded(part) => Part::Resource(EmbeddedResource {
            resource: Resource {
                uri: part.uri,
                mime_type: part.mime_type,
                contents: match part.contents {
                    wit::ResourceContents::Text(text) => ResourceContents::Text(text),
                    wit::ResourceContents::Blob(bytes) => {
                        ResourceContents::Blob(blob(bytes, state)?)
                    }
                },
            },
            annotations: part.annotations.map(annotations),
        }),
        wit::Part::Link(link) => Part::ResourceLink(ResourceLink {
            uri: link.uri,
            name: link.name,
            title: link.title,
            description: link.description,
            mime_type: link.mime_type,
            size: link.size,
            annotations: link.annotations.map(annotations),
        }),
    })
}

fn media(media: wit::Media, state: &mut State) -> wasmtime::Result<Media> {
    Ok(Media {
        data: blob(media.data, state)?,
        mime_type: media.mime_type,
        annotations: media.annotations.map(annotations),
    })
}

fn blob(handle: Handle<KeptBlob>, state: &mut State) -> wasmtime::Result<Blob> {
    let kept = state.ctx().table.delete(handle)?;
    Ok(kept.into_bytes(&mut state.outward)?.into())
}

fn annotations(said: wit::Annotations) -> Annotations {
    Annotations {
        audience: said.audience.into_iter().map(role).collect(),
        // JSON has no number for what is not finite.
        priority: said.priority.filter(|priority| priority.is_finite()),
        last_modified: said.last_modified,
    }
}

const fn role(role: wit::Role) -> Role {
    match role {
        wit::Role::User => Role::User,
        wit::Role::Assistant => Role::Assistant,
    }
}

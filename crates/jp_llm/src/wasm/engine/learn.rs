//! The host's side of `learn`: what a model is told about it and what a call is given.

use std::path::Path;

use jp_config::TopicConfig;
use jp_tool::Outcome;
use serde_json::{Value, json};

use super::builtin::Prepared;
use crate::{
    Host,
    knowledge::{enabled, topics},
    runtime::Invocation,
};

/// The subjects of a topic, as a guest sees them.
pub(super) const SUBJECTS: &str = "/subjects";

/// Whether a topic has something that is not in the prompt already.
pub(super) fn is_offered(host: &Host) -> bool {
    topics(host).any(|(_, _, scan)| scan.is_ok_and(|scan| scan.is_learnable()))
}

/// What a model is told about `learn`.
pub(super) fn description(host: &Host) -> String {
    let mut text = "Learn about topics of the knowledge base and their subjects.".to_owned();
    let names: Vec<String> = enabled(host)
        .map(|(id, topic)| match &topic.title {
            Some(title) => format!("`{id}` ({title})"),
            None => format!("`{id}`"),
        })
        .collect();
    if !names.is_empty() {
        text.push_str(&format!(" Available topics: {}.", names.join(", ")));
    }
    text
}

/// The schema of `learn`'s arguments. Its shape never changes, so that caches of it stay valid.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "topic": {"type": "string", "description": "The topic ID or title to learn about."},
            "subjects": {
                "type": ["string", "array", "null"],
                "items": {"type": "string"},
                "description": "Glob pattern(s) of the subjects to learn: `*` matches one level, \
                                `**` all of them. Omit to list the subjects there are.",
            },
        },
        "required": ["topic"],
        "additionalProperties": false,
    })
}

/// Finds the topic, opens its directory and adds what the guest must know about it.
///
/// `_topic` is added after the arguments were checked, so a model cannot send one.
pub(super) fn prepare(invocation: &Invocation<'_>) -> Result<Prepared, Outcome> {
    let host = invocation.host;
    let asked = invocation
        .arguments
        .get("topic")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (id, topic) = find(host, asked).ok_or_else(|| unknown_topic(host, asked))?;
    let mut wasi = jp_wasm::WasiContext::default();
    let dir = Path::new(topic.subjects().as_str());
    wasi.mount_below(host.root(), dir, SUBJECTS, jp_wasm::DirPerms::Read)
        .map_err(|error| {
            Outcome::failed(format!(
                "The subjects of topic `{id}` cannot be read: {error}"
            ))
        })?;
    let mut arguments = invocation.arguments.clone();
    arguments.insert(
        "_topic".to_owned(),
        json!({
            "id": id,
            "title": topic.title,
            "description": topic.description,
            "disabled": topic.disabled,
            "learned": topic.learned,
        }),
    );
    Ok(Prepared {
        arguments: Some(Value::Object(arguments).to_string()),
        wasi,
        root: SUBJECTS,
    })
}

/// Finds a topic by its id, or else by its title.
fn find<'a>(host: &'a Host, asked: &str) -> Option<(&'a str, &'a TopicConfig)> {
    enabled(host).find(|(id, _)| *id == asked).or_else(|| {
        let asked = asked.to_lowercase();
        enabled(host).find(|(_, topic)| {
            topic
                .title
                .as_ref()
                .is_some_and(|t| t.to_lowercase() == asked)
        })
    })
}

fn unknown_topic(host: &Host, asked: &str) -> Outcome {
    let asked = jp_text::shorten(asked, 100);
    let known: Vec<String> = enabled(host)
        .map(|(id, topic)| match &topic.title {
            Some(title) => format!("- {id} ({title})"),
            None => format!("- {id}"),
        })
        .collect();
    if known.is_empty() {
        return Outcome::failed(format!("Unknown topic: {asked:?}. There are no topics."));
    }
    Outcome::failed(format!(
        "Unknown topic: {asked:?}. Available topics:\n{}",
        known.join("\n")
    ))
}

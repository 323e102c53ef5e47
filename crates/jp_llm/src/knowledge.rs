//! The host's side of `learn`: which topics there are, what a call is given, and the section of
//! the system prompt.

use std::path::Path;

use jp_config::TopicConfig;
use jp_tool::Outcome;
use jp_tool_learn::{Scan, ScanError, TopicPrompt, knowledge_section, scan_beneath};
use serde_json::{Value, json};

use crate::Host;
#[cfg(feature = "wasm-tools")]
use crate::{builtin::Prepared, places, runtime::Invocation};

/// What the system prompt may hold of learned subjects.
const MAX_PROMPT_BYTES: usize = 1024 * 1024;

/// Returns the enabled topics, with what is in their directories.
pub fn topics(host: &Host) -> impl Iterator<Item = (&str, &TopicConfig, Result<Scan, ScanError>)> {
    enabled(host).map(|(id, topic)| {
        let dir = Path::new(topic.subjects().as_str());
        (
            id,
            topic,
            scan_beneath(&host.root, dir, &topic.disabled, &topic.learned),
        )
    })
}

fn enabled(host: &Host) -> impl Iterator<Item = (&str, &TopicConfig)> {
    let topics = host
        .knowledge
        .topics
        .iter()
        .filter(|(_, topic)| topic.enable);
    topics.map(|(id, topic)| (id.as_str(), topic))
}

/// Returns the `<knowledge>` section of the system prompt, if there is anything to say, and what
/// could not be read.
#[must_use]
pub fn knowledge_prompt(host: &Host) -> (Option<String>, Vec<String>) {
    let mut problems = Vec::new();
    let mut prompts = Vec::new();
    let mut room = MAX_PROMPT_BYTES;
    for (id, topic, scan) in topics(host) {
        let scan = match scan {
            Ok(scan) => scan,
            Err(error) => {
                problems.push(format!("topic `{id}`: {error}"));
                continue;
            }
        };
        let preloaded = scan.load_learned(room);
        room = room.saturating_sub(preloaded.subjects.iter().map(|s| s.content.len()).sum());
        problems.extend(
            preloaded
                .notes
                .iter()
                .map(|note| format!("topic `{id}`: {note}")),
        );
        prompts.push(TopicPrompt {
            id: id.to_owned(),
            title: topic.title.clone(),
            introduction: topic.introduction.clone(),
            description: topic.description.clone(),
            learned: preloaded,
            learnable: scan.is_learnable(),
        });
    }
    (knowledge_section(&prompts), problems)
}

/// Whether a topic has something that is not in the prompt already.
#[cfg(feature = "wasm-tools")]
pub(crate) fn is_offered(host: &Host) -> bool {
    topics(host).any(|(_, _, scan)| scan.is_ok_and(|scan| scan.is_learnable()))
}

/// What a model is told about `learn`.
#[cfg(feature = "wasm-tools")]
pub(crate) fn description(host: &Host) -> String {
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
#[cfg(feature = "wasm-tools")]
pub(crate) fn schema() -> Value {
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
#[cfg(feature = "wasm-tools")]
pub(crate) fn prepare(invocation: &Invocation<'_>) -> Result<Prepared, Outcome> {
    let host = invocation.host;
    let asked = invocation
        .arguments
        .get("topic")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (id, topic) = find(host, asked).ok_or_else(|| unknown_topic(host, asked))?;
    let mut wasi = jp_wasm::WasiContext::default();
    let dir = Path::new(topic.subjects().as_str());
    wasi.mount_below(&host.root, dir, places::SUBJECTS, jp_wasm::DirPerms::Read)
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
        arguments: Value::Object(arguments).to_string(),
        wasi,
        root: places::SUBJECTS,
    })
}

/// Finds a topic by its id, or else by its title.
#[cfg(feature = "wasm-tools")]
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

#[cfg(feature = "wasm-tools")]
fn unknown_topic(host: &Host, asked: &str) -> Outcome {
    let asked: String = asked.chars().take(100).collect();
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

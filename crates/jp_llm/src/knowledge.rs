//! The knowledge base: which topics there are, and the section of the system prompt.

use std::path::Path;

use jp_config::TopicConfig;
use jp_tool_learn::{Scan, ScanError, TopicPrompt, knowledge_section, scan_beneath};

use crate::Host;

/// What the system prompt may hold of learned subjects.
const MAX_PROMPT_BYTES: usize = 1024 * 1024;

/// Returns the enabled topics, with what is in their directories.
pub fn topics(host: &Host) -> impl Iterator<Item = (&str, &TopicConfig, Result<Scan, ScanError>)> {
    enabled(host).map(|(id, topic)| {
        let dir = Path::new(topic.subjects().as_str());
        (
            id,
            topic,
            scan_beneath(host.root(), dir, &topic.disabled, &topic.learned),
        )
    })
}

pub(crate) fn enabled(host: &Host) -> impl Iterator<Item = (&str, &TopicConfig)> {
    let topics = host
        .knowledge()
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

//! The `<knowledge>` section of the system prompt: what is learned already and what can be learned.
//! Pure text, apart from [`Scan::load_learned`], which reads the learned subjects.

use crate::{
    load::{Loaded, load},
    render::{format, wrap},
    scan::Scan,
    slug::{one_line, printable, quoted},
};

/// A subject that goes into the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedSubject {
    /// Its name.
    pub slug: String,

    /// Its content, in a code fence where its file type asks for one.
    pub content: String,
}

/// The learned subjects of a topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preloaded {
    /// The subjects that could be read.
    pub subjects: Vec<LearnedSubject>,

    /// What could not be given as it is, one line each; the prompt repeats them.
    pub notes: Vec<String>,
}

/// What the system prompt says about one enabled topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicPrompt {
    /// The key of the topic in the configuration.
    pub id: String,

    /// Its display name.
    pub title: Option<String>,

    /// One line about it, for the list of topics.
    pub introduction: Option<String>,

    /// A longer text, given along with learned subjects.
    pub description: Option<String>,

    /// The subjects to give in full.
    pub learned: Preloaded,

    /// Whether `learn` has something to offer; see [`Scan::is_learnable`].
    pub learnable: bool,
}

impl Scan {
    /// Reads the learned subjects, `max_bytes` in all; what does not fit is left out with a note.
    #[must_use]
    pub fn load_learned(&self, max_bytes: usize) -> Preloaded {
        let mut preloaded = Preloaded::default();
        let mut left = max_bytes;
        let mut unread = 0;
        for subject in self.learned() {
            if left == 0 {
                unread += 1;
                continue;
            }
            let name = quoted(&subject.slug);
            let text = match load(&self.dir, &subject.path) {
                Loaded::Text(text) => text,
                Loaded::Repaired(text) => {
                    preloaded
                        .notes
                        .push(format!("{name}: invalid UTF-8 was replaced"));
                    text
                }
                Loaded::Skipped(reason) => {
                    preloaded
                        .notes
                        .push(format!("{name} was skipped: {reason}"));
                    continue;
                }
            };
            let content = format(&subject.path, text);
            if content.len() > left {
                left = 0;
                unread += 1;
                continue;
            }
            left -= content.len();
            preloaded.subjects.push(LearnedSubject {
                slug: subject.slug.clone(),
                content,
            });
        }
        if unread > 0 {
            preloaded.notes.push(format!(
                "{unread} more learned subjects were left out: together they exceed {max_bytes} bytes"
            ));
        }
        preloaded
    }
}

/// Writes the section; `None` when there is nothing to say.
#[must_use]
pub fn knowledge_section(topics: &[TopicPrompt]) -> Option<String> {
    let mut blocks = Vec::new();

    let learned: Vec<String> = topics.iter().filter_map(learned_topic).collect();
    if !learned.is_empty() {
        blocks.push(
            "The following knowledge has been pre-loaded into your system prompt:".to_owned(),
        );
        blocks.extend(learned);
    }

    let learnable: Vec<String> = topics
        .iter()
        .filter(|topic| topic.learnable)
        .map(topic_line)
        .collect();
    if !learnable.is_empty() {
        blocks.push("The following knowledge topics are available to learn:".to_owned());
        blocks.push(learnable.join("\n"));
        blocks.push("Use the `learn` tool to consume this knowledge.".to_owned());
        blocks.push(
            "(note: a topic may also hold hidden subjects. `learn` does not list them, but loads \
             them by name once you know the name, for example from another subject.)"
                .to_owned(),
        );
    }

    (!blocks.is_empty()).then(|| wrap("knowledge", None, &blocks.join("\n\n")))
}

fn learned_topic(topic: &TopicPrompt) -> Option<String> {
    let Preloaded { subjects, notes } = &topic.learned;
    if subjects.is_empty() && notes.is_empty() {
        return None;
    }
    let description = topic
        .description
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    let subjects = subjects
        .iter()
        .map(|subject| wrap("subject", Some(&subject.slug), &subject.content));
    let notes = notes.iter().map(|note| format!("(note: {note})"));
    let blocks: Vec<String> = description
        .map(str::to_owned)
        .into_iter()
        .chain(subjects)
        .chain(notes)
        .collect();
    let title = topic.title.as_deref().unwrap_or(&topic.id);
    Some(wrap("topic", Some(&one_line(title)), &blocks.join("\n\n")))
}

fn topic_line(topic: &TopicPrompt) -> String {
    let mut line = format!("- {}", printable(&topic.id));
    if let Some(title) = &topic.title {
        line = format!("{line} (**{}**)", one_line(title));
    }
    if let Some(introduction) = &topic.introduction {
        line = format!("{line}: {}", one_line(introduction));
    }
    line
}

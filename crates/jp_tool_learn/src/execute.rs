//! What `learn` answers: the listing of a topic, or the subjects that were asked for.

use std::path::PathBuf;

use jp_tool::Outcome;

use crate::{
    limits::{MAX_OUTPUT_BYTES, MAX_SUGGESTED},
    load::{Loaded, load},
    render::{format, wrap},
    request::{Request, describe_misses},
    scan::{Scan, Subject, check_work, scan},
    slug::{one_line, printable, quoted},
};

/// Everything a call of `learn` depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearnInput {
    /// The directory of the topic.
    pub subjects_dir: PathBuf,

    /// The id of the topic.
    pub topic: String,

    /// Its display name, which takes the place of the id.
    pub title: Option<String>,

    /// A text shown above the listing.
    pub description: Option<String>,

    /// Slugs and globs of subjects that do not exist as far as anyone can tell.
    pub disabled: Vec<String>,

    /// Slugs and globs of subjects that are in the system prompt already.
    pub learned: Vec<String>,

    /// Slugs and globs of the subjects asked for; `None` or none at all asks for the listing.
    pub subjects: Option<Vec<String>>,
}

/// Lists the subjects of a topic or loads some of them.
#[must_use]
pub fn execute(input: &LearnInput) -> Outcome {
    let scan = match scan(&input.subjects_dir, &input.disabled, &input.learned) {
        Ok(scan) => scan,
        Err(error) => return Outcome::failed(format!("Topic {}: {error}", quoted(&input.topic))),
    };
    // Models often send "" or [] where they mean "nothing".
    let wanted: Vec<&String> = input
        .subjects
        .iter()
        .flatten()
        .filter(|entry| !entry.trim().is_empty())
        .collect();
    if wanted.is_empty() {
        return list(input, &scan).into();
    }
    if let Err(error) = check_work(&scan.subjects, wanted.iter().copied()) {
        return Outcome::failed(format!("Topic {}: {error}", quoted(&input.topic)));
    }
    let request = Request::resolve(&scan, &wanted);
    if request.found.is_empty() && request.remarks.is_empty() {
        return Outcome::failed(no_match(input, &scan, &request));
    }
    load_all(&scan, request).into()
}

fn list(input: &LearnInput, scan: &Scan) -> String {
    let title = input.title.as_deref().unwrap_or(&input.topic);
    let mut blocks = vec![format!("# Topic: {}", one_line(title))];
    let description = input.description.as_deref().map(str::trim);
    blocks.extend(
        description
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
    );

    let available = bullets(scan.available());
    // Hidden subjects stay out of listings even when they are learned.
    let learned = bullets(scan.learned().filter(|subject| !subject.hidden));
    if available.is_empty() {
        blocks.push("There are no subjects to learn in this topic.".to_owned());
    } else {
        blocks.push("## Available subjects:".to_owned());
        blocks.push(available.join("\n"));
        blocks.push(
            "Use the `learn` tool with the `subjects` argument to learn specific subjects."
                .to_owned(),
        );
    }
    if !learned.is_empty() {
        blocks.push("## Already learned (in system prompt):".to_owned());
        blocks.push(learned.join("\n"));
    }
    blocks.extend(left_out(scan));
    blocks.join("\n\n")
}

/// Slugs as list items; files that share a slug make one item.
fn bullets<'a>(subjects: impl Iterator<Item = &'a Subject>) -> Vec<String> {
    let mut slugs: Vec<&str> = subjects.map(|subject| subject.slug.as_str()).collect();
    slugs.dedup();
    slugs
        .into_iter()
        .map(|slug| format!("- {}", printable(slug)))
        .collect()
}

fn left_out(scan: &Scan) -> Option<String> {
    let lines: Vec<String> = scan
        .notes()
        .iter()
        .map(|note| format!("- {note}"))
        .collect();
    (!lines.is_empty()).then(|| format!("## Left out:\n\n{}", lines.join("\n")))
}

fn load_all(scan: &Scan, request: Request<'_>) -> String {
    let Request {
        found,
        any_glob,
        mut remarks,
        misses,
    } = request;
    let wrapped = any_glob || found.len() > 1;
    let mut blocks = Vec::new();
    let mut size = 0;
    for (index, subject) in found.iter().enumerate() {
        if size >= MAX_OUTPUT_BYTES {
            remarks.push(format!(
                "{} more subjects were not loaded: one call gives at most {} MiB. Ask for fewer \
                 subjects at a time.",
                found.len() - index,
                MAX_OUTPUT_BYTES >> 20
            ));
            break;
        }
        let text = match load(&scan.dir, &subject.path) {
            Loaded::Text(text) => text,
            Loaded::Repaired(text) => {
                remarks.push(format!(
                    "{}: invalid UTF-8 was replaced.",
                    quoted(&subject.slug)
                ));
                text
            }
            Loaded::Skipped(reason) => {
                remarks.push(format!("{} was skipped: {reason}.", quoted(&subject.slug)));
                continue;
            }
        };
        let content = format(&subject.path, text);
        let content = if wrapped {
            wrap("subject", Some(&subject.slug), &content)
        } else {
            content
        };
        size += content.len();
        blocks.push(content);
    }
    remarks.extend(describe_misses(scan, &misses, ""));
    if any_glob || !misses.is_empty() {
        remarks.extend(scan.notes().iter().map(|note| format!("left out: {note}.")));
    }
    if !remarks.is_empty() {
        let notes: Vec<String> = remarks
            .into_iter()
            .map(|remark| format!("Note: {remark}"))
            .collect();
        blocks.push(notes.join("\n"));
    }
    join_blocks(&blocks)
}

/// Joins with a blank line, whether or not a block ends its last line itself.
fn join_blocks(blocks: &[String]) -> String {
    let mut text = String::with_capacity(blocks.iter().map(|block| block.len() + 2).sum());
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(block);
    }
    text
}

fn no_match(input: &LearnInput, scan: &Scan, request: &Request<'_>) -> String {
    let place = format!(" in topic {}", quoted(&input.topic));
    let mut blocks = vec![describe_misses(scan, &request.misses, &place).join("\n")];
    let available = bullets(scan.available());
    if available.is_empty() {
        blocks.push("There are no subjects to learn in this topic.".to_owned());
    } else {
        let shown: Vec<String> = available.iter().take(MAX_SUGGESTED).cloned().collect();
        blocks.push(format!("Available subjects:\n\n{}", shown.join("\n")));
        let rest = available.len() - shown.len();
        if rest > 0 {
            blocks.push(format!(
                "There are {rest} more; call `learn` without `subjects` to list them all."
            ));
        }
    }
    blocks.extend(left_out(scan));
    blocks.join("\n\n")
}

//! Which subjects a topic has, and which of them are available, learned or hidden. Applies the
//! configured patterns; does not read subjects.

use std::{io, path::Path};

use crate::{
    limits::{MAX_ENTRIES, MAX_MATCH_WORK},
    selector::Selector,
    slug::{is_hidden, slug},
    topic_dir::TopicDir,
    walk::{reason, walk},
};

/// Why the subjects of a topic cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The topic directory cannot be opened or listed.
    #[error("the topic directory cannot be read: {}", reason(source))]
    Unreadable {
        /// What the system said.
        source: io::Error,
    },

    /// The topic directory holds more than [`MAX_ENTRIES`] entries, or their paths are too long.
    #[error("the topic directory is too large (at most {MAX_ENTRIES} entries, 32 MiB of paths)")]
    TooLarge,

    /// There are too many patterns, or too long ones, for the number of subjects.
    #[error("too many or too long patterns for the subjects of this topic; use fewer")]
    TooMuchMatching,
}

/// One subject of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The name it is asked for by. Several files may share one slug.
    pub slug: String,

    /// Where its file is, relative to the topic directory.
    pub path: String,

    /// Whether it is left out of listings and globs and given only by its exact slug.
    pub hidden: bool,

    /// Whether it is part of the system prompt already.
    pub learned: bool,
}

/// The enabled subjects of a topic.
#[derive(Debug)]
pub struct Scan {
    pub(crate) dir: TopicDir,
    pub(crate) subjects: Vec<Subject>,
    notes: Vec<String>,
}

/// Scans the topic directory at `dir`, whose own path may lead through links.
///
/// Entries of `disabled` and `learned` are slugs or globs. `disabled` wins over `learned`.
///
/// # Errors
/// When the directory cannot be read or is larger than the limits.
pub fn scan(dir: &Path, disabled: &[String], learned: &[String]) -> Result<Scan, ScanError> {
    let dir = TopicDir::open(dir).map_err(|source| ScanError::Unreadable { source })?;
    scan_dir(dir, disabled, learned)
}

/// Scans the topic directory at `relative` inside `root`, refusing a path or link out of `root`.
///
/// This is the one to use for directories named by a workspace, which may be hostile.
///
/// # Errors
/// When the directory cannot be read, lies outside `root` or is larger than the limits.
#[cfg(not(target_arch = "wasm32"))]
pub fn scan_beneath(
    root: &Path,
    relative: &Path,
    disabled: &[String],
    learned: &[String],
) -> Result<Scan, ScanError> {
    let dir = TopicDir::open_beneath(root, relative)
        .map_err(|source| ScanError::Unreadable { source })?;
    scan_dir(dir, disabled, learned)
}

fn scan_dir(dir: TopicDir, disabled: &[String], learned: &[String]) -> Result<Scan, ScanError> {
    let walk = walk(&dir)?;
    let mut subjects: Vec<Subject> = walk
        .files
        .into_iter()
        .map(|path| Subject {
            slug: slug(&path),
            hidden: is_hidden(&path),
            learned: false,
            path,
        })
        .collect();
    check_work(&subjects, disabled.iter().chain(learned))?;

    let disabled: Vec<Selector> = disabled.iter().map(|entry| Selector::new(entry)).collect();
    let learned: Vec<Selector> = learned.iter().map(|entry| Selector::new(entry)).collect();
    subjects.retain(|subject| !disabled.iter().any(|entry| entry.covers(&subject.slug)));
    let is_disabled = |path: &str| disabled.iter().any(|entry| entry.covers(&slug(path)));
    let notes = walk.notes.into_lines(is_disabled);
    for subject in &mut subjects {
        subject.learned = learned.iter().any(|entry| entry.selects(subject));
    }
    subjects
        .sort_unstable_by(|a, b| (&a.slug, a.hidden, &a.path).cmp(&(&b.slug, b.hidden, &b.path)));
    Ok(Scan {
        dir,
        subjects,
        notes,
    })
}

/// Refuses combinations of patterns and slugs that would take very long to match.
pub(crate) fn check_work<'a>(
    subjects: &[Subject],
    patterns: impl Iterator<Item = &'a String>,
) -> Result<(), ScanError> {
    let slugs: u64 = subjects
        .iter()
        .map(|subject| subject.slug.len() as u64 + 1)
        .sum();
    let patterns: u64 = patterns.map(|pattern| pattern.len() as u64 + 1).sum();
    if slugs.saturating_mul(patterns) > MAX_MATCH_WORK {
        return Err(ScanError::TooMuchMatching);
    }
    Ok(())
}

impl Scan {
    /// The subjects that `learn` lists and that globs find.
    pub fn available(&self) -> impl Iterator<Item = &Subject> {
        self.subjects
            .iter()
            .filter(|subject| !subject.hidden && !subject.learned)
    }

    /// The subjects that belong into the system prompt, hidden ones included.
    pub fn learned(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().filter(|subject| subject.learned)
    }

    /// The hidden subjects that are not learned.
    pub fn hidden(&self) -> impl Iterator<Item = &Subject> {
        self.subjects
            .iter()
            .filter(|subject| subject.hidden && !subject.learned)
    }

    /// Returns whether anything is left to learn; if no topic says so, `learn` is not offered.
    #[must_use]
    pub fn is_learnable(&self) -> bool {
        self.available().next().is_some()
    }

    /// What was left out of the scan and why, one line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

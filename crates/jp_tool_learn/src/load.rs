//! Reads one subject and decides whether it is text. It never fails: what cannot be given is a
//! reason to be told, so that one bad file does not spoil a call for many.

use std::io::Read as _;

use crate::{limits::MAX_SUBJECT_BYTES, topic_dir::TopicDir, walk::reason};

/// How far into a file a NUL byte marks it as binary.
const SNIFFED_BYTES: usize = 8192;

/// What became of reading a subject.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    Text(String),
    /// Text in which invalid UTF-8 was replaced by U+FFFD.
    Repaired(String),
    Skipped(String),
}

/// Reads the subject at `path`.
pub(crate) fn load(dir: &TopicDir, path: &str) -> Loaded {
    let (file, size) = match dir.open_file(path) {
        Ok(opened) => opened,
        Err(error) => return Loaded::Skipped(reason(&error)),
    };
    if size > MAX_SUBJECT_BYTES {
        return Loaded::Skipped(too_large(&format!("{size} bytes")));
    }
    let mut bytes = Vec::new();
    // The file may have grown since, or may lie about its size.
    if let Err(error) = file.take(MAX_SUBJECT_BYTES + 1).read_to_end(&mut bytes) {
        return Loaded::Skipped(reason(&error));
    }
    if bytes.len() as u64 > MAX_SUBJECT_BYTES {
        return Loaded::Skipped(too_large("it grew while it was read"));
    }
    if bytes.iter().take(SNIFFED_BYTES).any(|byte| *byte == 0) {
        return Loaded::Skipped("binary file".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Loaded::Text(text),
        Err(error) => Loaded::Repaired(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn too_large(size: &str) -> String {
    format!(
        "too large ({size}, at most {} MiB)",
        MAX_SUBJECT_BYTES >> 20
    )
}

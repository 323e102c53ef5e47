//! Files of a workspace that a front shows as they are, because the configuration names them.
//!
//! The workspace itself may name them, trusted or not. So a path never leads out of it, what the user's
//! policy keeps from tools is kept back here too, and of a workspace that nobody has looked at no hidden
//! file is shown: `.env` and `.git` are the user's, whoever wrote the configuration.

use std::{
    ffi::OsStr,
    io,
    path::{Component, Path},
};

use jp_config::TopicConfig;
use jp_policy::GuestPath;
use jp_tool_learn::FileBeneath;
pub use jp_tool_learn::Stamp;

use crate::Host;

/// Why a file is not shown.
#[derive(Debug, thiserror::Error)]
pub enum ShownError {
    /// It cannot be read, leads out of the workspace, or is not a regular file.
    #[error("cannot read `{path}`: {source}", path = jp_text::inline(path))]
    Unreadable {
        /// The path as it was given.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is too large.
    #[error("cannot read `{path}`: larger than {most} bytes", path = jp_text::inline(path))]
    TooLarge {
        /// The path as it was given.
        path: String,
        /// The most that is read.
        most: u64,
    },
    /// The user lets no tool read it.
    #[error("cannot read `{path}`: `policy.workspace` lets no tool read it", path = jp_text::inline(path))]
    Policy {
        /// The path as it was given.
        path: String,
    },
    /// It is a hidden file of a workspace that is not trusted.
    #[error("cannot read `{path}`: hidden files need a trusted workspace; `jp trust` trusts it", path = jp_text::inline(path))]
    Hidden {
        /// The path as it was given.
        path: String,
    },
}

/// Reads a file of the workspace, at most so many bytes.
///
/// # Errors
///
/// When it may not be shown or cannot be read.
pub fn shown_file(host: &Host, path: &str, most: u64) -> Result<Vec<u8>, ShownError> {
    let named = || path.to_owned();
    let unreadable = |source| ShownError::Unreadable {
        path: named(),
        source,
    };
    // Asked before anything is opened: what is not allowed is not told apart from what is not there.
    allowed(host, Path::new(path), path)?;
    let file = FileBeneath::find(host.root(), Path::new("."), path).map_err(unreadable)?;
    allowed(host, Path::new(file.leads_to()), path)?;
    let bytes = file.read(most).map_err(unreadable)?;
    bytes.ok_or_else(|| ShownError::TooLarge {
        path: named(),
        most,
    })
}

/// Reads a subject of a topic, by its path in the directory of the topic.
///
/// # Errors
///
/// When it cannot be read.
pub fn shown_subject(
    host: &Host,
    topic: &TopicConfig,
    path: &str,
    most: u64,
) -> Result<Vec<u8>, ShownError> {
    let unreadable = |source| ShownError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let dir = Path::new(topic.subjects().as_str());
    let file = FileBeneath::find(host.root(), dir, path).map_err(unreadable)?;
    let bytes = file.read(most).map_err(unreadable)?;
    bytes.ok_or_else(|| ShownError::TooLarge {
        path: path.to_owned(),
        most,
    })
}

/// Returns what changes when a file of the workspace does; nothing where none is, or it may not be shown.
#[must_use]
pub fn shown_file_stamp(host: &Host, path: &str) -> Option<Stamp> {
    allowed(host, Path::new(path), path).ok()?;
    FileBeneath::stamp(host.root(), Path::new("."), path)
}

/// Returns what changes when a subject of a topic does; nothing where none is.
#[must_use]
pub fn shown_subject_stamp(host: &Host, topic: &TopicConfig, path: &str) -> Option<Stamp> {
    let dir = Path::new(topic.subjects().as_str());
    FileBeneath::stamp(host.root(), dir, path)
}

/// Asks the user's policy and trust about a path in the workspace.
fn allowed(host: &Host, path: &Path, named: &str) -> Result<(), ShownError> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part),
        _ => None,
    });
    let parts: Vec<&OsStr> = parts.collect();
    let hidden = |part: &&OsStr| part.as_encoded_bytes().starts_with(b".");
    if !host.trust().is_trusted() && parts.iter().any(hidden) {
        let path = named.to_owned();
        return Err(ShownError::Hidden { path });
    }
    let text: Option<Vec<&str>> = parts.iter().map(|part| part.to_str()).collect();
    let place = text.map(|parts| format!("/workspace/{}", parts.join("/")));
    let place = place.and_then(|place| GuestPath::new(&place).ok());
    let files = &host.policy().capabilities.files;
    match place.and_then(|place| files.access(&place)) {
        Some(_) => Ok(()),
        None => Err(ShownError::Policy {
            path: named.to_owned(),
        }),
    }
}

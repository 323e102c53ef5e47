//! How much a text or a document may hold, checked before anything is made of it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::StoreError;

/// The longest name of an owner, in bytes.
pub const MAX_OWNER: usize = 1024;
/// The longest name of a tool, in bytes.
pub const MAX_TOOL: usize = 1024;
/// The longest status message, in bytes.
pub const MAX_MESSAGE: usize = 16 * 1024;
/// The longest media type, in bytes.
pub const MAX_MIME_TYPE: usize = 256;
/// The largest document of a task, in bytes: its result, its error, what it asks for, what it was answered.
pub const MAX_DOCUMENT: usize = 4 * 1024 * 1024;
/// The largest result that is kept for later reading, in bytes.
pub const MAX_SPILL: usize = 64 * 1024 * 1024;
/// The most bytes that one read returns.
pub const MAX_SLICE: usize = 4 * 1024 * 1024;

/// The longest text that says what a person was shown, in bytes.
pub const MAX_ABOUT: usize = 64 * 1024;
/// The longest reason that a model gives for a proposal, in bytes.
pub const MAX_REASON: usize = 2048;
/// The longest text of what a tool may be granted, in bytes.
pub(crate) const MAX_ACCESS: usize = 16 * 1024;
/// The longest pattern of arguments, in bytes.
pub const MAX_PATTERN: usize = 16 * 1024;
/// How many decisions are remembered for one tool and principal that are not about one call's very
/// arguments: each is tried for each call.
pub const MAX_PATTERNS: u64 = 64;
/// How many decisions are remembered at all.
pub const MAX_GRANTS: u64 = 100_000;

/// The members of a JSON object, each as it was written.
pub(crate) type Members = BTreeMap<String, Box<RawValue>>;

/// Refuses what is larger than `most` bytes.
pub(crate) const fn check(what: &'static str, found: usize, most: usize) -> Result<(), StoreError> {
    if found <= most {
        return Ok(());
    }
    Err(StoreError::TooLarge { what, most, found })
}

/// Refuses an owner that no key may have.
pub(crate) const fn check_owner(owner: &str) -> Result<(), StoreError> {
    if owner.is_empty() {
        return Err(StoreError::NoOwner);
    }
    check("owner", owner.len(), MAX_OWNER)
}

/// Refuses a document that is too large or not JSON.
pub(crate) fn check_document(what: &'static str, text: &str) -> Result<(), StoreError> {
    check(what, text.len(), MAX_DOCUMENT)?;
    let read = serde_json::from_str::<&RawValue>(text);
    let failed = |source| StoreError::NotJson { what, source };
    read.map(drop).map_err(failed)
}

/// Reads a document that is a JSON object.
pub(crate) fn members(what: &'static str, text: &str) -> Result<Members, StoreError> {
    check(what, text.len(), MAX_DOCUMENT)?;
    serde_json::from_str(text).map_err(|source| StoreError::NoObject { what, source })
}

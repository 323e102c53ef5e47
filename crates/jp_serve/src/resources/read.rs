//! `resources/read`: the bytes behind an address.

use data_encoding::BASE64;
use jp_audit::AuditError;
use jp_host::OpenError;
use jp_llm::{ShownError, shown_file, shown_subject};
use rmcp::{ErrorData, model::ResourceContents};
use serde_json::json;

use super::{
    audit, manual,
    shelf::{Configured, Shelf, known_mime, mime},
    uri::Ours,
};
use crate::{fill::fill, principal::Served};

/// Larger resources are not read.
pub(crate) const LARGEST: usize = 8 * 1024 * 1024;

/// Why a resource cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// There is none, or none that the caller may know of.
    #[error("unknown resource")]
    Unknown,
    /// The workspace cannot be opened.
    #[error("the workspace cannot be opened: {0}")]
    Open(#[from] OpenError),
    /// The file cannot be read.
    #[error(transparent)]
    Shown(#[from] ShownError),
    /// The audit log cannot be read.
    #[error("the audit log cannot be read: {0}")]
    Audit(#[from] AuditError),
    /// It is too large.
    #[error("resource too large: expected at most {LARGEST} bytes")]
    TooLarge,
}

impl ReadError {
    /// Says in the protocol's words why an address cannot be read.
    pub(crate) fn of(self, uri: &str) -> ErrorData {
        match self {
            Self::Unknown => {
                let shown = jp_text::start(uri, 200);
                let text = format!("unknown resource `{shown}`; resources/list has the addresses");
                let uri = jp_text::shorten(uri, 2_048);
                ErrorData::resource_not_found(text, Some(json!({ "uri": uri })))
            }
            error => ErrorData::internal_error(error.to_string(), None),
        }
    }
}

/// Reads what is behind an address.
pub(crate) fn read(shared: &Served, uri: &str) -> Result<Vec<ResourceContents>, ReadError> {
    let shelf = shared.shelves.now(shared)?;
    let Some(ours) = Ours::parse(uri) else {
        let found = shelf.configured(uri).ok_or(ReadError::Unknown)?;
        return Ok(vec![configured(&shelf, &found, uri)?]);
    };
    let json = |value: serde_json::Value| {
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        vec![text_of(uri, text, "application/json")]
    };
    match ours {
        Ours::Subject { topic, subject } => subjects(&shelf, &topic, &subject, uri),
        Ours::Tool(name) => {
            let tool = shelf.catalogue.tool(&name).ok_or(ReadError::Unknown)?;
            Ok(vec![text_of(uri, manual::page(tool), "text/markdown")])
        }
        Ours::Recent => Ok(json(audit::recent(shared)?)),
        Ours::Record(number) => Ok(json(audit::record(shared, number)?)),
    }
}

/// Tells whether something is behind an address, without reading it. Records are not looked up: whoever
/// follows one hears nothing, whether it is there or not.
pub(crate) fn is_known(shelf: &Shelf, uri: &str) -> bool {
    match Ours::parse(uri) {
        None => shelf.configured(uri).is_some(),
        Some(Ours::Subject { topic, subject }) => shelf.files(&topic, &subject).is_some(),
        Some(Ours::Tool(name)) => shelf.catalogue.tool(&name).is_some(),
        Some(Ours::Recent | Ours::Record(_)) => true,
    }
}

/// Reads all files of a subject: several may have one name.
fn subjects(
    shelf: &Shelf,
    topic: &str,
    subject: &str,
    uri: &str,
) -> Result<Vec<ResourceContents>, ReadError> {
    let files = shelf.files(topic, subject).ok_or(ReadError::Unknown)?;
    let host = shelf.catalogue.host();
    let config = host.knowledge().topics.get(topic);
    let config = config.ok_or(ReadError::Unknown)?;
    let mut room = LARGEST;
    let mut contents = Vec::new();
    for path in files {
        let bytes = shown_subject(host, config, path, room as u64)?;
        room = room.saturating_sub(bytes.len());
        contents.push(contents_of(uri, bytes, Some(mime(path).to_owned())));
    }
    Ok(contents)
}

fn configured(
    shelf: &Shelf,
    found: &Configured<'_>,
    uri: &str,
) -> Result<ResourceContents, ReadError> {
    let config = found.config;
    if let Some(text) = &config.text {
        let values = found.values.iter();
        let values: Vec<(&str, &str)> = values
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let text = fill(text, &values, LARGEST).ok_or(ReadError::TooLarge)?;
        let mime = known_mime(config).unwrap_or_default();
        return Ok(text_of(uri, text, &mime));
    }
    let file = config.file.as_ref().ok_or(ReadError::Unknown)?;
    let host = shelf.catalogue.host();
    let bytes = shown_file(host, file.path().as_str(), LARGEST as u64)?;
    Ok(contents_of(uri, bytes, known_mime(config)))
}

fn text_of(uri: &str, text: String, mime: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(mime)
}

/// Makes contents of bytes: text where they are UTF-8.
fn contents_of(uri: &str, bytes: Vec<u8>, mime: Option<String>) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) => text_of(uri, text, mime.as_deref().unwrap_or("text/plain")),
        Err(error) => {
            let blob = BASE64.encode(error.as_bytes());
            let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
            ResourceContents::blob(blob, uri).with_mime_type(mime)
        }
    }
}

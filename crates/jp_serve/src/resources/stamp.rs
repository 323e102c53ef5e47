//! What changes when a resource does, without reading more of it than needed.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use jp_llm::{shown_file_stamp, shown_subject_stamp};
use rmcp::model::Tool;

use super::{Shelf, audit, uri::Ours};
use crate::principal::Served;

/// What a resource looked like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// There was none.
    Absent,
    /// Files, each of which may be absent.
    Files(Vec<Option<jp_llm::Stamp>>),
    /// A text of the configuration or of a tool, by its hash.
    Text(u64),
    /// The newest record.
    Record(u64),
}

/// Looks at a resource.
pub(crate) fn stamp(shared: &Served, shelf: &Shelf, uri: &str) -> Stamp {
    let host = shelf.catalogue.host();
    let Some(ours) = Ours::parse(uri) else {
        let Some(found) = shelf.configured(uri) else {
            return Stamp::Absent;
        };
        return match &found.config.file {
            Some(file) => Stamp::Files(vec![shown_file_stamp(host, file.path().as_str())]),
            None => Stamp::Text(hash(&found.config.text)),
        };
    };
    match ours {
        Ours::Subject { topic, subject } => {
            let files = shelf.files(&topic, &subject);
            let config = host.knowledge().topics.get(topic.as_str());
            files.zip(config).map_or(Stamp::Absent, |(files, config)| {
                let stamps = files
                    .iter()
                    .map(|path| shown_subject_stamp(host, config, path));
                Stamp::Files(stamps.collect())
            })
        }
        Ours::Tool(name) => {
            let tool = shelf.catalogue.tool(&name);
            tool.map_or(Stamp::Absent, |tool| Stamp::Text(hash_of_tool(tool)))
        }
        Ours::Recent => Stamp::Record(audit::last(shared)),
        // A record never changes.
        Ours::Record(number) => Stamp::Record(number),
    }
}

/// Returns a number that differs when what is known about a tool does.
pub(crate) fn hash_of_tool(tool: &Tool) -> u64 {
    hash(&serde_json::to_string(tool).unwrap_or_default())
}

/// Returns a number that differs when a value does.
pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

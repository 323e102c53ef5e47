//! Which signed tools an app says it uses, and what to write where for one more.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::{
    collect::Found,
    conversation::tool::ToolSource,
    document::Format,
    load::{Layer, Loaded},
};

/// A file that is read beside every other one of a workspace.
const BESIDE: &str = ".jp.toml";

/// The file in which an app says which signed tools it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaring {
    file: PathBuf,
    /// Whether it is the app's manifest, whose `tooling` is a list.
    is_manifest: bool,
}

/// What an app would have to say to use a signed tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undeclared {
    /// The file that does not declare it.
    pub file: PathBuf,
    /// The file to declare it in.
    pub into: PathBuf,
    /// Where in that file.
    pub section: &'static str,
    /// What to write there.
    pub line: String,
}

/// Finds the file among those of the workspace: its `locara.json`, or else the last one with a
/// `[tooling]`.
pub(crate) fn find(layers: &[Found]) -> Option<Declaring> {
    let files = || {
        let layers = layers.iter();
        layers.filter(|found| found.layer == Layer::Workspace)
    };
    let is_manifest = |found: &&Found| found.document.format == Format::Manifest;
    let declares = |found: &&Found| found.tree.get("tooling").is_some();
    let found = files()
        .find(is_manifest)
        .or_else(|| files().rfind(declares))?;
    Some(Declaring {
        file: found.document.path.clone(),
        is_manifest: is_manifest(&found),
    })
}

impl Loaded {
    /// Returns what the app would have to say to use a signed tool; `None` when it says so, or when
    /// the workspace has no file that says which tools it uses.
    #[must_use]
    pub fn undeclared(&self, name: &str, id: &str, version: &str) -> Option<Undeclared> {
        let config = &self.config;
        let entry = config.conversation.tools.tools.get(name);
        let used = entry.is_some_and(|tool| matches!(tool.source, ToolSource::Registry { .. }));
        let declaring = self.declaring.as_ref();
        let declaring = declaring.filter(|_| !used && !config.tooling.contains_key(name))?;
        let file = declaring.file.clone();
        // A manifest has no way to give a tool another name.
        if declaring.is_manifest && name == id {
            return Some(Undeclared {
                into: file.clone(),
                file,
                section: "`tooling`",
                line: json!(format!("{id}@{version}")).to_string(),
            });
        }
        let key = crate::tree::dotted(&[name.to_owned()]);
        let into = match declaring.is_manifest {
            true => file.parent().unwrap_or(Path::new("")).join(BESIDE),
            false => file.clone(),
        };
        Some(Undeclared {
            file,
            into,
            section: "`[tooling]`",
            line: match name == id {
                true => format!("{key} = \"{version}\""),
                false => format!("{key} = {{ id = \"{id}\", version = \"{version}\" }}"),
            },
        })
    }
}

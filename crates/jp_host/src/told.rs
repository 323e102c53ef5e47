//! What MCP servers told of their tools when they were asked last, one file for each server.

use std::path::{Path, PathBuf};

use jp_disk::{Disk, PRIVATE, Sha256};
use jp_llm::{ToldMemory, broker::Tools};

/// The largest list that is read or kept.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The files, below the user's data. A workspace cannot write there.
pub(crate) struct Told {
    dir: PathBuf,
}

impl Told {
    pub(crate) fn below(data: &Path) -> Self {
        Self {
            dir: data.join("mcp"),
        }
    }

    /// Returns the file of a server: what it is, is in the name, so that a changed entry has no list.
    fn file(&self, server: &str) -> PathBuf {
        let name = Sha256::of(server.as_bytes());
        self.dir.join(format!("{name}.json"))
    }
}

impl ToldMemory for Told {
    fn recall(&self, server: &str) -> Option<Tools> {
        let bytes = jp_disk::read(&self.file(server), MAX_FILE).ok()??;
        Tools::from_json(serde_json::from_slice(&bytes).ok()?)
    }

    fn keep(&self, server: &str, tools: &Tools) {
        let bytes = tools.to_json().to_string().into_bytes();
        let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_FILE);
        if fits && jp_disk::create_dir(&self.dir).is_ok() {
            // The list is shown from memory in this process; the next one asks again.
            drop(Disk::real().replace(&self.file(server), &bytes, PRIVATE));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_kept_is_recalled_for_the_same_server_only_and_checked_again() {
        let dir = tempfile::tempdir().unwrap();
        let told = Told::below(dir.path());
        assert_eq!(told.recall("a"), None);
        let tools = Tools::from_json(json!([{"name": "t", "inputSchema": {"type": "object"}}]));
        let tools = tools.unwrap();
        told.keep("a", &tools);
        assert_eq!(told.recall("a"), Some(tools));
        assert_eq!(told.recall("b"), None);
        let bad = json!([{"name": "\u{1b}", "inputSchema": {"type": "object"}}]);
        std::fs::write(told.file("a"), bad.to_string()).unwrap();
        assert_eq!(told.recall("a").map(|tools| tools.tools.len()), Some(0));
    }
}

//! The index of a registry: which versions of which tools it offers, and what each manifest is.
//!
//! It is signed and numbered: its server can neither offer an old version as the newest nor
//! swap a manifest. An [`Index`] was verified; [`IndexContent`] is only what one says.

mod cache;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    Digest, ModelId, ToolId,
    revocation::Revocations,
    signature::{Dated, Judge, ListError, ListKind, Seen, SignedList},
};

/// A larger index is refused.
const MAX_INDEX: usize = 16 * 1024 * 1024;

/// As many characters of a summary or a reason are kept.
const MAX_TEXT: usize = 500;

/// What an index says: `index.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexContent {
    /// One more than that of the index before.
    pub number: u64,
    /// In seconds since 1970.
    pub issued_at: u64,
    /// Until when there will be a newer one; users who get this one later are warned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The tools it offers.
    #[serde(default)]
    pub tools: BTreeMap<ToolId, IndexTool>,
    /// The models it offers.
    #[serde(default)]
    pub models: BTreeMap<ModelId, IndexModel>,
}

/// A tool in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexTool {
    /// The version that `registry/tools/<id>.json` is.
    pub newest: Version,
    /// What it does, in a line; for a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// All its versions.
    pub versions: BTreeMap<Version, IndexVersion>,
}

/// A version in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexVersion {
    /// The digest of its canonical manifest.
    pub manifest: Digest,
    /// Why it should not be used any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// A model in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexModel {
    /// The digest of its canonical manifest, `registry/models/<id>.json`.
    pub manifest: Digest,
}

/// An index that the registry's key signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    content: IndexContent,
    seen: Seen,
}

impl IndexContent {
    /// Makes what people read fit to be shown; what was signed is hashed already.
    fn clean(&mut self) {
        let tools = self.tools.values_mut();
        let texts = tools.flat_map(|tool| {
            let reasons = tool.versions.values_mut().map(|v| &mut v.deprecated);
            reasons.chain([&mut tool.summary])
        });
        for text in texts.flatten() {
            *text = jp_text::mask(text, MAX_TEXT);
        }
    }

    fn problem(&self) -> Option<String> {
        let lost = |tool: &IndexTool| !tool.versions.contains_key(&tool.newest);
        let (id, tool) = self.tools.iter().find(|(_, tool)| lost(tool))?;
        let newest = &tool.newest;
        Some(format!(
            "the newest version of `{id}`, {newest}, is not among its versions"
        ))
    }
}

impl Index {
    /// Verifies an index, whether or not it is the newest; see [`Index::update`] for that.
    ///
    /// # Errors
    ///
    /// When the registry's key did not sign it, or it makes no sense.
    pub(crate) fn open(
        signed: &SignedList,
        judge: &Judge<'_>,
        revoked: &Revocations,
    ) -> Result<Self, ListError> {
        let kind = ListKind::Index;
        let (mut content, digest): (IndexContent, _) =
            kind.open(signed, MAX_INDEX, judge, revoked)?;
        content.clean();
        if let Some(problem) = content.problem() {
            return Err(kind.shape(judge, &problem));
        }
        let number = content.number;
        let seen = Seen { number, digest };
        Ok(Self { content, seen })
    }

    /// Returns what it says.
    #[must_use]
    pub(crate) const fn content(&self) -> &IndexContent {
        &self.content
    }

    /// Returns when it was made, in seconds since 1970.
    #[must_use]
    pub(crate) const fn issued_at(&self) -> u64 {
        self.content.issued_at
    }

    /// Returns when it was made and until when it holds.
    #[must_use]
    pub(crate) const fn dated(&self) -> Dated {
        Dated {
            issued_at: self.content.issued_at,
            expires_at: self.content.expires_at,
        }
    }

    /// Finds a tool.
    #[must_use]
    pub(crate) fn tool(&self, id: &ToolId) -> Option<&IndexTool> {
        self.content.tools.get(id)
    }

    /// Finds a version of a tool.
    #[must_use]
    pub(crate) fn version(&self, id: &ToolId, version: &Version) -> Option<&IndexVersion> {
        self.tool(id)?.versions.get(version)
    }
}

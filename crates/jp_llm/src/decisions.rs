//! What the user decided before about calls like this one, as the pipeline asks for it. Where that is
//! remembered is the host's business; nothing that a model or a tool says reaches it.

mod digest;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use jp_policy::{Capabilities, Grant};
use serde_json::{Map, Value};

use crate::ApprovalRequest;

pub use digest::arguments_digest;
pub(crate) use digest::{definition, shown, with_file};

/// A sha256.
pub type Digest = [u8; 32];

/// What a decision is about: one call of one tool, as it was shown.
pub struct About<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// Who makes the call.
    pub principal: &'a str,
    /// Its arguments, checked and completed.
    pub arguments: &'a Map<String, Value>,
    /// What is shown of the tool: its definition, and its grant where there is one. Another tool, or the
    /// same one with another grant, has another digest.
    pub shown: Digest,
    /// The time, in milliseconds since 1970.
    pub now: u64,
    /// The files that a person chose for the call, as they count.
    files: &'a [String],
    digest: OnceLock<Digest>,
}

impl<'a> About<'a> {
    /// Says what a decision is about.
    #[must_use]
    pub const fn new(
        tool: &'a str,
        principal: &'a str,
        arguments: &'a Map<String, Value>,
        shown: Digest,
        now: u64,
    ) -> Self {
        Self {
            tool,
            principal,
            arguments,
            shown,
            now,
            files: &[],
            digest: OnceLock::new(),
        }
    }

    /// Adds the files that a person chose: the same arguments with another file are another call.
    pub(crate) const fn with_files(mut self, files: &'a [String]) -> Self {
        self.files = files;
        self
    }

    /// Returns the digest of the arguments, which is made when it is first wanted.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self
            .digest
            .get_or_init(|| arguments_digest(self.arguments, self.files))
    }
}

/// What is known of a call before anybody is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// It runs.
    Allowed {
        /// Who decided that, and how.
        by: String,
    },
    /// It does not run.
    Never {
        /// Who decided that, and how.
        by: String,
    },
    /// There may be a permission for this one call, which is to be [spent](Decisions::spend) first.
    Ticket,
}

/// What a person said about more calls than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// The tool runs in this workspace, until its configuration or the tool changes.
    ForWorkspace,
    /// The tool never runs in this workspace.
    Never,
}

/// What the user decided before. Answers come from memory; whether that is of today is asked once for each
/// call.
#[async_trait]
pub trait Decisions: Send + Sync {
    /// Tells whether nothing was decided or taken back since this was last read. `now` is the time in
    /// milliseconds since 1970.
    fn is_fresh(&self, now: u64) -> bool;

    /// Reads again what was decided.
    ///
    /// # Errors
    ///
    /// When it cannot be read: no call may run then that a person could have forbidden.
    async fn refresh(&self) -> Result<(), Unreadable>;

    /// Tells whether anything at all was decided about a tool.
    fn concerns(&self, tool: &str) -> bool;

    /// Returns what the user granted this tool for this call beyond their policy. `about.shown` is the
    /// tool's definition alone.
    fn access(&self, about: &About<'_>) -> Option<Arc<Capabilities>>;

    /// Looks a call up.
    fn known(&self, about: &About<'_>) -> Known;

    /// Remembers what a person said about a call where they were asked: that the tool runs in this
    /// workspace from now on, or that it never does. Returns who decided, and how, for the record.
    ///
    /// # Errors
    ///
    /// When it cannot be written down: the call must not run then.
    async fn remember(
        &self,
        request: &ApprovalRequest<'_>,
        lasting: Lasting,
    ) -> Result<String, Unreadable>;

    /// Spends the permission for one call; returns who gave it, or nothing when it is gone.
    async fn spend(&self, about: &About<'_>) -> Option<String>;
}

/// Why it is not known what the user decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use what you decided about calls: {reason}")]
pub struct Unreadable {
    /// What failed.
    pub reason: String,
}

/// A call that the user's policy denied, and what would have to be granted.
pub struct Denial<'a> {
    /// The call. `about.shown` is what would be shown of it with that grant, so that accepting it covers
    /// this very call.
    pub about: &'a About<'a>,
    /// What is shown of the tool alone.
    pub definition: Digest,
    /// Where the tool comes from.
    pub source: &'static str,
    /// What is missing.
    pub missing: &'a Capabilities,
    /// The lines that would grant it, as they are written under `[policy]`.
    pub lines: &'a [String],
    /// What the call would get.
    pub grant: &'a Grant,
}

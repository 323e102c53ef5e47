//! One thing that was taken back, as a list writes it.

use semver::{Prerelease, Version, VersionReq};
use serde::{Deserialize, Serialize};

use crate::{Digest, ToolId, key::KeyId};

/// As many characters of a reason are kept.
const MAX_REASON: usize = 500;

/// One thing that was taken back, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Revocation {
    /// What.
    pub thing: RevokedThing,
    /// Why; shown to those who have it installed.
    pub reason: String,
}

/// What can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevokedThing {
    /// These bytes, whatever tool they are.
    Artifact(Digest),
    /// Everything this key signed.
    Key(KeyId),
    /// These versions of a tool. A version before a release (`1.2.0-rc.1`) is meant where the
    /// release is.
    Versions {
        /// Which tool.
        id: ToolId,
        /// Which of its versions, such as `<1.3.0`.
        versions: VersionReq,
    },
}

impl RevokedThing {
    /// One text for each thing.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Artifact(sha256) => format!("sha256:{sha256}"),
            Self::Key(key) => format!("key:{key}"),
            Self::Versions { id, versions } => format!("{}{versions}", versions_of(id)),
        }
    }

    /// Tells whether a version of a tool is among those taken back.
    #[must_use]
    pub fn is_version(&self, id: &ToolId, version: &Version) -> bool {
        let Self::Versions { id: of, versions } = self else {
            return false;
        };
        // A requirement passes over `1.2.0-rc.1` unless it names it; a revocation must not.
        let mut release = version.clone();
        release.pre = Prerelease::EMPTY;
        of == id && (versions.matches(version) || versions.matches(&release))
    }
}

/// What the texts of all versions of a tool begin with.
pub(super) fn versions_of(id: &ToolId) -> String {
    format!("tool:{id} ")
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<KeyId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<ToolId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    versions: Option<VersionReq>,
    reason: String,
}

/// A revocation of nothing, or of two things at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid revocation: expected a `sha256`, a `key`, or an `id` with `versions`")]
struct NoThing;

impl TryFrom<Written> for Revocation {
    type Error = NoThing;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let Written {
            sha256,
            key,
            id,
            versions,
            reason,
        } = written;
        let thing = match (sha256, key, id, versions) {
            (Some(sha256), None, None, None) => RevokedThing::Artifact(sha256),
            (None, Some(key), None, None) => RevokedThing::Key(key),
            (None, None, Some(id), Some(versions)) => RevokedThing::Versions { id, versions },
            _ => return Err(NoThing),
        };
        // A reason that cannot be shown as it is must not make the revocation invalid.
        let reason = jp_text::mask(&reason, MAX_REASON);
        Ok(Self { thing, reason })
    }
}

impl From<Revocation> for Written {
    fn from(revocation: Revocation) -> Self {
        let mut written = Self {
            sha256: None,
            key: None,
            id: None,
            versions: None,
            reason: revocation.reason,
        };
        match revocation.thing {
            RevokedThing::Artifact(sha256) => written.sha256 = Some(sha256),
            RevokedThing::Key(key) => written.key = Some(key),
            RevokedThing::Versions { id, versions } => {
                written.id = Some(id);
                written.versions = Some(versions);
            }
        }
        written
    }
}

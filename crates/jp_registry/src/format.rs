//! Why a text or a document is not what it must be: the one error of everything that is read or written.

use crate::{
    document::DocumentError, id::IdError, install::VersionsError, key::KeyError,
    manifest::ManifestError, signature::SignatureError, trust::PatternError,
};

/// Why a text or a document is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct FormatError {
    kind: Box<Kind>,
}

/// What exactly is wrong. Nobody outside decides anything by it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Kind {
    #[error(transparent)]
    Id(#[from] IdError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Versions(#[from] VersionsError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("invalid list of rotations: {reason}")]
    Rotations { reason: String },
}

impl FormatError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub(crate) fn hint(&self) -> Option<String> {
        match &*self.kind {
            Kind::Key(error) => error.hint().map(ToOwned::to_owned),
            Kind::Document(error) => error.hint(),
            _ => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }
}

impl<E: Into<Kind>> From<E> for FormatError {
    fn from(error: E) -> Self {
        let kind = Box::new(error.into());
        Self { kind }
    }
}

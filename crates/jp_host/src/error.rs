//! Why a workspace cannot be opened.

use std::{error::Error, ffi::OsString, io, path::PathBuf};

use jp_audit::AuditError;
use jp_config::ConfigError;
use jp_llm::TrustError;
use jp_policy::LimitError;
use jp_registry::InstallError;

/// Why a workspace cannot be opened, or a place of the user not be had.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A directory of the user is needed and cannot be told.
    #[error("neither {variable} nor HOME is set, so there is no {what} directory")]
    NoHome {
        /// The variable that names it.
        variable: &'static str,
        /// What it holds.
        what: &'static str,
    },
    /// `JP_KEYRING` is neither of its values.
    #[error("invalid JP_KEYRING {value:?}: expected `off` or `auto`")]
    Keyring {
        /// What it is.
        value: OsString,
    },
    /// The directory that was meant cannot be used.
    #[error("cannot use the directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The user's configuration directory is a file: a policy that is not read does not hold.
    #[error("{} is not a directory, so your configuration cannot be read from it; see JP_CONFIG_DIR", path.display())]
    ConfigDir {
        /// What is there instead.
        path: PathBuf,
    },
    /// The policy would show tools jp's own files: its policy, its secrets and its record.
    #[error(
        "policy.paths: {} cannot be shown to tools, since jp's own {} is there; name directories beside it",
        path.display(),
        own.display()
    )]
    OwnPaths {
        /// What the policy says.
        path: PathBuf,
        /// The directory of jp.
        own: PathBuf,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The user's policy has a limit that cannot be.
    #[error("policy.limits: {0}")]
    Policy(#[from] LimitError),
    /// The trust file cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// What the user decided about calls cannot be kept.
    #[error(transparent)]
    Approvals(#[from] jp_store::StoreError),
    /// The lock file, or what this machine knows of signed tools, cannot be used.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// A registry of the configuration cannot be reached as it is written there, or its key is wrong.
    #[error("{0}")]
    Registry(Box<dyn Error + Send + Sync>),
}

impl OpenError {
    pub(crate) fn registry(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Registry(Box::new(error))
    }
}

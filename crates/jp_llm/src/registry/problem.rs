//! Why a signed tool cannot be used, and what to type about it.

use std::error::Error;

use jp_policy::Unbacked;
use jp_registry::InstallError;

use crate::tool::World;

/// The cause as another layer reports it: an error, or text where there is none.
type Why = Box<dyn Error + Send + Sync>;

/// Why a signed tool cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum SignedProblem {
    /// The lock file names it, and this machine has never verified it.
    #[error("`jp.lock` pins it, but it is not installed on this machine")]
    NotInstalled,
    /// The configuration wants it, and the lock file does not have it.
    #[error("the configuration names it, but `jp.lock` does not")]
    NotLocked,
    /// The lock file has it, and the app does not say that it uses it.
    #[error("`jp.lock` has it, but `{file}` does not declare it")]
    Undeclared {
        /// The name of the tool.
        name: String,
        /// The file in which the app says which tools it uses.
        file: String,
        /// What to do about it.
        hint: String,
    },
    /// It asks for what nothing could give it.
    #[error("{0}")]
    Unbacked(Box<Unbacked>),
    /// It reads other bytes of a model than those that the app names.
    #[error("it reads the model `{model}`, but the app pins `{named}`")]
    OtherModel {
        /// The model that its manifest pins.
        model: String,
        /// The one that the app names.
        named: String,
    },
    /// The lock file has another tool or version than the configuration asks for.
    #[error("`jp.lock` does not have what the configuration asks for: {reason}")]
    Unfit {
        /// What is different.
        reason: String,
    },
    /// The lock file says something else than what was verified.
    #[error("`jp.lock` does not match what was verified on this machine: {source}")]
    LockChanged {
        /// What is different.
        source: Why,
    },
    /// It comes with the workspace, and is not what a person accepted.
    #[error("it comes with the workspace, and does not match `jp.lock`: {change}")]
    Changed {
        /// What is different.
        change: String,
    },
    /// It comes with the workspace, and a file of it does not.
    #[error("its file `{path}` does not exist")]
    NoFile {
        /// The name of the tool.
        name: String,
        /// The file, as the configuration has it.
        path: String,
    },
    /// A trusted party has revoked it.
    #[error("it was revoked: {source}")]
    Revoked {
        /// Why.
        source: Why,
    },
    /// What was revoked was known on this machine, and is not any more.
    #[error("{source}")]
    RevocationsLost {
        /// Whose list is gone.
        source: Why,
    },
    /// The key that signed it does not speak for it.
    #[error("it is signed by the key {key}, which {standing}")]
    Key {
        /// The tool, as its registry names it.
        id: String,
        /// The id of the key.
        key: String,
        /// How the key stands to the tool.
        standing: String,
    },
    /// Bytes that it needs are not on this machine, and may not be fetched.
    #[error("{what} is not on this machine, and fetching it is not allowed")]
    Missing {
        /// What is missing.
        what: String,
    },
    /// Bytes that it needs could not be fetched.
    #[error("{what} could not be fetched: {source}")]
    Fetch {
        /// What is missing.
        what: String,
        /// Why not.
        source: Why,
    },
    /// What came from its registry is not what was signed.
    #[error("{what} was rejected and not kept: {source}")]
    Wrong {
        /// What was fetched.
        what: String,
        /// What is wrong with it.
        source: Why,
    },
    /// It could not be verified for another reason.
    #[error("it could not be verified: {0}")]
    Unverified(#[source] Box<InstallError>),
    /// Something about it is not as it must be.
    #[error("{source}")]
    Refused {
        /// What.
        source: Why,
    },
    /// What is kept about it on this machine cannot be read.
    #[error("cannot read what is stored about it: {source}")]
    Unreadable {
        /// Why not.
        source: Why,
    },
}

impl SignedProblem {
    /// Returns which world of errors it belongs to.
    #[must_use]
    pub const fn world(&self) -> World {
        match self {
            Self::NotInstalled | Self::NotLocked | Self::NoFile { .. } | Self::Missing { .. } => {
                World::Misconfigured
            }
            Self::Unfit { .. }
            | Self::Undeclared { .. }
            | Self::Unbacked(_)
            | Self::OtherModel { .. }
            | Self::LockChanged { .. }
            | Self::Changed { .. }
            | Self::Revoked { .. }
            | Self::RevocationsLost { .. }
            | Self::Key { .. }
            | Self::Wrong { .. }
            | Self::Unverified(_)
            | Self::Refused { .. } => World::Refused,
            Self::Fetch { .. } | Self::Unreadable { .. } => World::Host,
        }
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotInstalled => {
                "run `jp tool install --locked` to install what `jp.lock` pins".to_owned()
            }
            Self::NotLocked => "run `jp tool lock` to add it, and see what it asks for".to_owned(),
            Self::OtherModel { model, named } => {
                format!("if the app should use it, replace `{named}` with `{model}` under `models`")
            }
            Self::Unbacked(unbacked) => {
                format!("ask its publisher to fix it: {}", unbacked.instead())
            }
            Self::Undeclared { name, hint, .. } => {
                format!("if the app should use it, {hint}; otherwise run `jp tool remove {name}`")
            }
            Self::Unfit { .. } => {
                "run `jp tool lock` to fetch what it asks for, and see what changes".to_owned()
            }
            Self::LockChanged { .. } => {
                "look at the change; to use what the registry has now, run `jp tool remove`, then \
                 `jp tool install`"
                    .to_owned()
            }
            Self::Changed { .. } => {
                "look at the change, then accept it with `jp tool lock`".to_owned()
            }
            Self::NoFile { name, .. } => {
                format!("put it there, or correct `{name}` under `[tooling]`")
            }
            Self::Revoked { .. } => {
                "run `jp tool update` to look for a version that was not, or `jp tool remove`"
                    .to_owned()
            }
            Self::RevocationsLost { .. } => "run `jp tool outdated` to fetch them again".to_owned(),
            Self::Key { id, .. } => format!(
                "if you know whose key that is: `jp trust key PUBLIC-KEY --for {id}`, with the key \
                 that its publisher gives you"
            ),
            Self::Wrong { .. } => {
                "its registry, or something on the way to it, serves something other than what was \
                 signed; tell the people who run it"
                    .to_owned()
            }
            Self::Unverified(error) => return error.hint(),
            Self::Missing { .. } | Self::Fetch { .. } => {
                "run `jp tool install --locked` when you are online".to_owned()
            }
            Self::Refused { .. } => {
                "run `jp doctor`: it names the command that shows more".to_owned()
            }
            Self::Unreadable { .. } => "run `jp doctor` to see what is wrong".to_owned(),
        })
    }
}

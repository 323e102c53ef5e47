//! Why a signed tool cannot be used, and what to type about it.

use std::error::Error;

use jp_policy::Unbacked;
use jp_registry::InstallError;

use crate::tool::World;

/// What somebody else said is wrong: an error, or words where there is none.
type Why = Box<dyn Error + Send + Sync>;

/// Why a signed tool cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum SignedProblem {
    /// The lock file names it, and this machine has never verified it.
    #[error("`jp.lock` names it, and it is not installed on this machine")]
    NotInstalled,
    /// The configuration wants it, and the lock file does not have it.
    #[error("the configuration names it, and `jp.lock` does not")]
    NotLocked,
    /// The lock file has it, and the app does not say that it uses it.
    #[error("`jp.lock` has it, and `{file}` does not declare it")]
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
    #[error("it reads the model `{model}`, and the app names `{named}`")]
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
    #[error("`jp.lock` does not say what was verified on this machine: {source}")]
    LockChanged {
        /// What is different.
        source: Why,
    },
    /// It comes with the workspace, and is not what a person accepted.
    #[error("it comes with the workspace, and is not what `jp.lock` has: {change}")]
    Changed {
        /// What is different.
        change: String,
    },
    /// It comes with the workspace, and a file of it does not.
    #[error("its file `{path}` is not there")]
    NoFile {
        /// The name of the tool.
        name: String,
        /// The file, as the configuration has it.
        path: String,
    },
    /// Somebody whose word counts has revoked it.
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
    /// Bytes that it needs are not on this machine, and nobody may be asked for them.
    #[error("{what} is not on this machine, and nothing may be fetched")]
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
    #[error("{what} is refused, and nothing of it was kept: {source}")]
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
    #[error("what is kept about it cannot be read: {source}")]
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
                "`jp tool install --locked` installs what `jp.lock` names".to_owned()
            }
            Self::NotLocked => {
                "`jp tool lock` puts it there, and shows what it asks for".to_owned()
            }
            Self::OtherModel { model, named } => format!(
                "if the app is to use it, write `{model}` in the place of `{named}` under `models`"
            ),
            Self::Unbacked(unbacked) => format!("tell its publisher: {}", unbacked.instead()),
            Self::Undeclared { name, hint, .. } => {
                format!("if the app is to use it, {hint}; if not, `jp tool remove {name}`")
            }
            Self::Unfit { .. } => {
                "`jp tool lock` brings what it asks for, and shows what changes".to_owned()
            }
            Self::LockChanged { .. } => {
                "look at the change; `jp tool remove` and `jp tool install` take what the registry \
                 has now"
                    .to_owned()
            }
            Self::Changed { .. } => {
                "look at the change, then accept it with `jp tool lock`".to_owned()
            }
            Self::NoFile { name, .. } => {
                format!("put it there, or correct `{name}` under `[tooling]`")
            }
            Self::Revoked { .. } => {
                "`jp tool update` looks for a version that was not, `jp tool remove` gives it up"
                    .to_owned()
            }
            Self::RevocationsLost { .. } => {
                "`jp tool outdated` asks the registries for them again".to_owned()
            }
            Self::Key { id, .. } => format!(
                "if you know whose key that is: `jp trust key PUBLIC-KEY --for {id}`, with the key \
                 that its publisher gives you"
            ),
            Self::Wrong { .. } => {
                "its registry, or somebody on the way to it, serves something else than what was \
                 signed; tell whoever runs it"
                    .to_owned()
            }
            Self::Unverified(error) => return error.hint(),
            Self::Missing { .. } | Self::Fetch { .. } => {
                "`jp tool install --locked` fetches it when you are online".to_owned()
            }
            Self::Refused { .. } => "`jp doctor` names the command that says more".to_owned(),
            Self::Unreadable { .. } => "`jp doctor` says what is wrong".to_owned(),
        })
    }
}

//! Why a tool was not installed, updated or found, and what to do about it.

use std::{error::Error, io, path::PathBuf};

use jp_policy::{Denied, Unbacked};
use semver::Version;

use super::unmet::{self, Unmet};
use crate::{
    FormatError, ToolId,
    diff::Diff,
    lock::LockError,
    receipt::ReceiptError,
    signature::ListError,
    transport::FetchError,
    trust::{RotationError, TrustError},
    verify::VerifyError,
};

/// What went wrong below; kept as an error, and nobody outside decides anything by its type.
type Cause = Box<dyn Error + Send + Sync>;

/// Why nothing was installed, locked or trusted.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The lock file cannot be used.
    #[error("{source}")]
    Lock {
        /// What is wrong.
        source: Cause,
        /// What to do about it, where there is something.
        hint: Option<String>,
    },
    /// The receipts cannot be used.
    #[error("{source}")]
    Receipt {
        /// What is wrong.
        source: Cause,
        /// What to do about it, where there is something.
        hint: Option<String>,
    },
    /// The trust file cannot be used, or a key not be trusted.
    #[error("{source}")]
    Trust {
        /// What is wrong.
        source: Cause,
        /// What to do about it, where there is something.
        hint: Option<String>,
    },
    /// A statement of a key about its successor is refused.
    #[error("{source}")]
    Rotation {
        /// What is wrong.
        source: Cause,
        /// What to do about it, where there is something.
        hint: Option<String>,
    },
    /// The index or the revocations of a registry are refused.
    #[error("{source}")]
    List {
        /// What is wrong.
        source: Cause,
        /// What to do about it, where there is something.
        hint: Option<String>,
    },
    /// An index or revocations of a registry are dated ahead of the clock of this machine.
    #[error("{source}")]
    Future {
        /// Which list, and by how much.
        source: Cause,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Fetching.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A signature, a key or a digest.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A name or a text that is not what it must be.
    #[error(transparent)]
    Name(#[from] FormatError),
    /// A file of ours.
    #[error("cannot use `{}`: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of a tool that an app brings along.
    #[error("cannot use `{}`: {source}", path.display())]
    Brought {
        /// Which one, within the app.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `--locked`, and the lock file would have to change.
    #[error("`jp.lock` would have to change, which `--locked` refuses: {change}")]
    Locked {
        /// What would change.
        change: String,
    },
    /// Offline, and something is not here.
    #[error("{what} is not on this machine, and nothing is fetched while offline")]
    Offline {
        /// What is missing.
        what: String,
    },
    /// No registry has it.
    #[error("no registry offers `{id}`")]
    UnknownTool {
        /// What was asked for.
        id: ToolId,
        /// A tool of nearly that name.
        near: Option<ToolId>,
    },
    /// The registry has other versions.
    #[error("`{registry}` offers no version {version} of `{id}`: it has {offered}")]
    UnknownVersion {
        /// The tool.
        id: ToolId,
        /// What was asked for.
        version: Version,
        /// Which registry.
        registry: String,
        /// Which versions there are; safe to show.
        offered: String,
    },
    /// None of the registry's versions will do.
    #[error(
        "no version of `{}` fits {}: `{}` has {offered}",
        unmet.id, unmet.ranges, jp_text::escape_line(&unmet.registry)
    )]
    NoneFits {
        /// What was asked for.
        unmet: Box<Unmet>,
        /// Which versions there are; safe to show.
        offered: String,
        /// The one to take, where any will do.
        newest: Option<Version>,
    },
    /// A range, and a registry that cannot say which versions it has.
    #[error(
        "`{}` does not say which versions of `{}` it has, so none can be chosen that fits {}",
        jp_text::escape_line(&unmet.registry), unmet.id, unmet.ranges
    )]
    NoVersions {
        /// What was asked for.
        unmet: Box<Unmet>,
    },
    /// A version was typed, and the workspace asks for others.
    #[error(
        "`{name}` {version} does not fit `{range}` of `[tooling]`: calls of it would be refused"
    )]
    Unfit {
        /// The name in the workspace.
        name: ToolId,
        /// The tool.
        id: ToolId,
        /// What was typed.
        version: Version,
        /// What the workspace asks for.
        range: String,
    },
    /// No registry of that name is configured.
    #[error("unknown registry `{}`", jp_text::escape_line(name))]
    UnknownRegistry {
        /// What was asked for.
        name: String,
    },
    /// More than one registry has it.
    #[error("`{id}` is offered by {}: say which one", registries.join(" and "))]
    Ambiguous {
        /// The tool.
        id: ToolId,
        /// Who offers it.
        registries: Vec<String>,
    },
    /// The name stands for something else.
    #[error(
        "`{name}` cannot be installed beside `{}`: a model could not tell them apart",
        jp_text::escape_line(taken)
    )]
    Taken {
        /// The name that was asked for.
        name: ToolId,
        /// The tool that would have it.
        id: ToolId,
        /// The name that is there.
        taken: String,
    },
    /// It could never run here.
    #[error("`{id}` {version} could never run here: {denied}")]
    Unsatisfiable {
        /// The tool.
        id: ToolId,
        /// The version.
        version: Version,
        /// What is missing.
        denied: Box<Denied>,
        /// What to type to get the newest version that could, if there is one.
        instead: Option<String>,
    },
    /// It asks for what nothing could give it.
    #[error("`{id}` {version} is refused: {unbacked}")]
    Unbacked {
        /// The tool.
        id: ToolId,
        /// The version.
        version: Version,
        /// What it asks for.
        unbacked: Box<Unbacked>,
        /// What to type to get the newest version that asks for none of this, if there is one.
        instead: Option<String>,
    },
    /// It was taken back.
    #[error("`{id}` {version} was revoked: {}", jp_text::escape_line(reason))]
    Revoked {
        /// The tool.
        id: ToolId,
        /// The version.
        version: Version,
        /// What the revocation says.
        reason: String,
    },
    /// A person has to accept the change first, and did not.
    #[error("`{name}` stays as it is: {}", reasons(diff))]
    Stopped {
        /// The name in the workspace.
        name: ToolId,
        /// What would change.
        diff: Box<Diff>,
    },
    /// A person has to accept what a tool of an MCP server or of the workspace is now, and did not.
    #[error(
        "`{}` stays as it was accepted: {}",
        jp_text::escape_line(name),
        reasons(diff)
    )]
    StoppedPin {
        /// The tool, after its server if it has one.
        name: String,
        /// What would change.
        diff: Box<Diff>,
    },
    /// The lock file has the name for a tool from elsewhere.
    #[error("`jp.lock` has `{name}` as {is}")]
    OtherKind {
        /// The name in the workspace.
        name: ToolId,
        /// What it is there; safe to show.
        is: String,
    },
    /// The lock file does not have the name.
    #[error("`{name}` is not in `jp.lock`")]
    NotLocked {
        /// The name.
        name: ToolId,
    },
    /// The lock file says something else than the signed manifest it names.
    #[error("`jp.lock` has a different {field} for `{name}` than the manifest it names")]
    Differs {
        /// The name in the workspace.
        name: ToolId,
        /// What to ask for to have it installed anew.
        spec: String,
        /// What differs.
        field: &'static str,
    },
    /// Somebody else changed the lock file at the same time.
    #[error("`jp.lock` changed while `{name}` was fetched: try again")]
    Raced {
        /// The name in the workspace.
        name: ToolId,
    },
}

fn reasons(diff: &Diff) -> String {
    let all: Vec<String> = diff.reasons.iter().map(ToString::to_string).collect();
    all.join(", and ")
}

impl InstallError {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Lock { hint, .. }
            | Self::Receipt { hint, .. }
            | Self::Trust { hint, .. }
            | Self::Rotation { hint, .. }
            | Self::List { hint, .. }
            | Self::Future { hint, .. } => return hint.clone(),
            Self::Name(error) => return error.hint(),
            Self::Verify(error) => return error.hint(),
            Self::UnknownTool {
                near: Some(near), ..
            } => format!("did you mean `{near}`?"),
            Self::UnknownTool { near: None, .. } => {
                "`jp tool search ''` lists all there are".to_owned()
            }
            Self::NotLocked { name } => format!("`jp tool install {name}` installs it"),
            Self::OtherKind { name, .. } => {
                format!("if it is to be another one: `jp tool remove {name} && jp tool lock`")
            }
            Self::UnknownRegistry { name } if name.parse::<ToolId>().is_ok() => format!(
                "name it in your own configuration: `jp config set --user 'registries.{name}:=\
                 {{\"url\": \"URL\", \"key\": \"PUBLIC-KEY\"}}'`"
            ),
            Self::Ambiguous { registries, .. } => {
                format!("add `--registry {}`", registries.first()?)
            }
            Self::Taken { name, id, .. } => {
                format!("give it another name: `jp tool install my-{name}={id}`")
            }
            Self::Unsatisfiable {
                denied, instead, ..
            } => {
                let instead = instead.as_ref();
                let older = instead.map(|line| format!("{line} takes the newest one that could"));
                let all: Vec<String> = denied.fix().into_iter().chain(older).collect();
                return (!all.is_empty()).then(|| all.join("; or "));
            }
            Self::Unbacked {
                unbacked, instead, ..
            } => {
                let told = format!("ask its publisher to fix it: {}", unbacked.instead());
                match instead {
                    Some(line) => format!("{line} takes the newest one that could run; {told}"),
                    None => told,
                }
            }
            Self::Stopped { name, .. } => {
                format!("if that is what you want, `jp tool update {name} --yes` accepts it")
            }
            Self::StoppedPin { .. } => {
                "if that is what you want, `jp tool lock --yes` accepts it".to_owned()
            }
            Self::Revoked { id, .. } => format!("update it: `jp tool update {id}`"),
            Self::NoneFits { unmet, newest, .. } => unmet.hint(&newest.as_ref()?.to_string()),
            Self::NoVersions { unmet } => {
                format!("name one version, such as 1.2.0: {}", unmet.hint("1.2.0"))
            }
            Self::Unfit {
                name, id, version, ..
            } => {
                let line = unmet::instead(name, id, &version.to_string(), true);
                format!("{line}; or under another name: `jp tool install my-{name}={id}@{version}`")
            }
            Self::Offline { .. } => "try again with a connection".to_owned(),
            Self::Differs { name, spec, .. } => {
                format!("install it anew: `jp tool remove {name} && jp tool install {spec}`")
            }
            _ => return None,
        })
    }
}

impl From<LockError> for InstallError {
    fn from(error: LockError) -> Self {
        Self::Lock {
            hint: error.hint(),
            source: Box::new(error),
        }
    }
}

impl From<ReceiptError> for InstallError {
    fn from(error: ReceiptError) -> Self {
        Self::Receipt {
            hint: Some(error.hint()),
            source: Box::new(error),
        }
    }
}

impl From<TrustError> for InstallError {
    fn from(error: TrustError) -> Self {
        Self::Trust {
            hint: error.hint(),
            source: Box::new(error),
        }
    }
}

impl From<RotationError> for InstallError {
    fn from(error: RotationError) -> Self {
        Self::Rotation {
            hint: None,
            source: Box::new(error),
        }
    }
}

impl From<ListError> for InstallError {
    fn from(error: ListError) -> Self {
        let (hint, future) = (error.hint(), matches!(error, ListError::Future { .. }));
        let source = Box::new(error);
        match future {
            true => Self::Future { source, hint },
            false => Self::List { source, hint },
        }
    }
}

#[cfg(test)]
impl InstallError {
    /// Returns what went wrong below, if it is of this type.
    pub(crate) fn cause<E: Error + 'static>(&self) -> Option<&E> {
        let mut source = self.source();
        while let Some(error) = source {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            source = error.source();
        }
        None
    }
}

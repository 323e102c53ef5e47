//! Why nothing was installed.

use std::{io, path::PathBuf};

use super::{client::Client, edit::error::EditError};
use crate::error::CliError;

/// Why nothing was installed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A file holds something else, or cannot be edited.
    #[error("cannot edit {}", path.display())]
    Edit {
        path: PathBuf,
        source: EditError,
        /// What a person can add.
        by_hand: String,
    },
    /// A file is not text.
    #[error("cannot edit {}: line {line} is not valid UTF-8", path.display())]
    NotText { path: PathBuf, line: usize },
    /// A link leads nowhere.
    #[error("cannot write {}: it is a symbolic link to a file that is not there", path.display())]
    Dangling { path: PathBuf },
    /// A file of a project is elsewhere.
    #[error("cannot edit {}: a symbolic link leads out of the project", path.display())]
    Outside { path: PathBuf },
    /// The home directory is not known.
    #[error("cannot find the configuration of clients: HOME is not set")]
    NoHome,
    /// A client has one file for all projects.
    #[error("{} has no configuration file in projects", client.facts().title)]
    NoProject { client: Client },
    /// A client cannot connect to a URL with a token that is not in the file.
    #[error("cannot add a URL to {}: {why}", client.facts().title)]
    NoHttp { client: Client, why: &'static str },
    /// The command line has something that cannot be written.
    #[error("{0}")]
    Usage(String),
    /// This program cannot be named.
    #[error("cannot find the path of this program")]
    Program { source: io::Error },
    /// No client was found.
    #[error("no client was found on this machine")]
    NoneFound,
}

impl InstallError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Edit {
                source: EditError::Taken { name },
                ..
            } => Some(format!(
                "choose another name than {name} with --name NAME, or replace the entry with --force"
            )),
            // All lines are indented alike, which YAML asks for.
            Self::Edit { by_hand, .. } if !by_hand.is_empty() => {
                let lines = by_hand.lines().map(|line| format!("\n  {line}"));
                Some(format!("add this by hand:{}", lines.collect::<String>()))
            }
            Self::NoProject { client } => Some(format!("jp serve install {}", client.id())),
            Self::NoHttp { client, .. } => Some(format!(
                "`jp serve install {}` without --http lets it start jp itself",
                client.id()
            )),
            Self::NoneFound => Some("name one: jp serve install CLIENT".to_owned()),
            _ => None,
        }
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            InstallError::Read { source, .. }
            | InstallError::Write { source, .. }
            | InstallError::Program { source } => Self::System {
                what: message,
                source,
            },
            InstallError::Edit { source, .. } => Self::Usage {
                message: format!("{message}: {source}"),
                hint,
            },
            _ => Self::Usage { message, hint },
        }
    }
}

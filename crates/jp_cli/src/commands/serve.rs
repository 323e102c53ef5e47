//! `jp serve`: the tools of a workspace for other programs.

mod install;

use clap::Subcommand;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// The verbs of `jp serve`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add jp to the MCP servers of an agent or editor
    Install(install::InstallArgs),
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Install(args) => install::run(args, ui),
    }
}

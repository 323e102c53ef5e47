//! `jp mcp`: the servers of the Model Context Protocol whose tools jp runs.

mod login;

use clap::Subcommand;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// The verbs of `jp mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Log in to a server behind a URL
    Login(login::LoginArgs),
    /// Forget the login to a server
    Logout(login::LogoutArgs),
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Login(args) => login::login(args, ui),
        Command::Logout(args) => login::logout(args, ui),
    }
}

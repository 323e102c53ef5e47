//! `jp mcp`: the servers of the Model Context Protocol whose tools jp runs.

mod add;
mod import;
mod list;
mod login;
mod remove;
mod secrets;
mod wanted;

use std::path::PathBuf;

use clap::Subcommand;

use crate::{error::CliError, exit::Exit, places, ui::Ui};

/// The verbs of `jp mcp`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a server, and all its tools
    Add(add::AddArgs),
    /// Add the servers that other clients on this machine know
    Import(import::ImportArgs),
    /// List the servers
    List(list::ListArgs),
    /// Remove a server, and what is configured of its tools
    Remove(remove::RemoveArgs),
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
        Command::Add(args) => add::run(args, ui),
        Command::Import(args) => import::run(args, ui),
        Command::List(args) => list::run(args, ui),
        Command::Remove(args) => remove::run(args, ui),
    }
}

/// The longest name of a server.
const MAX_NAME: usize = 64;

/// Checks the name of a server: it becomes part of the names of its tools.
fn check_name(name: &str) -> Result<(), CliError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain) {
        true => Ok(()),
        false => Err(CliError::usage(format!(
            "invalid server name `{name}`: expected at most {MAX_NAME} of a-z, A-Z, 0-9, `-` and `_`"
        ))),
    }
}

/// Returns the file that a server is written to: the user's own, or the workspace's.
fn file(project: bool, ui: &Ui) -> Result<PathBuf, CliError> {
    match project {
        true => super::config::workspace_file(&places::workspace(ui)?.root),
        false => Ok(places::own().needed_config_dir()?.join("config.toml")),
    }
}

/// Says that there is no such server.
fn unknown(name: &str, loaded: &jp_config::Loaded) -> CliError {
    let known: Vec<&str> = loaded
        .config
        .providers
        .mcp
        .keys()
        .map(String::as_str)
        .collect();
    CliError::Usage {
        message: match known.as_slice() {
            [] => format!("unknown MCP server `{name}`: none is configured"),
            known => format!(
                "unknown MCP server `{name}`: there are {}",
                known.join(", ")
            ),
        },
        hint: Some("`jp mcp list` shows the servers".to_owned()),
    }
}

//! `jp tool`: lists, inspects and calls tools.

mod call;
mod format;
pub(crate) mod install;
mod installed;
mod invalid;
mod list;
mod lock;
mod origin;
mod remove;
mod report;
mod run;
mod search;
mod show;
mod toggles;
pub(crate) mod verify;

use clap::Subcommand;

use super::wasm;
use crate::{error::CliError, exit::Exit, ui::Ui};

/// The verbs of `jp tool`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools of this workspace
    List(list::ListArgs),
    /// Show what a tool does, needs and gets
    Show(show::ShowArgs),
    /// Call a tool
    Run(run::RunArgs),
    /// Show a call the way people see it, without making it
    Format(format::FormatArgs),
    /// Install tools of registries
    Install(install::InstallArgs),
    /// Update installed tools
    Update(install::UpdateArgs),
    /// Remove installed tools
    Remove(remove::RemoveArgs),
    /// Bring jp.lock up to date, and pin tools of the workspace and of MCP servers
    Lock(lock::LockArgs),
    /// Find tools in registries
    Search(search::SearchArgs),
    /// List installed tools that are outdated, deprecated or revoked
    Outdated(search::OutdatedArgs),
    /// Verify the signature of a manifest
    Verify(verify::VerifyArgs),
    /// Show what a reviewer of a tool must see
    Review(verify::ReviewArgs),
    #[command(flatten)]
    Wasm(wasm::ToolCommand),
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Run(args) => run::run(args, ui),
        Command::Format(args) => format::run(args, ui),
        Command::Install(args) => install::install(args, ui),
        Command::Update(args) => install::update(args, ui),
        Command::Remove(args) => remove::run(args, ui),
        Command::Lock(args) => lock::run(args, ui),
        Command::Search(args) => search::search(args, ui),
        Command::Outdated(args) => search::outdated(args, ui),
        Command::Verify(args) => verify::verify(args, ui),
        Command::Review(args) => verify::review(args, ui),
        Command::Wasm(command) => wasm::tool(command, ui),
    }
}

//! `jp tool`: lists, inspects and calls tools.

mod call;
#[cfg(feature = "wasm-tools")]
mod check;
mod format;
mod list;
mod report;
mod run;
mod show;

use clap::Subcommand;

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
    /// Show a call as people are shown it; only what formats it runs
    Format(format::FormatArgs),
    /// Say whether a file is a tool, and if not, why
    #[cfg(feature = "wasm-tools")]
    Check(check::CheckArgs),
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Run(args) => run::run(args, ui),
        Command::Format(args) => format::run(args, ui),
        #[cfg(feature = "wasm-tools")]
        Command::Check(args) => check::run(args, ui),
    }
}

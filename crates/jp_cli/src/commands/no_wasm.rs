//! Stands in the place of `wasm.rs` in a jp without Wasm: there are no verbs, and no Wasm file is read.

use std::path::Path;

use clap::Subcommand;
use jp_registry::ToolManifest;

use crate::{error::CliError, exit::Exit, session::Session, ui::Ui};

/// No verbs of `jp tool`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {}

/// No chores.
#[derive(Debug, Subcommand)]
pub(crate) enum Chore {}

/// Runs what nobody can type.
pub(crate) fn tool(command: &ToolCommand, _: &Ui) -> Result<Exit, CliError> {
    match *command {}
}

/// Runs what nobody can type.
pub(crate) fn chore(chore: &Chore, _: &Ui) -> Result<Exit, CliError> {
    match *chore {}
}

/// Finds nothing: where no Wasm tool runs, that is the finding.
pub(crate) fn problem_of(_: &Path, _: &Session) -> Option<String> {
    None
}

/// Lets every tool pass, whatever it asks for.
pub(crate) fn refuse_unbacked(_: &ToolManifest, _: &Path, _: &Ui) -> Result<(), CliError> {
    Ok(())
}

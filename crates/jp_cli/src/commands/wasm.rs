//! What is there for Wasm files alone. In a jp without Wasm `no_wasm.rs` stands in its place.

mod check;
mod precompile;

use std::path::Path;

use clap::Subcommand;
use jp_publish::PublishError;
use jp_registry::ToolManifest;

use crate::{
    error::CliError,
    exit::Exit,
    session::{Session, block_on},
    ui::Ui,
};

/// The verbs of `jp tool` for Wasm files.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Check whether a file is a tool, and if not, say why
    Check(check::CheckArgs),
}

/// What only `cargo xtask` calls.
#[derive(Debug, Subcommand)]
pub(crate) enum Chore {
    /// Compile the builtins ahead of time, for `cargo xtask dist`
    #[command(name = "__precompile", hide = true)]
    Precompile(precompile::PrecompileArgs),
}

/// Runs a verb of `jp tool`.
pub(crate) fn tool(command: &ToolCommand, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        ToolCommand::Check(args) => check::run(args, ui),
    }
}

/// Runs a chore.
pub(crate) fn chore(chore: &Chore, ui: &Ui) -> Result<Exit, CliError> {
    match chore {
        Chore::Precompile(args) => precompile::run(args, ui),
    }
}

/// Says what keeps a file from being a tool, if anything does.
pub(crate) fn problem_of(path: &Path, session: &Session) -> Option<String> {
    match block_on(jp_llm::check_file(path, session.host())) {
        Ok(Ok(checked)) => checked.problem,
        Ok(Err(error)) => Some(error.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Refuses a tool that asks for what nothing could give to a file like its artifact.
pub(crate) fn refuse_unbacked(
    said: &ToolManifest,
    artifact: &Path,
    ui: &Ui,
) -> Result<(), CliError> {
    let session = Session::open(ui)?;
    let checked = block_on(jp_llm::check_file(artifact, session.host()))?;
    // A file that is not a tool at all is reported where it is compared with the manifest.
    let form = checked.ok().and_then(|checked| checked.form);
    let request = said.request();
    match form.and_then(|form| request.unbacked(form, &jp_llm::is_known_call)) {
        None => Ok(()),
        Some(unbacked) => Err(CliError::publish(PublishError::Unbacked {
            id: said.id.clone(),
            version: said.version.clone(),
            unbacked: Box::new(unbacked),
        })),
    }
}

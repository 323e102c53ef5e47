//! `jp registry`: makes keys, signs tools, and writes and serves registries of static files.

mod change;
mod keys;
mod publish;
mod serve;

use clap::Subcommand;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// The verbs of `jp registry`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a key to sign with
    Keygen(keys::KeygenArgs),
    /// Sign the manifest of a tool
    Sign(keys::SignArgs),
    /// Hand the names of a key over to another
    Rotate(keys::RotateArgs),
    /// Make an empty registry
    Init(publish::InitArgs),
    /// Put a signed tool into a registry
    Publish(publish::PublishArgs),
    /// Put a model into a registry
    AddModel(publish::AddModelArgs),
    /// Say that versions of a tool should no longer be used
    Deprecate(change::DeprecateArgs),
    /// Take versions of a tool, an artifact or a key back, for good
    Revoke(change::RevokeArgs),
    /// Sign the lists of a registry anew, so that nobody takes them for old ones
    Renew(change::RenewArgs),
    /// Serve a registry over HTTP
    Serve(serve::ServeArgs),
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Keygen(args) => keys::keygen(args, ui),
        Command::Sign(args) => keys::sign(args, ui),
        Command::Rotate(args) => keys::rotate(args, ui),
        Command::Init(args) => publish::init(args, ui),
        Command::Publish(args) => publish::publish(args, ui),
        Command::AddModel(args) => publish::add_model(args, ui),
        Command::Deprecate(args) => change::deprecate(args, ui),
        Command::Revoke(args) => change::revoke(args, ui),
        Command::Renew(args) => change::renew(args, ui),
        Command::Serve(args) => serve::serve(args, ui),
    }
}

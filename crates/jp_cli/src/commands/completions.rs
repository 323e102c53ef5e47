//! `jp completions`: what shells complete, from the same definitions as the help.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{cli::Cli, error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jp completions bash > ~/.local/share/bash-completion/completions/jp
  jp completions fish > ~/.config/fish/completions/jp.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes completions to standard output.
pub(crate) fn run(args: &CompletionsArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "jp", &mut script);
    ui.bytes(&script)?;
    Ok(Exit::Done)
}

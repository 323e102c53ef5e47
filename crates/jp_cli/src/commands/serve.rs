//! `jp serve`: the tools of a workspace for agents that speak the Model Context Protocol.

pub(crate) mod install;
mod run;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use jp_serve::Lazy;

use crate::{error::CliError, exit::Exit, ui::Ui};

/// Arguments of `jp serve`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without an address it serves one client on standard input and output: that is
what an agent starts.

A call that would ask a person asks on the terminal of `jp serve --http` or
`--unix`. On standard input nobody can be asked: such a call is refused, unless
`--yes` leaves the asking to the client.

Examples:
  jp serve install claude-code              let Claude Code start it
  jp -C ~/project serve                     serve another workspace
  jp serve --http 127.0.0.1:7878            serve HTTP; prints URL and token
  JP_TOKEN=… jp serve --http 127.0.0.1:0    with a token of your own
  jp serve --unix /run/user/1000/jp.sock    serve HTTP on a Unix socket"
)]
pub(crate) struct ServeArgs {
    /// Serve HTTP on this address of this machine; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Serve HTTP on a Unix socket, which only you can open
    #[arg(long, value_name = "PATH", conflicts_with = "http")]
    unix: Option<PathBuf>,
    /// Hand out three tools that find, describe and call all others: to clients
    /// that would get a long list, to all, or to none
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = LazyWhen::Auto)]
    lazy: LazyWhen,
    /// Run calls that would ask a person: for clients that ask you before each call
    #[arg(long)]
    yes: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The verbs of `jp serve`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Add jp to the MCP servers of an agent or editor
    Install(install::InstallArgs),
}

/// Serves, or runs a verb.
pub(crate) fn run(args: &ServeArgs, ui: &Ui) -> Result<Exit, CliError> {
    match &args.command {
        Some(Command::Install(args)) => install::run(args, ui),
        None => run::run(args, ui),
    }
}

/// Which clients get three tools instead of all.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LazyWhen {
    Auto,
    On,
    Off,
}

impl From<LazyWhen> for Lazy {
    fn from(when: LazyWhen) -> Self {
        match when {
            LazyWhen::Auto => Self::Auto,
            LazyWhen::On => Self::On,
            LazyWhen::Off => Self::Off,
        }
    }
}

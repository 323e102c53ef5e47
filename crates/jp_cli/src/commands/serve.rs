//! `jp serve`: the tools of a workspace for agents that speak the Model Context Protocol.

mod afar;
pub(crate) mod install;
mod run;
mod token;

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
`--unix`. On standard input it waits up to 50 seconds for `jp approve` in
another terminal, unless your configuration trusts the client to ask you
(`serve.trust_prompts`), or `--yes` leaves all asking to the client.

Examples:
  jp serve install claude-code              let Claude Code start it
  jp -C ~/project serve                     serve another workspace
  jp serve --http 127.0.0.1:7878            serve HTTP; prints URL and token
  JP_TOKEN=… jp serve --http 127.0.0.1:0    with a token of your own
  jp serve --unix /run/user/1000/jp.sock    serve HTTP on a Unix socket
  jp serve token add ci --policy read-only  let somebody else in
  jp serve --http 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem"
)]
pub(crate) struct ServeArgs {
    /// Serve HTTP on this address; port 0 takes a free one. One that other machines reach needs
    /// `--tls-cert` and `--tls-key`, tokens or `serve.oauth`, and `serve.hosts`
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Serve HTTPS with this chain of certificates (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "http")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
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
    /// Say who else may use a server over HTTP
    #[command(subcommand)]
    Token(token::Command),
}

/// Serves, or runs a verb.
pub(crate) fn run(args: &ServeArgs, ui: &Ui) -> Result<Exit, CliError> {
    match &args.command {
        Some(Command::Install(args)) => install::run(args, ui),
        Some(Command::Token(command)) => token::run(command, ui),
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

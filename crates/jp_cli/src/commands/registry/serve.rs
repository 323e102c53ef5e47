//! `jp registry serve`.

use std::path::PathBuf;

use clap::Args;
use jp_publish::Server;

use crate::{
    commands::tool::install::listen, error::CliError, exit::Exit, session::block_on, ui::Ui,
};

/// Arguments of `jp registry serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
For this machine and for tests: any web server can serve the same files.

Examples:
  jp registry serve ./tools
  jp registry serve ./tools --addr 127.0.0.1:8080")]
pub(crate) struct ServeArgs {
    /// The directory of the registry
    dir: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7878")]
    addr: String,
}

/// Serves a registry until it is interrupted.
pub(crate) fn serve(args: &ServeArgs, ui: &Ui) -> Result<Exit, CliError> {
    let what = || format!("cannot serve {} on {}", args.dir.display(), args.addr);
    let failed = |source| CliError::System {
        what: what(),
        source,
    };
    let server = Server::bind(args.addr.as_str(), &args.dir).map_err(|source| {
        use std::io::ErrorKind::{AddrInUse, PermissionDenied};
        // What this machine does not give is its failure; the rest is a wrong directory or address.
        if matches!(source.kind(), AddrInUse | PermissionDenied) {
            return failed(source);
        }
        CliError::usage(format!("{}: {source}", what()))
    })?;
    if !server.addr().ip().is_loopback() {
        ui.warning("everybody who can reach this machine can read the registry");
    }
    let interrupts = listen()?;
    ui.line(format_args!("http://{}/", server.addr()))?;
    ui.say("Ctrl-C ends it.");
    block_on(server.run(interrupts.cancel.clone()))?.map_err(failed)?;
    Ok(Exit::Done)
}

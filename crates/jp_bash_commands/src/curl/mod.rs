//! `curl` over the host's transport: no sockets here, and nothing that the grants do not allow.
//!
//! Each hop of a redirect is a request of its own, so that the transport checks each of them.

mod config;
mod cookies;
mod files;
mod form;
mod options;
#[cfg(test)]
mod tests;
mod transfer;
mod url;
mod write_out;

use jp_bash_system::io::complain;
use jp_bash_system::{Stop, SysError, System};

use crate::Spec;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "curl",
    about: "transfer data from or to a server, as far as the network is granted",
    run,
    options: options::OPTIONS,
};

/// Why a transfer failed: curl's number and text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    fn new(code: i32, message: &str) -> Self {
        Self {
            code,
            message: message.to_owned(),
        }
    }
}

const HELP: &str = "Usage: curl [options...] <url>\n -d, --data <data>          HTTP POST data\n -f, --fail                 Fail fast with no output on HTTP errors\n -h, --help                 Get help for commands\n -i, --include              Include protocol response headers in the output\n -o, --output <file>        Write to file instead of stdout\n -O, --remote-name          Write output to a file named as the remote file\n -s, --silent               Silent mode\n -T, --upload-file <file>   Transfer local FILE to destination\n -u, --user <user:password> Server user and password\n -A, --user-agent <name>    Send User-Agent <name> to server\n -v, --verbose              Make the operation more talkative\n -V, --version              Show version number and quit\n\nOnly http and https are spoken, to hosts that are granted.\n";

const VERSION: &str = "curl 7.88.1 (jp_bash) over the host's transport\nProtocols: http https\n";

/// Runs `curl`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let found = match options::read(args) {
        Ok(found) => found,
        Err(misuse) => return usage(sys, &misuse.to_string()),
    };
    for (id, text) in [('?', HELP), ('V', VERSION)] {
        if found.iter().any(|(theirs, _)| *theirs == id) {
            return match sys.write(1, text.as_bytes()) {
                Err(SysError::Stop(stop)) => Err(stop),
                _ => Ok(0),
            };
        }
    }
    let config = match config::read(sys, found)? {
        Ok(config) => config,
        Err(failure) if failure.code == 2 => return usage(sys, &failure.message),
        Err(failure) => {
            let message = format!("({}) {}", failure.code, failure.message);
            complain(sys, b"curl", message.as_bytes())?;
            return Ok(failure.code);
        }
    };
    transfer::all(sys, config)
}

fn usage(sys: &mut dyn System, message: &str) -> Result<i32, Stop> {
    complain(sys, b"curl", message.as_bytes())?;
    complain(sys, b"curl", b"try 'curl --help' for more information")?;
    Ok(2)
}

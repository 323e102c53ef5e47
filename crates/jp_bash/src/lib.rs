//! A virtual bash: scripts run in this process, on a virtual file system, inside one budget.
//!
//! `syntax` turns bytes into a script, `shell` runs it, `vfs` holds its files, `commands` are the
//! programs it can call. Nothing here starts a process, opens a socket or touches a host file except
//! through what the embedder handed over: a mount, a transport, a clock.

mod bash;
mod host;
mod input;
mod limits;
mod output;
#[cfg(test)]
mod pace_tests;
mod shell;
pub mod tool;
mod unified;
mod vfs;

pub use bash::{Bash, BashBuilder};
pub use host::{Park, Random, Transport, WallClock};
pub use input::{Input, Stdin};
pub use jp_bash_system::{
    Bounds, Errno, FileKind, HttpError, HttpRequest, HttpResponse, Limit, Monotonic, Stop,
};
pub use limits::ExecutionLimits;
pub use output::{OnExecute, OnOutput, Output, OutputCallback, OutputStream, Writer};
pub use shell::call::{Category, ExecMode, ExecOptions, ExecResult, SetupError};
pub use shell::custom::{Builtin, BuiltinContext, BuiltinError};
pub use tool::{BashTool, BashToolBuilder, ExecError, Session};
pub use unified::{Hunks, unified};
pub use vfs::{
    Applied, ApplyError, ApplyOptions, Change, ChangeKind, HostDir, HostMode, RecoverError,
    Recovered, Refusal, Side,
};

/// Returns the names of all commands and builtins, in the order of their names.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&'static str> = jp_bash_commands::programs()
        .names()
        .iter()
        .copied()
        .chain(shell::builtins::TABLE.iter().map(|entry| entry.name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

/// Writes the documentation's page about commands, from the tables that read their options.
pub fn commands_reference() -> String {
    let builtins: Vec<String> = shell::builtins::TABLE
        .iter()
        .map(|entry| format!("`{}`", entry.name))
        .collect();
    format!(
        "# Commands of the virtual bash\n\nMade from the code; do not edit.\n\n## Builtins of the shell\n\n{}\n\n\
         ## Commands\n\nAn option that is not listed is unknown, and refused with GNU's message.\n\n{}",
        builtins.join(" "),
        jp_bash_commands::command_table()
    )
}

//! A virtual bash: scripts run in this process, on a virtual file system, inside one budget.
//!
//! This is what embedders use. `jp_bash_syntax` turns bytes into a script, `jp_bash_shell` runs it and holds its
//! files, `jp_bash_commands` are the programs it can call. Nothing here starts a process, opens a socket or touches
//! a host file except through what the embedder handed over: a mount, a transport, a clock.

mod bash;
mod limits;
#[cfg(test)]
mod pace_tests;
pub mod tool;
mod unified;

pub use bash::{Bash, BashBuilder};
pub use jp_bash_shell::{
    Applied, ApplyError, ApplyOptions, Builtin, BuiltinContext, BuiltinError, Category, Change,
    ChangeKind, ExecMode, ExecOptions, ExecResult, HostDir, HostMode, Input, OnExecute, OnOutput,
    Output, OutputCallback, OutputStream, Park, Random, RecoverError, Recovered, Refusal,
    SetupError, Side, Stdin, Transport, WallClock, Writer,
};
pub use jp_bash_system::{
    Bounds, Errno, FileKind, HttpError, HttpRequest, HttpResponse, Limit, Monotonic, Stop,
};
pub use limits::ExecutionLimits;
pub use tool::{BashTool, BashToolBuilder, ExecError, Session};
pub use unified::{Hunks, unified};

/// Returns the names of all commands and builtins, in the order of their names.
pub fn command_names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&'static str> = jp_bash_commands::programs()
        .names()
        .iter()
        .copied()
        .chain(jp_bash_shell::builtin_names())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

/// Writes the documentation's page about commands, from the tables that read their options.
pub fn commands_reference() -> String {
    let builtins: Vec<String> = jp_bash_shell::builtin_names()
        .map(|name| format!("`{name}`"))
        .collect();
    format!(
        "# Commands of the virtual bash\n\nMade from the code; do not edit.\n\n## Builtins of the shell\n\n{}\n\n\
         ## Commands\n\nAn option that is not listed is unknown, and refused with GNU's message.\n\n{}",
        builtins.join(" "),
        jp_bash_commands::command_table()
    )
}

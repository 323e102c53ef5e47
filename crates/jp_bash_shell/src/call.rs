//! One call of a session: what is run and how, and what came of it.

use jp_bash_system::{Errno, Limit};

use crate::input::Stdin;
use crate::output::{OnExecute, Output};

/// Why a run ended before its script did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// A limit was reached.
    ResourceLimit(Limit),
    /// The embedder cancelled it.
    Cancelled,
    /// The script could not be parsed.
    Parse,
    /// Every process waited for another one.
    Deadlock,
    /// We failed.
    Internal,
}

impl Category {
    /// Returns the name that tool responses use.
    pub fn name(self) -> &'static str {
        match self {
            Self::ResourceLimit(_) => "resource_limit",
            Self::Cancelled => "cancelled",
            Self::Parse => "parse_error",
            Self::Deadlock => "execution_error",
            Self::Internal => "internal_error",
        }
    }
}

/// What a call printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecResult {
    /// Everything written to standard output, also when the run was cut short.
    pub stdout: Vec<u8>,
    /// Everything written to standard error, and the line that names a limit.
    pub stderr: Vec<u8>,
    /// `$?` of the script.
    pub exit_code: i32,
    /// Why the script did not end by itself.
    pub error: Option<Category>,
}

/// How one call is run.
#[derive(Debug, Clone, Default)]
pub struct ExecOptions {
    /// Positional parameters.
    pub args: Vec<Vec<u8>>,
    /// `$0`; `bash` if empty.
    pub name: Vec<u8>,
    /// What is run.
    pub mode: ExecMode,
    /// What standard input holds.
    pub stdin: Stdin,
    /// Where standard output and standard error go.
    pub output: Output,
    /// Hears that the script was read so far that its first command runs.
    pub on_execute: Option<OnExecute>,
}

/// What a call runs, and so what its errors, `$-` and `BASH_SOURCE` say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecMode {
    /// The text, as `bash -c TEXT`.
    #[default]
    Command,
    /// The text, which is that of a file called [`ExecOptions::name`].
    File,
    /// The file of the session that [`ExecOptions::name`] names, as `bash FILE`; the text is not looked at.
    Path,
    /// Standard input, line by line, as `bash -s`; the text is not looked at.
    Input,
}

/// Why a session cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot {what} {}: {errno}", String::from_utf8_lossy(.path))]
pub struct SetupError {
    /// `mount at`, `start in` and the like.
    pub what: &'static str,
    /// The path of the session.
    pub path: Vec<u8>,
    /// Why.
    pub errno: Errno,
}

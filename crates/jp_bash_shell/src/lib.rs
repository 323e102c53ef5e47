//! Running scripts: variables, expansion, redirections, pipelines, jobs, traps.
//!
//! Knows nothing of the host: files come from `vfs`, time and chance from the kernel it was given.

mod args;
mod arith;
mod builtins;
mod call;
mod custom;
mod expand;
mod fds;
mod flow;
mod frames;
mod glob;
mod host;
mod input;
mod jobs;
mod kernel;
mod options;
mod output;
mod pattern;
mod process;
mod redirect;
mod run;
mod session;
mod signals;
mod stack;
mod test_expr;
mod traps;
mod vars;
mod vfs;
mod wait;

pub use builtins::builtin_names;
pub use call::{Category, ExecMode, ExecOptions, ExecResult, SetupError};
pub use custom::{Builtin, BuiltinContext, BuiltinError};
pub use host::{Host, Park, Random, Transport, WallClock};
pub use input::{Input, Stdin};
pub use output::{OnExecute, OnOutput, Output, OutputCallback, OutputStream, Writer};
pub use run::known_missing;
pub use session::{Session, Setup, check, run};
pub use vfs::{
    Applied, ApplyError, ApplyOptions, Change, ChangeKind, HostDir, HostMode, RecoverError,
    Recovered, Refusal, Side,
};

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use args::Args;
use fds::Fds;
use frames::Frame;
use jobs::Jobs;
use kernel::{Kernel, YieldTo};
use options::Options;
use traps::Traps;
use vars::Vars;

use jp_bash_syntax::ast::Function;
use jp_bash_system::Pid;

use crate::vfs::Node;

/// Functions by name; shared until a subshell changes them.
pub(crate) type Functions = Arc<BTreeMap<Box<[u8]>, Definition>>;

/// Aliases by name; shared until a subshell changes them.
pub(crate) type Aliases = Arc<BTreeMap<Box<[u8]>, Arc<[u8]>>>;

/// Where `hash` found commands, and how often each was called.
pub(crate) type Hashed = Arc<BTreeMap<Box<[u8]>, (Arc<[u8]>, u32)>>;

/// What `complete` was told, by command.
pub(crate) type Completions = Arc<BTreeMap<Box<[u8]>, Arc<[u8]>>>;

/// A function with its attributes.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) function: Arc<Function>,
    /// `export -f`
    pub(crate) exported: bool,
    /// `readonly -f`
    pub(crate) readonly: bool,
    /// `declare -ft`: inherits DEBUG and RETURN traps.
    pub(crate) traced: bool,
}

/// The working directory.
#[derive(Debug, Clone)]
pub(crate) struct Cwd {
    /// Where relative paths start.
    pub(crate) node: Node,
    /// As the user went there (`pwd`, `PWD`).
    pub(crate) logical: Arc<[u8]>,
    /// Without symlinks (`pwd -P`).
    pub(crate) physical: Arc<[u8]>,
}

/// How a script came to run; the letters `c` and `s` of `$-`, and the texts of error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `bash -c`, and each call of a session.
    Text,
    /// `bash FILE`
    File,
    /// `bash -s`, or standard input.
    Input,
}

/// One process's shell. `'y` is the life of the coroutine it runs in.
pub(crate) struct Shell<'y> {
    pub(crate) kernel: Rc<Kernel>,
    /// `None` in the first process, which runs the scheduler itself.
    pub(crate) task: Option<&'y YieldTo>,
    /// The process that is scheduled; `pid` differs within an inline subshell.
    pub(crate) task_pid: Pid,
    /// The lowest address of the stack it runs on.
    pub(crate) floor: usize,
    /// Units of work until others get a turn.
    pub(crate) quantum: u32,

    /// `$BASHPID`
    pub(crate) pid: Pid,
    /// `$$`
    pub(crate) shell_pid: Pid,
    /// `$PPID`
    pub(crate) parent_pid: Pid,
    /// `$!`
    pub(crate) last_background: Option<Pid>,
    /// `$?`
    pub(crate) status: i32,
    /// `PIPESTATUS`
    pub(crate) pipe_status: SmallVec<[i32; 4]>,
    /// `BASH_SUBSHELL`
    pub(crate) subshell: u32,

    pub(crate) vars: Vars,
    pub(crate) options: Options,
    pub(crate) functions: Functions,
    pub(crate) aliases: Aliases,
    pub(crate) args: Args,
    /// `$0`
    pub(crate) arg0: Arc<[u8]>,
    pub(crate) source: Source,
    /// The call stack, innermost last.
    pub(crate) frames: Vec<Frame>,
    /// `LINENO`
    pub(crate) line: u32,
    /// What is added to the line of a command, within `$( )`.
    pub(crate) line_shift: u32,
    /// Open descriptors.
    pub(crate) fds: Fds,
    pub(crate) cwd: Cwd,
    pub(crate) umask: u32,
    pub(crate) traps: Arc<Traps>,
    pub(crate) jobs: Jobs,
    /// `pushd` and `popd`: what lies below the working directory.
    pub(crate) dir_stack: Arc<Vec<Arc<[u8]>>>,
    /// `hash`: where commands were found, and how often.
    pub(crate) hashed: Hashed,
    /// Builtins that `enable -n` turned off.
    pub(crate) disabled: Arc<Vec<Box<[u8]>>>,

    /// What `complete` was told, by command.
    pub(crate) completions: Completions,
    /// What `history` shows.
    pub(crate) history: Arc<builtins::history::History>,

    /// Loops around the current command, for `break`.
    pub(crate) loops: u32,
    /// Above 0 where a failure counts as an answer: conditions, `!`, `&&` and `||`. No `set -e`, no ERR trap.
    pub(crate) tolerant: u32,
    /// `BASH_COMMAND`
    pub(crate) command_text: Arc<[u8]>,
    /// A script mentions `BASH_COMMAND`, so that it is kept even without traps.
    pub(crate) shows_command: bool,
    /// The next part of `[[ ]]` that `set -x` shows stands behind `!`.
    pub(crate) trace_not: bool,
    /// How often `$( )` and `eval` nest, for the prefix of `set -x`.
    pub(crate) trace_level: u32,
    /// Status of the last `$( )` of the current command, which is its own if it has no words.
    pub(crate) substitution_status: Option<i32>,
    /// Our ends of process substitutions whose command still runs.
    pub(crate) temporary_fds: Vec<jp_bash_system::Fd>,
    /// The traps that are being run, one bit each, so that none runs itself.
    pub(crate) in_trap: u128,
    /// Children that have ended and that no CHLD trap was told about.
    pub(crate) children: u32,
    /// The signal that ended the last process in the foreground.
    pub(crate) killed_by: Option<u8>,
    /// The DEBUG trap has run for the next command already, before its process was started.
    pub(crate) debug_done: bool,
    /// The next command is all that this process was started for: a shell or `( )` it starts is this process.
    pub(crate) alone: bool,
    /// The process ends by a signal and runs its EXIT trap: what was sent to those outside does not end that too.
    pub(crate) dying: bool,
    /// Signals that were ignored when this shell was started: `trap` cannot change them. One bit each.
    pub(crate) locked: u128,
    /// The program being run hands on signals to the one it waits for, as `env`, `timeout` and the like do.
    pub(crate) hands_on: bool,
    /// Bytes that the command being run has reserved and not released; given back when it ends.
    pub(crate) reserved: u64,
    /// Bytes that this shell keeps beside its variables: functions, aliases and the like.
    pub(crate) kept: u64,
}

impl Shell<'_> {
    /// Counts bytes of a function, alias or the like, before it is kept.
    pub(crate) fn keep(&mut self, bytes: u64) -> Result<(), jp_bash_system::Stop> {
        self.kernel.budget.reserve_kept(bytes)?;
        self.kept += bytes;
        Ok(())
    }

    /// Gives back what was kept.
    pub(crate) fn forget(&mut self, bytes: u64) {
        let bytes = bytes.min(self.kept);
        self.kept -= bytes;
        self.kernel.budget.release(bytes);
    }
}

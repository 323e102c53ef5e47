//! The shell as an embedder uses it: a session that keeps its files and variables between calls.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::{Bounds, Budget, Monotonic};
use crate::errno::Errno;
use crate::host::{Host, Park, Random, Transport, WallClock};
use crate::input::Stdin;
use crate::output::{OnExecute, OnOutput, Output};
use crate::shell::kernel::Identity;
use crate::shell::kernel::sink::Sinks;
use crate::shell::session::{Session, Setup};
use crate::stop::{Limit, Stop};
use crate::system::{OpenHow, SysError, System};
use crate::vfs::{Applied, ApplyError, ApplyOptions, Change, HostDir, HostMode, Side};

/// A command that the embedder adds.
pub trait Builtin: Send + Sync {
    /// Runs the command and returns its exit status.
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32;

    /// One line about it, for `help`.
    fn about(&self) -> &str {
        ""
    }
}

/// The embedder's commands by name.
pub(crate) type Builtins = Arc<BTreeMap<Vec<u8>, Arc<dyn Builtin>>>;

/// What a [`Builtin`] may do: read, write, look at files and environment.
pub struct BuiltinContext<'a> {
    system: &'a mut dyn System,
    args: &'a [Vec<u8>],
    stopped: Option<Stop>,
}

/// Why a call of [`BuiltinContext`] failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinError {
    /// The call failed as a system call does.
    #[error("{0}")]
    Failed(Errno),
    /// The run is over: return at once.
    #[error("{0}")]
    Stopped(Stop),
}

impl<'a> BuiltinContext<'a> {
    pub(crate) fn new(system: &'a mut dyn System, args: &'a [Vec<u8>]) -> Self {
        Self {
            system,
            args,
            stopped: None,
        }
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    fn check<T>(&mut self, result: Result<T, SysError>) -> Result<T, BuiltinError> {
        result.map_err(|error| match error {
            SysError::Errno(errno) => BuiltinError::Failed(errno),
            SysError::Stop(stop) => {
                self.stopped = Some(stop);
                BuiltinError::Stopped(stop)
            }
        })
    }

    /// Returns the words of the command; the first is its name.
    pub fn args(&self) -> &[Vec<u8>] {
        self.args
    }

    /// Returns an exported variable.
    pub fn env(&self, name: &str) -> Option<Vec<u8>> {
        self.system.env(name.as_bytes())
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> Vec<u8> {
        self.system.cwd()
    }

    /// Reads some bytes of standard input; 0 is the end.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read(&mut self, buf: &mut [u8]) -> Result<usize, BuiltinError> {
        let result = self.system.read(0, buf);
        self.check(result)
    }

    /// Reads standard input to its end; the memory limit holds.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read_to_end(&mut self) -> Result<Vec<u8>, BuiltinError> {
        self.read_all(0)
    }

    fn read_all(&mut self, fd: u32) -> Result<Vec<u8>, BuiltinError> {
        let mut out = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            let result = self.system.read(fd, &mut chunk);
            let n = self.check(result)?;
            if n == 0 {
                return Ok(out);
            }
            let reserved = self.system.reserve(n as u64).map_err(SysError::from);
            self.check(reserved)?;
            out.extend_from_slice(chunk.get(..n).unwrap_or_default());
        }
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let result = self.system.write(1, bytes);
        self.check(result)
    }

    /// Writes to standard error.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write_error(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let result = self.system.write(2, bytes);
        self.check(result)
    }

    /// Reads a whole file of the session.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read_file(&mut self, path: &[u8]) -> Result<Vec<u8>, BuiltinError> {
        let opened = self.system.open(path, OpenHow::READ);
        let fd = self.check(opened)?;
        let result = self.read_all(fd);
        self.system.close(fd);
        result
    }

    /// Writes a whole file of the session.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write_file(&mut self, path: &[u8], bytes: &[u8]) -> Result<(), BuiltinError> {
        let opened = self.system.open(path, OpenHow::WRITE);
        let fd = self.check(opened)?;
        let result = self.system.write(fd, bytes);
        self.system.close(fd);
        self.check(result)
    }
}

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

/// Makes a session.
#[derive(Clone, Default)]
pub struct BashBuilder {
    setup: Setup,
}

impl BashBuilder {
    /// Sets the user's name; the home is `/home/NAME`.
    #[must_use]
    pub fn username(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.setup.user = name.into();
        self
    }

    /// Sets the machine's name.
    #[must_use]
    pub fn hostname(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.setup.host_name = name.into();
        self
    }

    /// Sets the limits of each call.
    #[must_use]
    pub fn limits(mut self, bounds: Bounds) -> Self {
        self.setup.bounds = bounds;
        self
    }

    /// Exports a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.setup.env.push((name.into(), value.into()));
        self
    }

    /// Starts without the usual variables (`HOME`, `USER`, `LANG`): only those of [`BashBuilder::env`].
    #[must_use]
    pub fn empty_environment(mut self) -> Self {
        self.setup.bare = true;
        self
    }

    /// Adds a command.
    #[must_use]
    pub fn builtin(mut self, name: impl Into<Vec<u8>>, builtin: Box<dyn Builtin>) -> Self {
        Arc::make_mut(&mut self.setup.builtins).insert(name.into(), Arc::from(builtin));
        self
    }

    /// Puts a file into the session.
    #[must_use]
    pub fn file(mut self, path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        self.setup.files.push((path.into(), content.into()));
        self
    }

    /// Shows a directory of the host at a path of the session.
    #[must_use]
    pub fn mount(mut self, path: impl Into<Vec<u8>>, dir: HostDir, mode: HostMode) -> Self {
        self.setup.mounts.push((path.into(), dir, mode));
        self
    }

    /// Sets the directory the session starts in; it is made if it is missing.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.setup.cwd = Some(path.into());
        self
    }

    /// The same, but a directory that is missing is an error: see [`Bash::check`].
    #[must_use]
    pub fn existing_cwd(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.setup.cwd_exists = true;
        self.cwd(path)
    }

    /// Prints errors as bash does, without a line about what to do instead where a command is missing.
    #[must_use]
    pub fn plain_errors(mut self) -> Self {
        self.setup.plain_errors = true;
        self
    }

    /// Grants the network, through this transport.
    #[must_use]
    pub fn network(mut self, transport: Arc<dyn Transport>) -> Self {
        self.setup.host.transport = Some(transport);
        self
    }

    /// Replaces the clocks: time that never goes back, time of day, and how to wait.
    #[must_use]
    pub fn clock(mut self, monotonic: Monotonic, wall: WallClock, park: Park) -> Self {
        self.setup.host.monotonic = monotonic;
        self.setup.host.wall = wall;
        self.setup.host.park = park;
        self
    }

    /// Replaces the source of random bytes.
    #[must_use]
    pub fn random(mut self, random: Random) -> Self {
        self.setup.host.random = random;
        self
    }

    /// Makes the session.
    #[must_use]
    pub fn build(self) -> Bash {
        Bash {
            session: None,
            setup: self.setup,
            cancel: Arc::default(),
        }
    }
}

/// A session. At rest it can be sent to another thread.
pub struct Bash {
    /// Made by the first call.
    session: Option<Session>,
    setup: Setup,
    cancel: Arc<AtomicBool>,
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

impl Bash {
    /// Starts with the defaults.
    pub fn builder() -> BashBuilder {
        BashBuilder::default()
    }

    /// Makes a session with the defaults.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Runs a script to its end.
    pub fn exec(&mut self, script: &[u8]) -> ExecResult {
        self.exec_with(script, &ExecOptions::default(), None)
    }

    /// Runs a script with arguments, standard input or a callback.
    pub fn exec_with(
        &mut self,
        script: &[u8],
        options: &ExecOptions,
        on_output: Option<OnOutput>,
    ) -> ExecResult {
        let hear = options.on_execute.clone();
        let sinks = Rc::new(Sinks::new(on_output, &options.output, hear));
        let budget = Budget::new(
            self.setup.bounds,
            Arc::clone(&self.cancel),
            Arc::clone(&self.setup.host.monotonic),
        );
        let session = self.session.take();
        let (session, mut result) =
            crate::shell::session::run(&self.setup, session, budget, &sinks, script, options);
        self.session = session;
        // A cancel ends one call; one that comes between two calls ends the next.
        self.cancel.store(false, Ordering::Relaxed);
        sinks.emit();
        let (stdout, stderr) = sinks.take();
        result.stdout = stdout;
        result.stderr = stderr;
        result
    }

    /// Checks that a session can be made as it was set up: its mounts, its files, its first directory.
    ///
    /// # Errors
    /// A path of the setup cannot be used.
    pub fn check(&self) -> Result<(), SetupError> {
        crate::shell::session::check(&self.setup)
    }

    /// Returns a flag that stops the running call when it is set, or the next one if none runs.
    /// The end of a call clears it.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Forgets everything: the next call starts anew.
    pub fn reset(&mut self) {
        self.session = None;
    }

    /// Sets the limits of the calls that follow.
    pub fn set_limits(&mut self, bounds: Bounds) {
        self.setup.bounds = bounds;
    }

    /// Returns the limits of each call.
    pub fn limits(&self) -> Bounds {
        self.setup.bounds
    }

    /// Lists what calls have changed in the overlay that is mounted at a path, sorted by path.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn diff(&mut self, path: &[u8]) -> Result<Vec<Change>, ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(Vec::new());
        };
        let (vfs, caller) = session.files(&self.setup);
        vfs.diff(&caller, path)
    }

    /// Returns what is at a path of that overlay on the host and in the session, with at most `most` bytes of content
    /// each.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn sides(
        &mut self,
        mount: &[u8],
        path: &[u8],
        most: usize,
    ) -> Result<[Option<Side>; 2], ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok([None, None]);
        };
        let (vfs, caller) = session.files(&self.setup);
        vfs.sides(&caller, mount, path, most)
    }

    /// Checks whether [`Bash::apply`] would write the changes, without writing anything.
    ///
    /// # Errors
    /// It would not.
    pub fn check_apply(&mut self, path: &[u8], dir: &HostDir) -> Result<(), ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        let (vfs, caller) = session.files(&self.setup);
        vfs.check_apply(&caller, path, dir)
    }

    /// Writes those changes to the host, through a directory that may be written: all of them or none.
    ///
    /// # Errors
    /// Something cannot be written, the host has changed meanwhile, or a system call failed. The host is as it was,
    /// unless the error says that this is left to [`HostDir::recover`].
    pub fn apply(
        &mut self,
        path: &[u8],
        dir: &HostDir,
        options: ApplyOptions,
    ) -> Result<Applied, ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(Applied::default());
        };
        let (vfs, caller) = session.files(&self.setup);
        vfs.apply(&caller, path, dir, options)
    }
}

impl Default for Bash {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the message for a run that was cut short.
pub(crate) fn stop_message(stop: Stop, bounds: &Bounds) -> Vec<u8> {
    match stop {
        Stop::Limit(limit) => {
            let bound = match limit {
                Limit::Commands => bounds.commands,
                Limit::Loops => bounds.loops,
                Limit::Output => bounds.output,
                Limit::Memory => bounds.memory,
                Limit::Files => bounds.files,
                Limit::Depth => bounds.depth,
                Limit::Time => bounds.time.as_secs(),
            };
            let name = limit.name();
            format!("jp: limit reached: {name} ({bound})\n")
        }
        Stop::Cancelled => "jp: cancelled\n".to_owned(),
        Stop::Deadlock => "jp: deadlock: every process waits for another one\n".to_owned(),
        Stop::Signal(_) => String::new(),
    }
    .into_bytes()
}

/// Keeps the identity's parts in one place for the kernel.
pub(crate) fn identity(setup: &Setup) -> Identity {
    Identity {
        user: Arc::from(setup.user.as_slice()),
        host: Arc::from(setup.host_name.as_slice()),
        uid: 1000,
        gid: 1000,
    }
}

/// The host of a setup, for a run.
pub(crate) fn host(setup: &Setup) -> Host {
    setup.host.clone()
}

const _: () = {
    const fn send<T: Send>() {}
    send::<Bash>();
};

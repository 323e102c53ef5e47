//! What persists between the calls of a session, and one call on it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jp_bash_syntax::names::Names;
use jp_bash_system::{Bounds, Budget, Errno, Limit, Programs, Stop, SysError};
use smallvec::smallvec;

use crate::args::Args;
use crate::call::{Category, ExecMode, ExecOptions, ExecResult, SetupError};
use crate::custom::Builtins;
use crate::fds::Fds;
use crate::flow::Flow;
use crate::host::Host;
use crate::input::Stdin;
use crate::jobs::{self, Jobs};
use crate::kernel::file::{Mode, Object};
use crate::kernel::sink::{Sinks, Stream};
use crate::kernel::{Identity, Kernel, Parts};
use crate::options::Options;
use crate::output::OnOutput;
use crate::traps::Traps;
use crate::vars::Vars;
use crate::vfs::{
    Applied, ApplyError, ApplyOptions, Caller, Change, HostDir, HostMode, Mount, NoQuota, Side,
    User, Vfs,
};
use crate::{Aliases, Completions, Cwd, Functions, Hashed, Shell, Source, stack};

/// How sessions are made.
#[derive(Clone)]
pub struct Setup {
    /// The programs that scripts can call.
    pub programs: &'static Programs,
    /// The user's name; the home is `/home/NAME`.
    pub user: Vec<u8>,
    /// The machine's name.
    pub host_name: Vec<u8>,
    /// The limits of each call.
    pub bounds: Bounds,
    /// Exported variables.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// No variables but those.
    pub bare: bool,
    /// Commands of the embedder, by name.
    pub builtins: Builtins,
    /// Files that the session starts with: paths and contents.
    pub files: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directories of the host, and the paths that show them.
    pub mounts: Vec<(Vec<u8>, HostDir, HostMode)>,
    /// The directory it starts in; without one, the home.
    pub cwd: Option<Vec<u8>>,
    /// A first directory that is missing is an error.
    pub cwd_exists: bool,
    /// Nothing is added to what bash prints.
    pub plain_errors: bool,
    /// The clocks, chance and network it was handed.
    pub host: Host,
}

impl Setup {
    /// Starts with the defaults, and the programs that scripts can call.
    pub fn new(programs: &'static Programs) -> Self {
        Self {
            programs,
            user: b"user".to_vec(),
            host_name: b"localhost".to_vec(),
            bounds: Bounds::default(),
            env: Vec::new(),
            bare: false,
            builtins: Arc::default(),
            files: Vec::new(),
            mounts: Vec::new(),
            cwd: None,
            cwd_exists: false,
            plain_errors: false,
            host: Host::default(),
        }
    }
}

/// Everything that persists. Descriptors, jobs and traps end with the call.
pub struct Session {
    vfs: Vfs,
    names: Names,
    shell: State,
}

/// The shell's part of it.
struct State {
    vars: Vars,
    options: Options,
    functions: Functions,
    aliases: Aliases,
    cwd: Cwd,
    umask: u32,
    dir_stack: Arc<Vec<Arc<[u8]>>>,
    hashed: Hashed,
    disabled: Arc<Vec<Box<[u8]>>>,
    completions: Completions,
    history: Arc<crate::builtins::history::History>,
    status: i32,
    /// Bytes of functions, aliases and the like.
    kept: u64,
}

impl Session {
    /// Lists what calls have changed in the overlay that is mounted at a path, sorted by path.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn diff(&mut self, setup: &Setup, path: &[u8]) -> Result<Vec<Change>, ApplyError> {
        let (vfs, caller) = self.files(setup);
        vfs.diff(&caller, path)
    }

    /// Returns what is at a path of that overlay on the host and in the session, with at most `most` bytes of content
    /// each.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn sides(
        &mut self,
        setup: &Setup,
        mount: &[u8],
        path: &[u8],
        most: usize,
    ) -> Result<[Option<Side>; 2], ApplyError> {
        let (vfs, caller) = self.files(setup);
        vfs.sides(&caller, mount, path, most)
    }

    /// Checks whether [`Session::apply`] would write the changes, without writing anything.
    ///
    /// # Errors
    /// It would not.
    pub fn check_apply(
        &mut self,
        setup: &Setup,
        path: &[u8],
        dir: &HostDir,
    ) -> Result<(), ApplyError> {
        let (vfs, caller) = self.files(setup);
        vfs.check_apply(&caller, path, dir)
    }

    /// Writes those changes to the host, through a directory that may be written: all of them or none.
    ///
    /// # Errors
    /// Something cannot be written, the host has changed meanwhile, or a system call failed. The host is as it was,
    /// unless the error says that this is left to [`HostDir::recover`].
    pub fn apply(
        &mut self,
        setup: &Setup,
        path: &[u8],
        dir: &HostDir,
        options: ApplyOptions,
    ) -> Result<Applied, ApplyError> {
        let (vfs, caller) = self.files(setup);
        vfs.apply(&caller, path, dir, options)
    }

    /// Hands the files to the embedder, between two calls.
    fn files(&mut self, setup: &Setup) -> (&mut Vfs, Caller<'static>) {
        let caller = Caller {
            cwd: self.vfs.root(),
            now: setup.host.now(),
            quota: &NoQuota,
        };
        (&mut self.vfs, caller)
    }
}

/// Keeps the identity's parts in one place for the kernel.
fn identity(setup: &Setup) -> Identity {
    Identity {
        user: Arc::from(setup.user.as_slice()),
        host: Arc::from(setup.host_name.as_slice()),
        uid: 1000,
        gid: 1000,
    }
}

/// Runs a script on a session, or on a new one, until it ends or `cancel` is set. The end clears the flag.
pub fn run(
    setup: &Setup,
    session: Option<Session>,
    cancel: &Arc<AtomicBool>,
    script: &[u8],
    options: &ExecOptions,
    on_output: Option<OnOutput>,
) -> (Option<Session>, ExecResult) {
    let hear = options.on_execute.clone();
    let sinks = Rc::new(Sinks::new(on_output, &options.output, hear));
    let budget = Budget::new(
        setup.bounds,
        Arc::clone(cancel),
        Arc::clone(&setup.host.monotonic),
    );
    let (session, mut result) = run_into(setup, session, budget, &sinks, script, options);
    // A cancel ends one call; one that comes between two calls ends the next.
    cancel.store(false, Ordering::Relaxed);
    sinks.emit();
    let (stdout, stderr) = sinks.take();
    result.stdout = stdout;
    result.stderr = stderr;
    (session, result)
}

fn run_into(
    setup: &Setup,
    session: Option<Session>,
    budget: Budget,
    sinks: &Rc<Sinks>,
    script: &[u8],
    options: &ExecOptions,
) -> (Option<Session>, ExecResult) {
    let (session, new) = match session {
        Some(session) => (session, false),
        None => match create(setup) {
            Ok(session) => (session, true),
            Err(error) => {
                sinks.note(format!("jp: {error}\n").as_bytes());
                return (None, failed(Category::Internal, 125));
            }
        },
    };
    let kernel = Kernel::new(Parts {
        programs: setup.programs,
        vfs: session.vfs,
        names: session.names,
        budget,
        host: setup.host.clone(),
        identity: identity(setup),
        custom: Arc::clone(&setup.builtins),
        sinks: Rc::clone(sinks),
        plain_errors: setup.plain_errors,
    });
    let call = Call {
        kernel: Rc::clone(&kernel),
        setup,
        script,
        options,
        new,
        ready: Rc::new(Cell::new(!new)),
    };
    let shell = session.shell;
    let ready = Rc::clone(&call.ready);
    let Some((state, result)) = stack::on_fresh(|floor| call.run(shell, floor)) else {
        sinks.note(b"jp: no memory for a stack\n");
        return (None, failed(Category::Internal, 125));
    };
    // A new session that was stopped before it had its variables starts anew with the next call.
    let kept = if ready.get() { kernel.finish() } else { None };
    let session = kept.map(|(mut vfs, names)| {
        vfs.close_all(&NoQuota);
        Session {
            vfs,
            names,
            shell: state,
        }
    });
    (session, result)
}

fn failed(category: Category, exit_code: i32) -> ExecResult {
    ExecResult {
        exit_code,
        error: Some(category),
        ..ExecResult::default()
    }
}

/// Checks that a session can be made.
///
/// # Errors
/// A path of the setup cannot be used.
pub fn check(setup: &Setup) -> Result<(), SetupError> {
    create(setup).map(drop)
}

/// Makes the files and variables of a new session.
fn create(setup: &Setup) -> Result<Session, SetupError> {
    let mut names = Names::default();
    let vars = Vars::new(&mut names);
    let now = setup.host.now();
    let mut vfs = Vfs::new(
        User::named(&setup.user),
        &setup.host_name,
        setup.programs.names(),
        now,
    )
    .map_err(failed_at("make", b"/"))?;
    let home = vfs.user().home.clone();
    let caller = Caller {
        cwd: vfs.root(),
        now,
        quota: &NoQuota,
    };
    for (path, content) in &setup.files {
        let dir = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        vfs.make_dirs(&caller, path.get(..dir).unwrap_or_default())
            .and_then(|()| vfs.put(&caller, path, content))
            .map_err(failed_at("put the file", path))?;
    }
    for (path, dir, mode) in &setup.mounts {
        vfs.make_dirs(&caller, path)
            .and_then(|()| vfs.mount(&caller, path, Mount::Host(dir.clone(), *mode)))
            .map_err(failed_at("mount at", path))?;
    }
    let cwd = setup.cwd.as_ref().unwrap_or(&home);
    if !setup.cwd_exists {
        vfs.make_dirs(&caller, cwd)
            .map_err(failed_at("start in", cwd))?;
    }
    let entered = vfs.change_dir(&caller, cwd);
    let node = entered.map_err(failed_at("start in", cwd))?;
    let physical = vfs.path_of(node).map_err(SysError::Errno);
    let physical: Arc<[u8]> = physical.map_err(failed_at("start in", cwd))?.into();
    let logical = Arc::clone(&physical);
    Ok(Session {
        vfs,
        names,
        shell: State {
            vars,
            options: Options::default(),
            functions: Arc::default(),
            aliases: Arc::default(),
            cwd: Cwd {
                node,
                logical,
                physical,
            },
            umask: 0o022,
            dir_stack: Arc::default(),
            hashed: Arc::default(),
            disabled: Arc::default(),
            completions: Arc::default(),
            history: Arc::default(),
            status: 0,
            kept: 0,
        },
    })
}

/// Turns a failed call into the reason why there is no session.
fn failed_at(what: &'static str, path: &[u8]) -> impl FnOnce(SysError) -> SetupError {
    move |error| SetupError {
        what,
        path: path.to_vec(),
        errno: match error {
            SysError::Errno(errno) => errno,
            // Nothing is counted yet, so no limit can be reached.
            SysError::Stop(_) => Errno::NoMem,
        },
    }
}

/// One call.
struct Call<'a> {
    kernel: Rc<Kernel>,
    setup: &'a Setup,
    script: &'a [u8],
    options: &'a ExecOptions,
    new: bool,
    /// The session has its variables.
    ready: Rc<Cell<bool>>,
}

impl Call<'_> {
    fn run(self, state: State, floor: usize) -> (State, ExecResult) {
        let kernel = Rc::clone(&self.kernel);
        let root = kernel.root();
        let mut shell = Shell {
            kernel: Rc::clone(&kernel),
            task: None,
            task_pid: root,
            floor,
            quantum: 2048,
            pid: root,
            shell_pid: root,
            parent_pid: 1,
            last_background: None,
            status: state.status,
            pipe_status: smallvec![0],
            subshell: 0,
            vars: state.vars,
            options: state.options,
            functions: state.functions,
            aliases: state.aliases,
            args: Args::new(self.options.args.clone()),
            arg0: Arc::from(&b"bash"[..]),
            source: Source::Text,
            frames: Vec::new(),
            line: 0,
            fds: Fds::default(),
            cwd: state.cwd,
            umask: state.umask,
            traps: Arc::new(Traps::default()),
            jobs: Jobs::default(),
            dir_stack: state.dir_stack,
            hashed: state.hashed,
            disabled: state.disabled,
            completions: state.completions,
            history: state.history,
            loops: 0,
            tolerant: 0,
            command_text: Arc::default(),
            trace_level: 0,
            substitution_status: None,
            temporary_fds: Vec::new(),
            in_trap: 0,
            children: 0,
            killed_by: None,
            debug_done: false,
            line_shift: 0,
            trace_not: false,
            shows_command: false,
            alone: false,
            dying: false,
            locked: 0,
            hands_on: false,
            reserved: 0,
            kept: state.kept,
        };
        if !self.options.name.is_empty() && self.options.mode != ExecMode::Path {
            shell.arg0 = Arc::from(self.options.name.as_slice());
        }
        let mark = shell.vars.depth();
        let result = self.start(&mut shell);
        let (exit_code, error) = self.settle(&mut shell, result);
        while shell.vars.depth() > mark {
            shell.vars.pop_scope(&kernel.budget);
        }
        let state = State {
            vars: shell.vars,
            options: shell.options,
            functions: shell.functions,
            aliases: shell.aliases,
            cwd: shell.cwd,
            umask: shell.umask,
            dir_stack: shell.dir_stack,
            hashed: shell.hashed,
            disabled: shell.disabled,
            completions: shell.completions,
            history: shell.history,
            status: exit_code,
            kept: shell.kept,
        };
        let result = ExecResult {
            exit_code,
            error,
            ..ExecResult::default()
        };
        (state, result)
    }

    fn start(&self, shell: &mut Shell<'_>) -> Result<i32, Flow> {
        let kernel = &self.kernel;
        kernel.budget.look()?;
        shell.vars.begin(&kernel.budget);
        kernel.budget.inherit(kernel.vfs.borrow().held());
        kernel.budget.inherit(kernel.names.borrow().cost());
        kernel.budget.inherit(shell.kept);
        let stdin = match &self.options.stdin {
            Stdin::Empty => Object::Null,
            Stdin::Bytes(bytes) => Object::Text(bytes.as_slice().into()),
            Stdin::Reader(input) => Object::Input(input.clone()),
        };
        let input = kernel.describe(stdin, Mode::READ)?;
        let output = kernel.describe(Object::Sink(Stream::Out), Mode::WRITE)?;
        let errors = kernel.describe(Object::Sink(Stream::Err), Mode::WRITE)?;
        shell.put_fd(0, input)?;
        shell.put_fd(1, output)?;
        shell.put_fd(2, errors)?;
        if self.new {
            let mut env = Vec::new();
            if !self.setup.bare {
                env = login_environment(&kernel.vfs.borrow().user().home, &self.setup.user);
            }
            env.extend(self.setup.env.iter().cloned());
            shell.import(&env)?;
            self.ready.set(true);
        }
        match self.options.mode {
            ExecMode::Command => shell.run_main(self.script),
            ExecMode::File => {
                let name = Arc::clone(&shell.arg0);
                shell.become_script(&name, self.options.args.clone());
                shell.run_main(self.script)
            }
            ExecMode::Path => shell.run_script_file(&self.options.name, self.options.args.clone()),
            ExecMode::Input => shell.run_input(),
        }
    }

    /// Ends the first process and everyone it left behind.
    fn settle(&self, shell: &mut Shell<'_>, result: Result<i32, Flow>) -> (i32, Option<Category>) {
        let kernel = &self.kernel;
        let ended = shell.end_process(result);
        let ended = ended.and_then(|how| {
            // What reads from the script sees its end.
            shell.fds = Fds::default();
            // Jobs that can go on do so once more; what waits for time or input ends with the call.
            for _ in 0..LAST_TURNS {
                if !kernel.others_ready() {
                    break;
                }
                shell.kernel.run_others()?;
            }
            match kernel.finish_consumers() {
                // Nothing more will come to whoever still waits.
                Ok(()) | Err(Stop::Deadlock) => Ok(how),
                Err(stop) => Err(stop),
            }
        });
        let stop = kernel.ending.get().or(ended.err());
        // Not a signal: that ends one command, and the script around it would go on.
        kernel.end_all(stop.unwrap_or(Stop::Cancelled));
        shell.fds = Fds::default();
        shell.frames.clear();
        let Some(stop) = stop else {
            let code = ended.map_or(1, jobs::status);
            return (code, None);
        };
        kernel
            .sinks
            .note(&stop_message(stop, kernel.budget.bounds()));
        match stop {
            Stop::Limit(Limit::Time) => (124, Some(Category::ResourceLimit(Limit::Time))),
            Stop::Limit(limit) => (134, Some(Category::ResourceLimit(limit))),
            Stop::Cancelled => (130, Some(Category::Cancelled)),
            Stop::Deadlock => (125, Some(Category::Deadlock)),
            Stop::Signal(signal) => (128 + i32::from(signal), None),
        }
    }
}

/// Returns the message for a run that was cut short.
fn stop_message(stop: Stop, bounds: &Bounds) -> Vec<u8> {
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

/// What a login gives a user: a script finds the same variables exported as on a real machine.
fn login_environment(home: &[u8], user: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    [
        ("HOME", home),
        ("LANG", b"C.UTF-8"),
        ("LOGNAME", user),
        ("PATH", b"/usr/local/bin:/usr/bin:/bin"),
        ("SHELL", b"/bin/bash"),
        ("TERM", b"dumb"),
        ("USER", user),
    ]
    .map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()))
    .to_vec()
}

/// Rounds that jobs get after the script's end.
const LAST_TURNS: u32 = 64;

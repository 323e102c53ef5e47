//! The host's side: checks a confinement, hands it to the launcher, and reads back why it failed.
//! It builds no walls itself.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Once, OnceLock},
    time::{Duration, Instant},
};

use jp_disk::Temporary;

use crate::{
    ConfineError, Confinement, Ended, MemoryScope, Network, ProcessLimits,
    check::check,
    group::{self, Group},
    wire::{Cause, Failure, MAX_MESSAGE, Order, Verdict},
};

/// The first argument of a process that is to become a launcher.
pub(crate) const ENTER: &str = "__confine";

/// Where orders are left: in memory if possible, since an environment may hold secrets. Both
/// directories are sticky, so nobody else can put another file in its place.
const ORDER_DIRECTORIES: [&str; 2] = ["/dev/shm", "/tmp"];

/// How their names begin.
const ORDER: &str = "jp-order-";

/// How long finding out whether this system can confine may take.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// How much memory that takes at most.
const PROBE_MEMORY: u64 = 1 << 30;

/// How to re-enter: the program that calls [`enter_if_asked`](crate::enter_if_asked) first in `main`.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    support: OnceLock<Result<Support, Failure>>,
}

/// What this system can do.
#[derive(Clone, Debug)]
struct Support {
    /// The control group in which each call gets one of its own.
    groups: Option<PathBuf>,
}

/// A confined command that is ready to be spawned.
#[derive(Debug)]
pub struct Confined {
    /// The command; standard input, output and error are the caller's to set. Program, arguments,
    /// environment and directory are not.
    pub command: Command,
    /// Says afterwards why the program was not run; keep it until the command has ended.
    pub report: Report,
}

/// Distinguishes a launcher that could not confine from a program that failed.
#[derive(Debug)]
pub struct Report {
    /// Removed when nobody took it.
    order: Temporary,
    /// What holds the memory of all its processes.
    group: Option<Group>,
}

impl Launcher {
    /// Uses the running program itself, which must call [`enter_if_asked`](crate::enter_if_asked).
    ///
    /// # Errors
    /// Fails when the system does not say which program is running.
    pub fn current_exe() -> io::Result<Self> {
        // The link stays right when the file is replaced while the host runs.
        let link = PathBuf::from("/proc/self/exe");
        Ok(Self::new(if link.exists() {
            link
        } else {
            std::env::current_exe()?
        }))
    }

    /// Uses another program that calls [`enter_if_asked`](crate::enter_if_asked).
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            support: OnceLock::new(),
        }
    }

    /// Prepares a command that runs `program` with `args` inside the walls of `confinement`.
    ///
    /// The first call finds out whether this system can confine, which takes some milliseconds.
    ///
    /// # Errors
    /// Refuses when this system cannot confine, when a path cannot be granted as it stands, or when
    /// something cannot be passed to a program.
    pub fn command(
        &self,
        confinement: &Confinement,
        program: &OsStr,
        args: &[OsString],
    ) -> Result<Confined, ConfineError> {
        let support = self.supported()?;
        check(confinement, program, args)?;
        let argv = std::iter::once(program).chain(args.iter().map(OsString::as_os_str));
        let argv = argv.map(OsStr::to_owned).collect();
        let group = match (&support.groups, confinement.limits.memory_bytes) {
            (None, _) | (_, u64::MAX) => None,
            (Some(groups), memory) => {
                Some(
                    Group::make(groups, memory).map_err(|source| ConfineError::Io {
                        action: "make a control group",
                        source,
                    })?,
                )
            }
        };
        self.prepare(confinement.clone(), argv, group)
    }

    /// Returns what a limit on memory holds for on this system.
    ///
    /// # Errors
    /// Fails where nothing can be confined.
    pub fn memory_scope(&self) -> Result<MemoryScope, ConfineError> {
        Ok(match self.supported()?.groups {
            Some(_) => MemoryScope::AllProcesses,
            None => MemoryScope::EachProcess,
        })
    }

    /// Finds out whether this system can confine, once, by trying.
    ///
    /// # Errors
    /// Says what is missing and what to do about it.
    pub fn support(&self) -> Result<(), ConfineError> {
        self.supported().map(|_| ())
    }

    fn supported(&self) -> Result<&Support, ConfineError> {
        let support = self.support.get_or_init(|| self.find_support());
        support.as_ref().map_err(|Failure { problem, hint, .. }| {
            let (problem, hint) = (problem.clone(), hint.clone());
            ConfineError::Unsupported { problem, hint }
        })
    }

    fn find_support(&self) -> Result<Support, Failure> {
        if !cfg!(target_os = "linux") {
            return Err(failure(
                "confinement is not supported on this system",
                "use Linux",
            ));
        }
        for parent in group::parents() {
            let made = Group::make(&parent, PROBE_MEMORY);
            if let Ok(group) = made
                && self.probe(Some(group)).is_ok()
            {
                let groups = Some(parent);
                return Ok(Support { groups });
            }
        }
        self.probe(None)?;
        Ok(Support { groups: None })
    }

    /// Builds the walls around nothing.
    fn probe(&self, group: Option<Group>) -> Result<(), Failure> {
        let limits = ProcessLimits {
            memory_bytes: PROBE_MEMORY,
            processes: 64,
            open_files: 64,
            file_bytes: u64::MAX,
            cpu_seconds: 10,
        };
        let confinement = Confinement {
            read: Vec::new(),
            write: Vec::new(),
            network: Network::None,
            env: Vec::new(),
            cwd: "/".into(),
            limits,
        };
        let Confined {
            mut command,
            report,
        } = self
            .prepare(confinement, Vec::new(), group)
            .map_err(|error| failure(&error.to_string(), "check that /tmp can be written"))?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let ended = command.spawn().and_then(|mut child| wait_for(&mut child));
        match (report.verdict(), ended) {
            (Some(Verdict::Ready), Ok(())) => Ok(()),
            (Some(Verdict::Failed(failure)), _) => Err(failure),
            (_, Err(error)) => Err(failure(
                &format!("the launcher `{}` failed: {error}", self.program.display()),
                "check that the file can be executed",
            )),
            (_, Ok(())) => Err(failure(
                &format!("`{}` is not a launcher", self.program.display()),
                "the program must call `jp_confine::enter_if_asked` first in `main`",
            )),
        }
    }

    fn prepare(
        &self,
        confinement: Confinement,
        argv: Vec<OsString>,
        group: Option<Group>,
    ) -> Result<Confined, ConfineError> {
        let order = Order {
            host: std::process::id(),
            group: group.as_ref().map(|group| group.path().to_owned()),
            confinement,
            argv,
        };
        let message = order.encode();
        if message.len() > MAX_MESSAGE {
            return Err(ConfineError::Unpassable {
                what: "the command",
                problem: "it is over 16 MiB long",
            });
        }
        let io = |source| ConfineError::Io {
            action: "leave the order for the launcher",
            source,
        };
        let order = order_file().map_err(io)?;
        order.file().write_all(&message).map_err(io)?;
        let mut command = Command::new(&self.program);
        command
            .arg(ENTER)
            .arg(order.path())
            .env_clear()
            .current_dir("/");
        Ok(Confined {
            command,
            report: Report { order, group },
        })
    }
}

impl Report {
    /// Says why the program was not run, once the command has ended; `None` if it ran.
    #[must_use]
    pub fn failure(&self) -> Option<ConfineError> {
        let Failure {
            cause,
            subject,
            problem,
            hint,
        } = match self.verdict() {
            Some(Verdict::Ready | Verdict::Ended(_)) => return None,
            Some(Verdict::Failed(failure)) => failure,
            None => failure(
                "the launcher ended before it took its order",
                "see what a confined command needs in docs/features/tools.md",
            ),
        };
        Some(match cause {
            Cause::Setup => ConfineError::Setup { problem, hint },
            Cause::Grant => ConfineError::Grant {
                path: subject.into(),
                problem,
            },
            Cause::Start => ConfineError::Start {
                program: subject.to_string_lossy().into_owned(),
                problem,
            },
        })
    }

    /// Says how the program ended, once the command has; `None` if it did not run or was killed with
    /// its launcher.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        match self.verdict() {
            Some(Verdict::Ended(ended)) => Some(ended),
            _ => None,
        }
    }

    /// Returns whether the program was killed because all its processes together had used up their memory.
    /// Where each process has a limit of its own nobody is killed: what it asks for is refused.
    #[must_use]
    pub fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().is_some_and(Group::ran_out_of_memory)
    }

    fn verdict(&self) -> Option<Verdict> {
        let mut message = Vec::new();
        let mut file = self.order.file();
        file.rewind().ok()?;
        file.take(MAX_MESSAGE as u64)
            .read_to_end(&mut message)
            .ok()?;
        Verdict::decode(&message)
    }
}

/// Makes the file of an order. Those that killed processes left, which may hold secrets, are removed
/// once per process.
fn order_file() -> io::Result<Temporary> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        for directory in ORDER_DIRECTORIES {
            Temporary::sweep(Path::new(directory), ORDER, Duration::ZERO);
        }
    });
    let mut result = Err(io::ErrorKind::NotFound.into());
    for directory in ORDER_DIRECTORIES {
        result = Temporary::create(Path::new(directory), ORDER, "");
        if result.is_ok() {
            break;
        }
    }
    result
}

fn wait_for(child: &mut std::process::Child) -> io::Result<()> {
    let deadline = Instant::now() + PROBE_TIME;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}

fn failure(problem: &str, hint: &str) -> Failure {
    Failure {
        cause: Cause::Setup,
        subject: OsString::new(),
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    }
}

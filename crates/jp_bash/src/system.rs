//! The system calls that a command sees. The shell's process implements them; commands know nothing else.

use std::time::Duration;

pub(crate) use crate::budget::PIECE;
use crate::budget::units;
use crate::errno::Errno;
use crate::stop::Stop;

/// A descriptor of the calling process.
pub(crate) type Fd = u32;

/// A process of the run: the shell, a subshell, a stage of a pipeline, a job.
pub(crate) type Pid = u32;

/// Why a system call gave no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SysError {
    /// The call failed; the command may report this and go on.
    #[error("{0}")]
    Errno(Errno),
    /// The process or the whole run ends; the command passes it up at once.
    #[error(transparent)]
    Stop(#[from] Stop),
}

impl From<Errno> for SysError {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

/// The result of a system call.
pub(crate) type SysResult<T> = Result<T, SysError>;

/// Tells a failed call from a stop: `let file = match failed(sys.open(..))? { Ok(fd) => .., Err(errno) => .. }`.
pub(crate) fn failed<T>(result: SysResult<T>) -> Result<Result<T, Errno>, Stop> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(SysError::Errno(errno)) => Ok(Err(errno)),
        Err(SysError::Stop(stop)) => Err(stop),
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OpenHow {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
    pub(crate) create: bool,
    pub(crate) truncate: bool,
    /// With `create`: the file must not exist.
    pub(crate) exclusive: bool,
    /// Mode of a file that is created, before the umask.
    pub(crate) mode: u32,
    pub(crate) no_follow: bool,
}

impl OpenHow {
    /// Opens for reading.
    pub(crate) const READ: Self = Self {
        read: true,
        write: false,
        append: false,
        create: false,
        truncate: false,
        exclusive: false,
        mode: 0o666,
        no_follow: false,
    };

    /// Creates or truncates, for writing (`>`).
    pub(crate) const WRITE: Self = Self {
        read: false,
        write: true,
        create: true,
        truncate: true,
        ..Self::READ
    };

    /// Creates or appends (`>>`).
    pub(crate) const APPEND: Self = Self {
        append: true,
        truncate: false,
        ..Self::WRITE
    };
}

/// What an inode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A device such as `/dev/null`.
    CharDevice,
}

/// A moment, in seconds and nanoseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub(crate) struct Timestamp {
    pub(crate) secs: i64,
    pub(crate) nanos: u32,
}

/// What `stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The device (one for each mount) and the inode name a file: `-ef` compares both.
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) kind: FileKind,
    /// Permission bits, set-id and sticky bits: `0o7777`.
    pub(crate) mode: u32,
    pub(crate) nlink: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u64,
    pub(crate) atime: Timestamp,
    pub(crate) mtime: Timestamp,
    pub(crate) ctime: Timestamp,
    pub(crate) btime: Timestamp,
}

/// One name in a directory (never `.` or `..`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: FileKind,
    pub(crate) ino: u64,
}

/// Whether a last symlink is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    Yes,
    No,
}

/// Where to move in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whence {
    Start(u64),
    Current(i64),
    End(i64),
}

/// A time to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetTime {
    Keep,
    Now,
    At(Timestamp),
}

/// Exported variables: names and values.
pub(crate) type Environ = Vec<(Vec<u8>, Vec<u8>)>;

/// A program to run in a process of its own: never a function or alias of the calling shell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spawn {
    /// Name (looked up on the virtual PATH, builtin commands included) and arguments.
    pub(crate) argv: Vec<Vec<u8>>,
    /// The whole environment, or the caller's own exported variables.
    pub(crate) env: Option<Environ>,
    /// Descriptors `(theirs, ours)`; 0, 1 and 2 are inherited unless named here. `ours` stays open here.
    pub(crate) fds: Vec<(Fd, Fd)>,
    /// Another working directory.
    pub(crate) cwd: Option<Vec<u8>>,
    /// It is the first of a process group of its own; [`System::kill`] then means all of the group.
    pub(crate) leads: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(i32),
    Signal(u8),
}

/// A request that `curl` hands to the host's transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Headers in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// The most bytes of body the caller can keep.
    pub max_body: u64,
}

/// What the transport answered. Redirects are not followed by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The reason phrase, when there was one.
    pub reason: String,
    /// Headers in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why the transport gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The host was not granted; the text names the grant that is missing.
    #[error("{0}")]
    Denied(String),
    /// The name has no address.
    #[error("could not resolve host: {0}")]
    Resolve(String),
    /// No connection.
    #[error("failed to connect: {0}")]
    Connect(String),
    /// Too slow.
    #[error("operation timed out")]
    Timeout,
    /// The body is larger than `max_body`.
    #[error("the response is larger than {0} bytes")]
    TooLarge(u64),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// The system calls. Paths are relative to the working directory of the process; all calls may suspend.
pub(crate) trait System {
    /// Returns an exported variable.
    fn env(&self, name: &[u8]) -> Option<Vec<u8>>;
    /// Returns all exported variables, in the order of their names; the copy counts until the command ends.
    fn environ(&mut self) -> Result<Environ, Stop>;
    /// Returns the working directory, absolute and without symlinks.
    fn cwd(&self) -> Vec<u8>;
    /// Tells whether text is UTF-8 (`LC_ALL`, `LC_CTYPE`, `LANG`), else bytes.
    fn utf8(&self) -> bool;
    fn umask(&self) -> u32;
    fn uid(&self) -> u32;
    fn gid(&self) -> u32;
    fn user(&self) -> Vec<u8>;
    fn host_name(&self) -> Vec<u8>;
    fn pid(&self) -> Pid;
    fn is_tty(&self, fd: Fd) -> bool;

    /// Reads some bytes; 0 is the end. Suspends while a pipe is empty.
    fn read(&mut self, fd: Fd, buf: &mut [u8]) -> SysResult<usize>;
    /// Writes everything. A pipe without readers is `Stop::Signal(13)`, or `EPIPE` where SIGPIPE is ignored.
    fn write(&mut self, fd: Fd, data: &[u8]) -> SysResult<()>;
    /// Opens a file; whatever a command leaves open is closed when it ends.
    fn open(&mut self, path: &[u8], how: OpenHow) -> SysResult<Fd>;
    fn close(&mut self, fd: Fd);
    fn pipe(&mut self) -> SysResult<(Fd, Fd)>;
    fn seek(&mut self, fd: Fd, to: Whence) -> SysResult<u64>;
    fn fstat(&mut self, fd: Fd) -> SysResult<Stat>;
    fn ftruncate(&mut self, fd: Fd, size: u64) -> SysResult<()>;

    fn stat(&mut self, path: &[u8], follow: Follow) -> SysResult<Stat>;
    /// Lists a directory in the order of its names (bytes).
    fn read_dir(&mut self, path: &[u8]) -> SysResult<Vec<DirEntry>>;
    fn mkdir(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    fn unlink(&mut self, path: &[u8]) -> SysResult<()>;
    fn rmdir(&mut self, path: &[u8]) -> SysResult<()>;
    fn rename(&mut self, from: &[u8], to: &[u8]) -> SysResult<()>;
    fn link(&mut self, target: &[u8], new: &[u8], follow: Follow) -> SysResult<()>;
    fn symlink(&mut self, target: &[u8], new: &[u8]) -> SysResult<()>;
    fn readlink(&mut self, path: &[u8]) -> SysResult<Vec<u8>>;
    fn mkfifo(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    fn chmod(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    fn set_times(
        &mut self,
        path: &[u8],
        access: SetTime,
        modify: SetTime,
        follow: Follow,
    ) -> SysResult<()>;
    /// Tells whether the process may read (4), write (2) and execute (1) the file, as `access(2)`.
    fn access(&mut self, path: &[u8], mode: u32) -> SysResult<()>;

    /// Returns the time of day.
    fn now(&self) -> Timestamp;
    /// Returns the time since the run began.
    fn elapsed(&self) -> Duration;
    fn sleep(&mut self, time: Duration) -> SysResult<()>;
    fn random(&mut self, buf: &mut [u8]);

    /// Counts turns of a loop or steps of an inner language (limit `loops`).
    fn turns(&mut self, n: u64) -> Result<(), Stop>;
    /// Counts work without a limit of its own; a unit is about a line or a kilobyte.
    fn work(&mut self, units: u32) -> Result<(), Stop>;
    /// Counts bytes that a loop goes through; asked for each [`PIECE`] of them, not once for all.
    fn work_bytes(&mut self, bytes: usize) -> Result<(), Stop> {
        self.work(units(bytes))
    }
    /// Counts bytes about to be held (limit `memory`), before they are allocated.
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop>;
    fn release(&mut self, bytes: u64);
    /// Returns the deepest nesting that an inner language may use.
    fn max_depth(&self) -> u64;

    /// Starts a program beside this one.
    fn spawn(&mut self, spawn: Spawn) -> SysResult<Pid>;
    /// Waits for a child of this process.
    fn wait(&mut self, child: Pid) -> SysResult<Ended>;
    /// Waits for a child at most that long; `None` if it still runs.
    fn wait_for(&mut self, child: Pid, time: Duration) -> SysResult<Option<Ended>>;
    fn kill(&mut self, process: Pid, signal: u8) -> SysResult<()>;

    /// Makes a request through the host's transport.
    fn http(&mut self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, Stop>;
}

//! The system calls that a command sees. The shell's process implements them; commands know nothing else.

use std::time::Duration;

use crate::budget::units;
use crate::errno::Errno;
use crate::stop::Stop;

/// A descriptor of the calling process.
pub type Fd = u32;

/// A process of the run: the shell, a subshell, a stage of a pipeline, a job.
pub type Pid = u32;

/// Why a system call gave no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SysError {
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
pub type SysResult<T> = Result<T, SysError>;

/// Tells a failed call from a stop: `let file = match failed(sys.open(..))? { Ok(fd) => .., Err(errno) => .. }`.
pub fn failed<T>(result: SysResult<T>) -> Result<Result<T, Errno>, Stop> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(SysError::Errno(errno)) => Ok(Err(errno)),
        Err(SysError::Stop(stop)) => Err(stop),
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenHow {
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// A file that is missing is made.
    pub create: bool,
    /// What is in the file is dropped.
    pub truncate: bool,
    /// With `create`: the file must not exist.
    pub exclusive: bool,
    /// Mode of a file that is created, before the umask.
    pub mode: u32,
    /// A last symlink is not followed.
    pub no_follow: bool,
}

impl OpenHow {
    /// Opens for reading.
    pub const READ: Self = Self {
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
    pub const WRITE: Self = Self {
        read: false,
        write: true,
        create: true,
        truncate: true,
        ..Self::READ
    };

    /// Creates or appends (`>>`).
    pub const APPEND: Self = Self {
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
pub struct Timestamp {
    /// Seconds since 1970.
    pub secs: i64,
    /// Nanoseconds of that second.
    pub nanos: u32,
}

/// What `stat` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The device (one for each mount) and the inode name a file: `-ef` compares both.
    pub dev: u64,
    /// The number of the inode on that device.
    pub ino: u64,
    /// What it is.
    pub kind: FileKind,
    /// Permission bits, set-id and sticky bits: `0o7777`.
    pub mode: u32,
    /// How many names it has.
    pub nlink: u64,
    /// The user it belongs to.
    pub uid: u32,
    /// The group it belongs to.
    pub gid: u32,
    /// Its length in bytes.
    pub size: u64,
    /// When it was read last.
    pub atime: Timestamp,
    /// When its content was changed last.
    pub mtime: Timestamp,
    /// When its inode was changed last.
    pub ctime: Timestamp,
    /// When it was made.
    pub btime: Timestamp,
}

/// One name in a directory (never `.` or `..`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: Vec<u8>,
    /// What has that name.
    pub kind: FileKind,
    /// The number of its inode.
    pub ino: u64,
}

/// Whether a last symlink is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// It is followed.
    Yes,
    /// The symlink itself is meant.
    No,
}

/// Where to move in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    /// To this many bytes from the start.
    Start(u64),
    /// By this many bytes from where it is.
    Current(i64),
    /// To this many bytes from the end.
    End(i64),
}

/// A time to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// The time stays as it is.
    Keep,
    /// The time of day.
    Now,
    /// This time.
    At(Timestamp),
}

/// Exported variables: names and values.
pub type Environ = Vec<(Vec<u8>, Vec<u8>)>;

/// A program to run in a process of its own: never a function or alias of the calling shell.
#[derive(Debug, Clone, Default)]
pub struct Spawn {
    /// Name (looked up on the virtual PATH, builtin commands included) and arguments.
    pub argv: Vec<Vec<u8>>,
    /// The whole environment, or the caller's own exported variables.
    pub env: Option<Environ>,
    /// Descriptors `(theirs, ours)`; 0, 1 and 2 are inherited unless named here. `ours` stays open here.
    pub fds: Vec<(Fd, Fd)>,
    /// Another working directory.
    pub cwd: Option<Vec<u8>>,
    /// It is the first of a process group of its own; [`System::kill`] then means all of the group.
    pub leads: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It ended by itself, with this status.
    Exit(i32),
    /// The signal of this number ended it.
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
pub trait System {
    /// Returns an exported variable.
    fn env(&self, name: &[u8]) -> Option<Vec<u8>>;
    /// Returns all exported variables, in the order of their names; the copy counts until the command ends.
    fn environ(&mut self) -> Result<Environ, Stop>;
    /// Returns the working directory, absolute and without symlinks.
    fn cwd(&self) -> Vec<u8>;
    /// Tells whether text is UTF-8 (`LC_ALL`, `LC_CTYPE`, `LANG`), else bytes.
    fn utf8(&self) -> bool;
    /// Returns the mode bits that new files lack.
    fn umask(&self) -> u32;
    /// Returns the user's number.
    fn uid(&self) -> u32;
    /// Returns the number of the user's group.
    fn gid(&self) -> u32;
    /// Returns the user's name.
    fn user(&self) -> Vec<u8>;
    /// Returns the machine's name.
    fn host_name(&self) -> Vec<u8>;
    /// Returns the number of this process.
    fn pid(&self) -> Pid;
    /// Tells whether a person is at the other end of a descriptor.
    fn is_tty(&self, fd: Fd) -> bool;

    /// Reads some bytes; 0 is the end. Suspends while a pipe is empty.
    fn read(&mut self, fd: Fd, buf: &mut [u8]) -> SysResult<usize>;
    /// Writes everything. A pipe without readers is `Stop::Signal(13)`, or `EPIPE` where SIGPIPE is ignored.
    fn write(&mut self, fd: Fd, data: &[u8]) -> SysResult<()>;
    /// Opens a file; whatever a command leaves open is closed when it ends.
    fn open(&mut self, path: &[u8], how: OpenHow) -> SysResult<Fd>;
    /// Closes a descriptor; one that is not open is ignored.
    fn close(&mut self, fd: Fd);
    /// Makes a pipe: the end to read from and the end to write to.
    fn pipe(&mut self) -> SysResult<(Fd, Fd)>;
    /// Moves to a place in a file; returns how far from its start that is.
    fn seek(&mut self, fd: Fd, to: Whence) -> SysResult<u64>;
    /// Looks at the file behind a descriptor.
    fn fstat(&mut self, fd: Fd) -> SysResult<Stat>;
    /// Cuts the file behind a descriptor to that length, or fills it up with zeros.
    fn ftruncate(&mut self, fd: Fd, size: u64) -> SysResult<()>;

    /// Looks at a file.
    fn stat(&mut self, path: &[u8], follow: Follow) -> SysResult<Stat>;
    /// Lists a directory in the order of its names (bytes).
    fn read_dir(&mut self, path: &[u8]) -> SysResult<Vec<DirEntry>>;
    /// Makes a directory.
    fn mkdir(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    /// Removes a name of a file that is no directory.
    fn unlink(&mut self, path: &[u8]) -> SysResult<()>;
    /// Removes an empty directory.
    fn rmdir(&mut self, path: &[u8]) -> SysResult<()>;
    /// Gives a file another name; a file that has it already is replaced.
    fn rename(&mut self, from: &[u8], to: &[u8]) -> SysResult<()>;
    /// Gives a file one more name.
    fn link(&mut self, target: &[u8], new: &[u8], follow: Follow) -> SysResult<()>;
    /// Makes a symlink to `target`.
    fn symlink(&mut self, target: &[u8], new: &[u8]) -> SysResult<()>;
    /// Returns what a symlink holds.
    fn readlink(&mut self, path: &[u8]) -> SysResult<Vec<u8>>;
    /// Makes a named pipe.
    fn mkfifo(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    /// Changes the mode of a file.
    fn chmod(&mut self, path: &[u8], mode: u32) -> SysResult<()>;
    /// Changes when a file was read and changed last.
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
    fn since_start(&self) -> Duration;
    /// Waits that long.
    fn sleep(&mut self, time: Duration) -> SysResult<()>;
    /// Fills a buffer with random bytes.
    fn random(&mut self, buf: &mut [u8]);

    /// Counts turns of a loop or steps of an inner language (limit `loops`).
    fn turns(&mut self, n: u64) -> Result<(), Stop>;
    /// Counts work without a limit of its own; a unit is about a line or a kilobyte.
    fn work(&mut self, units: u32) -> Result<(), Stop>;
    /// Counts bytes that a loop goes through; asked for each [`PIECE`](crate::PIECE) of them, not once for all.
    fn work_bytes(&mut self, bytes: usize) -> Result<(), Stop> {
        self.work(units(bytes))
    }
    /// Counts bytes about to be held (limit `memory`), before they are allocated.
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop>;
    /// Gives back bytes that are no longer held.
    fn release(&mut self, bytes: u64);
    /// Returns the deepest nesting that an inner language may use.
    fn max_depth(&self) -> u64;

    /// Starts a program beside this one.
    fn spawn(&mut self, spawn: Spawn) -> SysResult<Pid>;
    /// Waits for a child of this process.
    fn wait(&mut self, child: Pid) -> SysResult<Ended>;
    /// Waits for a child at most that long; `None` if it still runs.
    fn wait_for(&mut self, child: Pid, time: Duration) -> SysResult<Option<Ended>>;
    /// Sends a signal to a process, or to the group that it leads.
    fn kill(&mut self, process: Pid, signal: u8) -> SysResult<()>;

    /// Makes a request through the host's transport.
    fn http(&mut self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, Stop>;
}

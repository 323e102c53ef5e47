//! What a server is and what it may use. Plain data, made by the reader of the configuration.

use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc, time::Duration};

use jp_confine::Launcher;
use jp_policy::Net;

use crate::HttpExchange;

/// One MCP server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its id, as tools name it.
    pub id: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long it may take to get ready and to tell its tools; `None` waits as long as the caller does.
    pub startup: Option<Duration>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Reach {
    /// A program that is spoken to on its standard streams.
    Program(Program),
    /// A URL that messages are posted to.
    Url(HttpServer),
    /// Not at all: the policy does not allow it, or its configuration cannot work.
    Refused {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// A program that is a server.
#[derive(Clone)]
pub struct Program {
    /// Its path, or a name that is looked up in the directories of the system.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables it sees besides `PATH`, `HOME`, `TMPDIR` and `LANG`.
    pub env: Vec<(OsString, OsString)>,
    /// Further variables, whose values hold `{{secret:NAME}}`: [`Means::secrets`] fills them in when the
    /// program starts.
    pub secret_env: Vec<(OsString, String)>,
    /// What its bytes must be.
    pub checksum: Option<Checksum>,
    /// Files and directories of this host that it may read.
    pub read: Vec<PathBuf>,
    /// Files and directories of this host that it may read and change.
    pub write: Vec<PathBuf>,
    /// Its network: all of it or none, since single hosts cannot be held to.
    pub net: Net,
    /// Where it starts: one of the paths above, or `/tmp`, which is its own.
    pub cwd: PathBuf,
    /// Bytes of memory it may use, with all it starts or in each process, as the system can hold it to.
    pub memory_bytes: u64,
}

/// Shows the names of the environment only: its values may be secret.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = self.secret_env.iter().map(|(name, _)| name);
        let names: Vec<_> = self
            .env
            .iter()
            .map(|(name, _)| name)
            .chain(secret)
            .collect();
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("env", &names)
            .field("checksum", &self.checksum)
            .field("read", &self.read)
            .field("write", &self.write)
            .field("net", &self.net)
            .field("cwd", &self.cwd)
            .field("memory_bytes", &self.memory_bytes)
            .finish()
    }
}

/// What the bytes of a program must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// The hash function.
    pub algorithm: Algorithm,
    /// The hash in hexadecimal, in either case.
    pub value: String,
}

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256.
    Sha256,
    /// SHA-1, for servers that publish nothing better.
    Sha1,
}

/// A server behind a URL.
#[derive(Clone)]
pub struct HttpServer {
    /// Where messages are posted.
    pub url: String,
    /// Headers of every request. Values may hold `{{secret:NAME}}`, which the [`HttpExchange`] fills
    /// in; this crate never sees what it stands for.
    pub headers: Vec<(String, String)>,
    /// The hosts it may be reached at.
    pub net: Net,
}

/// Shows the names of the headers only: a value may be a secret.
impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpServer")
            .field("url", &self.url)
            .field("headers", &names)
            .field("net", &self.net)
            .finish()
    }
}

/// Returns the value of a secret by its name, for the program of the server with an id.
pub type ServerSecrets = dyn Fn(&str, &str) -> Option<String> + Send + Sync;

/// What a pool works with; what is absent makes servers of that kind refuse.
#[derive(Clone, Default)]
pub struct Means {
    /// Confines programs.
    pub launcher: Option<Arc<Launcher>>,
    /// Whether programs may run bare where the system cannot confine them.
    pub unconfined: bool,
    /// Returns the value of a secret by its name, for the server with an id.
    pub secrets: Option<Arc<ServerSecrets>>,
    /// Reaches URLs.
    pub http: Option<Arc<dyn HttpExchange>>,
    /// How much a server may say.
    pub limits: Limits,
}

/// How much a server may say, and how often it may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Bytes of everything sent over HTTP in answer to one request.
    pub stream_bytes: usize,
    /// Tools of a server.
    pub tools: usize,
    /// Bytes of one description.
    pub description_bytes: usize,
    /// Bytes of one schema.
    pub schema_bytes: usize,
    /// Bytes of everything that a list of tools says.
    pub list_bytes: usize,
    /// Time for the list of tools; the first one has the time of the start.
    pub list_time: Duration,
    /// Lines on standard output that are not messages, and events of a stream.
    pub stray_lines: usize,
    /// Messages in a second; a server that sends more is read more slowly.
    pub messages_per_second: u32,
    /// Times a list is asked for again within a minute because the server says that it changed.
    pub refreshes: usize,
    /// Starts of a program within a minute.
    pub starts: usize,
    /// How long a program that died is left alone the first time; doubled each time.
    pub back_off: Duration,
    /// How long the list of a server behind a URL is believed.
    pub list_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
            stream_bytes: 64 * 1024 * 1024,
            tools: 512,
            description_bytes: 16 * 1024,
            schema_bytes: 256 * 1024,
            list_bytes: 8 * 1024 * 1024,
            list_time: Duration::from_secs(30),
            stray_lines: 1000,
            messages_per_second: 2000,
            refreshes: 10,
            starts: 5,
            back_off: Duration::from_millis(200),
            list_age: Duration::from_secs(60),
        }
    }
}

//! What each crate is for and what it may touch of the machine, as a table. A change here is a change of the
//! design; the table in `ARCHITECTURE.md` is made from it by `cargo xtask tidy --write`.

use std::fmt;

/// A part of the machine that code can reach without being handed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    Environment,
    Clock,
    Sockets,
    Files,
    Processes,
    Terminal,
    Randomness,
}

use Touch::{Clock, Environment, Files, Processes, Randomness, Sockets, Terminal};

impl fmt::Display for Touch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Environment => "the environment",
            Clock => "the clock",
            Sockets => "sockets",
            Files => "files",
            Processes => "processes",
            Terminal => "the terminal",
            Randomness => "randomness",
        })
    }
}

/// A crate, what it holds, and what it may touch.
pub(super) struct Row {
    pub(super) package: &'static str,
    pub(super) holds: &'static str,
    /// Nothing here: the crate ships in nothing, and may touch what it likes.
    pub(super) rights: Option<&'static [Right]>,
}

/// A part of the machine, and where in the crate's `src/` it may be touched.
pub(super) struct Right {
    pub(super) touch: Touch,
    /// How the paths of the files start; empty for the whole crate.
    pub(super) room: &'static str,
}

/// A method without arguments that touches something, and the types whose mention gives it away.
pub(super) struct Method {
    pub(super) touch: Touch,
    pub(super) name: &'static str,
    pub(super) types: &'static [&'static str],
}

/// Paths from which on everything touches something.
pub(super) const REACHES: &[(Touch, &str)] = &[
    (Environment, "std::env"),
    (Environment, "rustix::process::chdir"),
    (Environment, "rustix::process::getcwd"),
    (Clock, "std::time::Instant::now"),
    (Clock, "std::time::SystemTime::now"),
    (Clock, "std::thread::sleep"),
    (Clock, "tokio::time"),
    (Clock, "rustix::time"),
    (Clock, "jiff::tz::TimeZone::system"),
    (Sockets, "std::net::TcpListener"),
    (Sockets, "std::net::TcpStream"),
    (Sockets, "std::net::ToSocketAddrs"),
    (Sockets, "std::net::UdpSocket"),
    (Sockets, "std::os::unix::net"),
    (Sockets, "tokio::net"),
    (Sockets, "rustix::net"),
    (Files, "std::fs"),
    (Files, "std::os::unix::fs"),
    (Files, "std::os::linux::fs"),
    (Files, "std::path::Path::canonicalize"),
    (Files, "std::path::Path::exists"),
    (Files, "std::path::Path::is_dir"),
    (Files, "std::path::Path::is_file"),
    (Files, "std::path::Path::is_symlink"),
    (Files, "std::path::Path::metadata"),
    (Files, "std::path::Path::read_dir"),
    (Files, "std::path::Path::read_link"),
    (Files, "std::path::Path::symlink_metadata"),
    (Files, "std::path::Path::try_exists"),
    (Files, "tokio::fs"),
    (Files, "rustix::fs"),
    (Files, "cap_std::fs"),
    (Files, "cap_std::ambient_authority"),
    (Files, "cap_fs_ext"),
    (Files, "cap_primitives"),
    (Files, "fs4"),
    (Files, "glob"),
    (Files, "tempfile"),
    (Processes, "std::process"),
    (Processes, "std::os::unix::process"),
    (Processes, "tokio::process"),
    (Processes, "tokio::signal"),
    (Processes, "rustix::process"),
    (Processes, "rustix::thread"),
    (Processes, "nix"),
    (Terminal, "std::io::IsTerminal"),
    (Terminal, "std::io::stderr"),
    (Terminal, "std::io::stdin"),
    (Terminal, "std::io::stdout"),
    (Terminal, "rustix::termios"),
    (Terminal, "tokio::io::stderr"),
    (Terminal, "tokio::io::stdin"),
    (Terminal, "tokio::io::stdout"),
    (Randomness, "getrandom"),
    (Randomness, "ring::rand"),
    (Randomness, "rustix::rand"),
    (Randomness, "std::hash::RandomState"),
    (Randomness, "std::collections::hash_map::RandomState"),
];

/// What lies below those paths and is a mere value.
pub(super) const HARMLESS: &[&str] = &[
    "std::env::consts",
    "std::process::ExitCode",
    "std::process::ExitStatus",
    "std::process::Termination",
    // Who this process is, without doing anything to it.
    "std::process::id",
    "rustix::process::geteuid",
    "rustix::process::getuid",
];

/// Functions that are found whatever stands before them.
pub(super) const ANYWHERE: &[(Touch, &str)] = &[
    (Clock, "Instant::now"),
    (Clock, "SystemTime::now"),
    (Clock, "Timestamp::now"),
    (Clock, "Zoned::now"),
];

const PATHS: &[&str] = &["Path", "PathBuf", "Utf8Path", "Utf8PathBuf"];
const TIMES: &[&str] = &["Instant", "SystemTime"];

const fn method(touch: Touch, name: &'static str, types: &'static [&'static str]) -> Method {
    Method { touch, name, types }
}

/// Methods that reach the machine without a path that says so.
pub(super) const METHODS: &[Method] = &[
    method(Files, "canonicalize", PATHS),
    method(Files, "canonicalize_utf8", PATHS),
    method(Files, "exists", PATHS),
    method(Files, "is_dir", PATHS),
    method(Files, "is_file", PATHS),
    method(Files, "is_symlink", PATHS),
    method(Files, "metadata", PATHS),
    method(Files, "read_dir", PATHS),
    method(Files, "read_dir_utf8", PATHS),
    method(Files, "read_link", PATHS),
    method(Files, "read_link_utf8", PATHS),
    method(Files, "symlink_metadata", PATHS),
    method(Files, "try_exists", PATHS),
    method(Clock, "elapsed", TIMES),
    method(Sockets, "to_socket_addrs", &["ToSocketAddrs"]),
];

/// Everywhere in a crate.
const fn all(touch: Touch) -> Right {
    Right { touch, room: "" }
}

/// In the files of a crate's `src/` that start so.
const fn only(touch: Touch, room: &'static str) -> Right {
    Right { touch, room }
}

const fn row(package: &'static str, holds: &'static str, rights: &'static [Right]) -> Row {
    Row {
        package,
        holds,
        rights: Some(rights),
    }
}

/// A crate that ships in nothing.
const fn development(package: &'static str, holds: &'static str) -> Row {
    Row {
        package,
        holds,
        rights: None,
    }
}

/// All crates, from the ground up.
pub(super) const ROWS: &[Row] = &[
    row(
        "jp_text",
        "text of strangers: the one table of hidden, reordering and terminal-obeyed characters, how such text is escaped, quoted, shortened and indented, and the bounds on its JSON",
        &[],
    ),
    row(
        "jp_disk",
        "files on disk: private, whole, locked and temporary ones, key files, `Sha256`",
        &[
            all(Files),
            // How old a leftover is.
            only(Clock, "temporary.rs"),
            only(Randomness, "key.rs"),
        ],
    ),
    row(
        "jp_tool",
        "`wit/tool.wit`, `Outcome`, `Question`, `Context`, the `Tool` trait, the guest SDK",
        &[],
    ),
    row("jp_policy", "capabilities, limits, `compose`", &[]),
    row(
        "jp_tool_learn",
        "the guest `learn`, and its scan and prompt for the host",
        &[only(Files, "topic_dir.rs")],
    ),
    row(
        "jp_tool_test",
        "the guest that tests and examples run",
        &[all(Files)],
    ),
    row(
        "jp_tool_brokered",
        "guests that ask the host for capabilities",
        &[],
    ),
    row(
        "jp_audit",
        "the hash-chained log, its reader and verifier; the time of a record is handed to it",
        &[
            all(Files),
            only(Clock, "lease.rs"),
            only(Randomness, "key.rs"),
        ],
    ),
    row(
        "jp_confine",
        "namespaces, Landlock and resource limits around a child process",
        &[
            all(Environment),
            all(Files),
            all(Processes),
            only(Clock, "group.rs"),
            only(Clock, "launcher.rs"),
            only(Terminal, "bin/"),
        ],
    ),
    row(
        "jp_config",
        "layers, partials, assignments, deltas, the JSON Schema; it is handed environment and home directory",
        &[all(Files)],
    ),
    row(
        "jp_wasm",
        "wasmtime: engines, code cache, WASI, limits, spares, stopping",
        &[all(Files), all(Clock), only(Randomness, "temp.rs")],
    ),
    row(
        "jp_bash_system",
        "the ground of the virtual bash: the system calls that a command sees, budget, limits, errors, streams over descriptors",
        &[],
    ),
    row(
        "jp_bash_syntax",
        "bytes in, script out: the parser of the virtual bash, and its tree",
        &[],
    ),
    row(
        "jp_bash_regex",
        "regular expressions as POSIX and GNU tools mean them",
        &[],
    ),
    row(
        "jp_bash_shell",
        "the shell: expansion, redirections, jobs, builtins; its files in `vfs/`; it is handed its programs",
        &[
            // A mount that it was handed, and nothing else.
            only(Files, "vfs/host.rs"),
            only(Files, "vfs/apply/"),
            // What a script gets where nobody says otherwise.
            only(Clock, "host.rs"),
            only(Randomness, "host.rs"),
        ],
    ),
    row(
        "jp_bash_commands",
        "the commands that scripts call, one file each, and their table",
        &[],
    ),
    row(
        "jp_bash",
        "the virtual bash as embedders use it: `Bash`, `BashTool`",
        &[],
    ),
    row(
        "jp_registry",
        "manifests, signatures, trusted keys, revocations, sources, the store, `jp.lock`, installing; it runs nothing",
        &[all(Files)],
    ),
    row(
        "jp_publish",
        "the other side of a registry: keys, signing, writing one and serving it",
        &[
            all(Files),
            only(Clock, "serve"),
            only(Sockets, "serve"),
            only(Randomness, "key.rs"),
        ],
    ),
    row(
        "jp_mcp",
        "the MCP client: programs on their streams, servers behind URLs, which it reaches through what it is handed",
        &[
            all(Clock),
            only(Files, "checksum.rs"),
            only(Files, "process.rs"),
            only(Processes, "process.rs"),
            only(Processes, "stdio.rs"),
        ],
    ),
    row(
        "jp_broker",
        "what the host does on tools' behalf, one module per family behind one `Capability` trait; SQLite, secrets, the HTTP client that checks every address",
        &[
            all(Clock),
            all(Randomness),
            only(Sockets, "http/"),
            only(Files, "kv/"),
            only(Files, "secrets/"),
            // Switches core dumps off, in which secrets would lie.
            only(Processes, "secrets.rs"),
        ],
    ),
    row(
        "jp_store",
        "what must outlive a process of `jp serve`, by meaning: tasks, large results, one-time states, what the user decided and what waits for a decision; SQLite behind it, one conformance suite for every engine; the time is handed to it",
        &[
            only(Files, "generation.rs"),
            only(Files, "sqlite/open.rs"),
            only(Files, "sqlite/servers.rs"),
            only(Randomness, "id.rs"),
        ],
    ),
    row(
        "jp_llm",
        "the pipeline, runtimes' adapters, builtins, trust, knowledge",
        &[
            all(Clock),
            only(Files, "hashed.rs"),
            only(Files, "places.rs"),
            only(Files, "registry/"),
            only(Files, "tool/"),
            only(Files, "trust/"),
            only(Processes, "runtime/command"),
        ],
    ),
    row(
        "jp_host",
        "the host behind every front: places, location, opening a workspace, its registries, servers and calls, live reload, the user's approvals; it is handed the environment",
        &[all(Files)],
    ),
    row(
        "jp_serve",
        "the front for agents: a workspace as an MCP server on streams, HTTP and Unix sockets; tools, questions, progress, resources, prompts, completion, notices of changes, sealed states, sessions; principals, their tokens and turns",
        &[
            all(Clock),
            only(Files, "tokens/known.rs"),
            only(Sockets, "connections.rs"),
            only(Sockets, "http.rs"),
            only(Files, "metrics/process.rs"),
            only(Randomness, "gate.rs"),
            only(Randomness, "sealed.rs"),
        ],
    ),
    row(
        "jp_cli",
        "the `jp` binary: clap, output, exit codes, approvals on the terminal",
        &[
            all(Environment),
            all(Clock),
            all(Files),
            all(Terminal),
            only(Processes, "edit.rs"),
            only(Processes, "interrupt.rs"),
            only(Sockets, "commands/serve/"),
        ],
    ),
    row(
        "jp_guest_build",
        "the nested cargo that builds guests, for build scripts",
        &[all(Environment), all(Files), all(Processes)],
    ),
    development(
        "jp_probes",
        "components, each of which tries one thing a guest should not manage",
    ),
    development("jp_module_probes", "the same as core modules"),
    development("jp_test", "the kit for tests"),
    development("jp_bench", "benchmarks"),
    development("xtask", "chores"),
];

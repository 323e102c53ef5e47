//! Why a call produced no outcome. The texts of the first block are part of the contract.

use jp_policy::{Denied, Limit, Unbacked};

use crate::registry::SignedProblem;

/// What a tool printed before it was stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Why a call produced no outcome. A tool that says no has an outcome; that is no error.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// No tool has this name.
    #[error("Tool not found: {name}")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The tool is turned off.
    #[error("Disabled in configuration")]
    Disabled,
    /// A local tool has neither `wasm` nor `command`.
    #[error("Command missing for local tool")]
    CommandMissing,
    /// The entry of a tool says something that a builtin, which it stands for, takes no notice of.
    #[error(
        "`{key}` of `{tool}` would have no effect: the tool is a builtin, which brings its own"
    )]
    Unheard {
        /// The tool's id.
        tool: String,
        /// The key of its entry.
        key: &'static str,
    },
    /// The configuration names a builtin that does not exist.
    #[error("Unknown builtin tool: {0}")]
    UnknownBuiltin(String),
    /// A file of the workspace has the name of a builtin, and nobody said which of them is meant.
    #[error("there is a builtin `{name}`, and a file {path} of that name")]
    Shadowed {
        /// The name.
        name: String,
        /// The file.
        path: String,
    },
    /// The lock file has a tool of the name of a builtin.
    #[error("`jp.lock` has a tool `{name}`, which is the name of a builtin")]
    LockShadows {
        /// The name.
        name: String,
    },
    /// The configuration names a signed tool as a builtin is named.
    #[error("{place}: there is a builtin `{name}`, and no other tool can have its name")]
    ToolingShadows {
        /// The name.
        name: String,
        /// The file, and the key in it.
        place: String,
    },
    /// A signed tool cannot be used as it is.
    #[error("tool `{tool}` cannot be used: {problem}")]
    Signed {
        /// The tool's id.
        tool: String,
        /// Why not.
        problem: Box<SignedProblem>,
    },
    /// A tool of an MCP server is not what a person accepted.
    #[error("tool `{tool}` of MCP server `{server}` is not what was accepted: {change}")]
    McpChanged {
        /// The tool's id.
        tool: String,
        /// The server's id.
        server: String,
        /// What is different.
        change: String,
    },
    /// A file was chosen for a tool that could not open it.
    #[error(
        "tool `{tool}` cannot be handed files: only a component or a module with WASI can, signed or of the workspace"
    )]
    TakesNoFiles {
        /// The tool's id.
        tool: String,
    },
    /// The tool may use a directory that this host does not have.
    #[error("tool `{tool}` may use {path}, and nothing is there on this host")]
    NoPlace {
        /// The tool's id.
        tool: String,
        /// The path, as the tool sees it.
        path: String,
    },
    /// Wasm compilation failed.
    #[error("Failed to compile Wasm component: {0}")]
    WasmCompilation(String),
    /// Wasm instantiation failed.
    #[error("Failed to instantiate Wasm component: {0}")]
    WasmInstantiation(String),
    /// Instantiation of a core module failed.
    #[error("Failed to instantiate Wasm module: {0}")]
    ModuleInstantiation(String),
    /// Wasm execution trapped.
    #[error("Wasm tool trapped: {0}")]
    WasmTrap(String),
    /// Wasm binary not found at the configured path.
    #[error("Wasm binary not found: {path}")]
    WasmNotFound {
        /// Where it was looked for.
        path: String,
    },
    /// The path of the Wasm binary is not one this workspace may use.
    #[error("Wasm binary refused: {reason}")]
    WasmRefused {
        /// Why.
        reason: String,
    },
    /// The Wasm binary is not the one the user trusted.
    #[error("Wasm binary changed since you trusted it: {path}")]
    WasmChanged {
        /// Which file.
        path: String,
    },
    /// The Wasm binary came after the user had trusted the workspace, so it is none the user trusted.
    #[error("Wasm binary was not there when you trusted this workspace: {path}")]
    WasmUnseen {
        /// Which file.
        path: String,
    },
    /// The command could not be started.
    #[error("Failed to spawn command: {command}: {reason}")]
    Spawn {
        /// The command.
        command: String,
        /// Why.
        reason: String,
    },
    /// A template of the command could not be filled in.
    #[error("Template error: {0}")]
    Template(String),
    /// This host has no client for MCP servers.
    #[error("Failed to run tool from MCP client: this host starts no servers (server `{server}`)")]
    McpUnavailable {
        /// The server's id.
        server: String,
    },

    /// The policy does not allow what the tool needs.
    #[error("tool `{tool}` was denied: {denied}")]
    Denied {
        /// The tool's id.
        tool: String,
        /// What is missing, and on whose side.
        denied: Denied,
        /// Whether the workspace is one the user has not trusted.
        untrusted: bool,
    },
    /// The tool reached for something no guest is given.
    #[error("tool `{tool}` asked for {capability}, which the policy does not grant")]
    Reached {
        /// The tool's id.
        tool: String,
        /// What it reached for.
        capability: String,
    },
    /// A person would have to agree, and there is nobody to ask.
    #[error("tool `{tool}` needs your approval, and there is no terminal to ask on")]
    NotApproved {
        /// The tool's id.
        tool: String,
        /// The Wasm file that keeps it from running unattended: it came after the trust.
        unseen: Option<String>,
    },
    /// The system cannot confine a command, and the policy does not allow running it bare.
    #[error("tool `{tool}` was refused: this system cannot confine commands: {reason}")]
    Unconfinable {
        /// The tool's id.
        tool: String,
        /// What the system lacks.
        reason: String,
        /// How the system gets it, where that is known.
        remedy: Option<String>,
    },
    /// A wall could not be built for a command, although the system can confine.
    #[error("tool `{tool}` was refused: cannot confine this call: {reason}")]
    Unwalled {
        /// The tool's id.
        tool: String,
        /// What went wrong.
        reason: String,
        /// What to do about it.
        remedy: String,
    },
    /// A directory that a command was granted cannot be handed to it.
    #[error("tool `{tool}` was refused: cannot grant `{path}`: {reason}")]
    Ungrantable {
        /// The tool's id.
        tool: String,
        /// The directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A command was to have single hosts of the network, which no system can grant to a process.
    #[error(
        "tool `{tool}` was refused: a command gets all of the network or none of it, not single hosts"
    )]
    SingleHosts {
        /// The tool's id.
        tool: String,
    },
    /// The MCP server of a tool may not be used.
    #[error("tool `{tool}` was refused: MCP server `{server}` may not be used: {reason}")]
    McpRefused {
        /// The tool's id.
        tool: String,
        /// The server's id.
        server: String,
        /// Why, and what to do about it.
        reason: String,
    },
    /// The program of an MCP server is not the one that was configured.
    #[error(
        "tool `{tool}` was refused: the program of MCP server `{server}`, {program}, has the checksum {found}, not {expected}"
    )]
    McpProgram {
        /// The tool's id.
        tool: String,
        /// The server's id.
        server: String,
        /// The file.
        program: String,
        /// What was configured.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A tool of an MCP server is not what it was when it was offered.
    #[error(
        "tool `{tool}` was not called: what MCP server `{server}` says of it has changed since it was offered"
    )]
    McpSwapped {
        /// The tool's id.
        tool: String,
        /// The server's id.
        server: String,
    },
    /// The tool used all of something it had a limit on.
    #[error("tool `{tool}` ran out of {limit} (limit: {allowed})")]
    LimitReached {
        /// The tool's id.
        tool: String,
        /// Of what.
        limit: Limit,
        /// How much it had.
        allowed: String,
        /// Where the tool comes from, as its entry in the configuration says it.
        from: String,
        /// What it printed until then.
        printed: Box<Printed>,
    },
    /// The tool is offered to nobody who has not asked for it by its name, or was turned off.
    #[error("tool `{tool}` is not offered")]
    NotOffered {
        /// The tool's id.
        tool: String,
    },
    /// The tool asks for what nothing could give it.
    #[error("tool `{tool}` was refused: {unbacked}")]
    Unbacked {
        /// The tool's id.
        tool: String,
        /// What it asks for.
        unbacked: Box<Unbacked>,
    },
    /// A person would have to agree that the result is delivered, and there is nobody to ask.
    #[error(
        "tool `{tool}` ran, and its result needs your approval, and there is no terminal to ask on"
    )]
    NotDelivered {
        /// The tool's id.
        tool: String,
    },
    /// What a person made of the result is not what the tool said its results look like.
    #[error("the edited result of `{tool}` does not fit its output schema, at `{path}`: {reason}")]
    EditUnfit {
        /// The tool's id.
        tool: String,
        /// Where in the result, as a JSON pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// The tool asked more questions than anybody would answer.
    #[error(
        "tool `{tool}` asked more than {} questions, or one that was answered before",
        crate::MAX_QUESTIONS
    )]
    TooManyQuestions {
        /// The tool's id.
        tool: String,
    },
    /// The tool said something else than it had said it would.
    #[error(
        "tool `{tool}` gave a result that does not fit its own output schema, at `{path}`: {reason}"
    )]
    ResultUnfit {
        /// The tool's id.
        tool: String,
        /// Where in the result, as a JSON pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// This host failed; the tool is not to blame.
    #[error("the host failed while running `{tool}`: {reason}")]
    Host {
        /// The tool's id.
        tool: String,
        /// What failed.
        reason: String,
    },
}

/// The worlds of errors that fronts tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such tool.
    NotFound,
    /// The configuration is wrong.
    Configuration,
    /// It was not allowed.
    Denied,
    /// The time limit was reached.
    Time,
    /// Another limit was reached, the guest trapped, or what it said does not count.
    Stopped,
    /// This host failed.
    Host,
}

impl ToolError {
    /// Returns which world the error belongs to.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } | Self::UnknownBuiltin(_) => ErrorKind::NotFound,
            Self::Disabled
            | Self::CommandMissing
            | Self::Unheard { .. }
            | Self::Shadowed { .. }
            | Self::LockShadows { .. }
            | Self::ToolingShadows { .. }
            | Self::TakesNoFiles { .. }
            | Self::NoPlace { .. }
            | Self::WasmCompilation(_)
            | Self::WasmInstantiation(_)
            | Self::ModuleInstantiation(_)
            | Self::WasmNotFound { .. }
            | Self::WasmRefused { .. }
            | Self::Template(_)
            | Self::SingleHosts { .. }
            | Self::NotOffered { .. }
            | Self::Unbacked { .. }
            | Self::EditUnfit { .. }
            | Self::Ungrantable { .. }
            | Self::McpUnavailable { .. } => ErrorKind::Configuration,
            Self::Denied { .. }
            | Self::Reached { .. }
            | Self::NotApproved { .. }
            | Self::NotDelivered { .. }
            | Self::WasmChanged { .. }
            | Self::WasmUnseen { .. }
            | Self::McpChanged { .. }
            | Self::McpRefused { .. }
            | Self::McpProgram { .. }
            | Self::McpSwapped { .. }
            | Self::Unwalled { .. }
            | Self::Unconfinable { .. } => ErrorKind::Denied,
            Self::Signed { problem, .. } => problem.kind(),
            Self::LimitReached {
                limit: Limit::Time, ..
            } => ErrorKind::Time,
            Self::LimitReached { .. }
            | Self::WasmTrap(_)
            | Self::ResultUnfit { .. }
            | Self::TooManyQuestions { .. } => ErrorKind::Stopped,
            Self::Spawn { .. } | Self::Host { .. } => ErrorKind::Host,
        }
    }
}

//! The configuration, a file of the workspace or the call itself is wrong.

use std::{error::Error, fmt, io};

use crate::runtime::TemplateError;

/// What is wrong with the configuration, a file of the workspace or the call itself.
#[derive(Debug)]
pub enum Misconfigured {
    /// The tool is turned off.
    Disabled,
    /// A local tool has neither `wasm` nor `command`.
    CommandMissing,
    /// Wasm compilation failed.
    WasmCompilation(Unusable),
    /// Wasm instantiation failed.
    WasmInstantiation(Unusable),
    /// Instantiation of a core module failed.
    ModuleInstantiation(Unusable),
    /// Wasm binary not found at the configured path.
    WasmNotFound {
        /// Where it was looked for.
        path: String,
    },
    /// The Wasm binary cannot be the tool that it is configured as.
    WasmRefused(WasmRefused),
    /// A template of the command could not be filled in.
    Template(TemplateError),
    /// This host has no client for MCP servers.
    McpUnavailable {
        /// The server's id.
        server: String,
    },
    /// The entry of a tool that is a builtin has a key that the builtin ignores.
    Unheard {
        /// The key of its entry.
        key: &'static str,
    },
    /// A file of the workspace has the name of a builtin, and the configuration does not say which is meant.
    Shadowed {
        /// The file.
        path: String,
    },
    /// The lock file has a tool of the name of a builtin.
    LockShadows,
    /// The configuration names a signed tool as a builtin is named.
    ToolingShadows {
        /// The file, and the key in it.
        place: String,
    },
    /// A file was chosen for a tool that could not open it.
    TakesNoFiles,
    /// The tool may use a directory that this host does not have.
    NoPlace {
        /// The path, as the tool sees it.
        path: String,
    },
    /// The tool was turned off, or is offered only to callers who ask for it by its name.
    NotOffered,
    /// What a person made of the result is not what the tool said its results look like.
    EditUnfit {
        /// Where in the result, as a JSON pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

impl Misconfigured {
    pub(super) fn tell(&self, tool: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("Disabled in configuration"),
            Self::CommandMissing => f.write_str("Command missing for local tool"),
            Self::WasmCompilation(why) => write!(f, "Failed to compile Wasm component: {why}"),
            Self::WasmInstantiation(why) => {
                write!(f, "Failed to instantiate Wasm component: {why}")
            }
            Self::ModuleInstantiation(why) => {
                write!(f, "Failed to instantiate Wasm module: {why}")
            }
            Self::WasmNotFound { path } => write!(f, "Wasm binary not found: {path}"),
            Self::WasmRefused(why) => write!(f, "Wasm binary refused: {why}"),
            Self::Template(why) => write!(f, "Template error: {why}"),
            Self::McpUnavailable { server } => write!(
                f,
                "Failed to run tool from MCP client: this host starts no servers (server `{server}`)"
            ),
            Self::Unheard { key } => write!(
                f,
                "`{key}` of `{tool}` would have no effect: the tool is a builtin, which brings its own"
            ),
            Self::Shadowed { path } => {
                write!(
                    f,
                    "ambiguous tool name `{tool}`: it is a builtin, and also the file {path}"
                )
            }
            Self::LockShadows => write!(
                f,
                "`jp.lock` has a tool `{tool}`, which is the name of a builtin"
            ),
            Self::ToolingShadows { place } => write!(
                f,
                "{place}: invalid tool name `{tool}`: it is the name of a builtin"
            ),
            Self::TakesNoFiles => write!(
                f,
                "tool `{tool}` cannot be given files: expected a component or a module with WASI, signed or from the workspace"
            ),
            Self::NoPlace { path } => {
                write!(
                    f,
                    "tool `{tool}` may use {path}, but it does not exist on this host"
                )
            }
            Self::NotOffered => write!(f, "tool `{tool}` is not offered"),
            Self::EditUnfit { path, reason } => write!(
                f,
                "the edited result of `{tool}` does not fit its output schema, at `{path}`: {reason}"
            ),
        }
    }

    pub(super) fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::WasmCompilation(why)
            | Self::WasmInstantiation(why)
            | Self::ModuleInstantiation(why) => Some(why),
            Self::WasmRefused(why) => Some(why),
            Self::Template(why) => Some(why),
            _ => None,
        }
    }
}

/// Why a Wasm file could not be made a tool.
#[derive(Debug)]
pub struct Unusable {
    file: Option<String>,
    source: Box<dyn Error + Send + Sync>,
}

impl Unusable {
    /// Says which file it is, where that is not plain, and what is wrong with it.
    pub fn new(file: Option<&str>, source: impl Error + Send + Sync + 'static) -> Self {
        Self {
            file: file.map(str::to_owned),
            source: Box::new(source),
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        write!(f, "{}", self.source)
    }
}

impl Error for Unusable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Why a Wasm file cannot be the tool that it is configured as.
#[derive(Debug, thiserror::Error)]
pub enum WasmRefused {
    /// Its path leads out of the workspace.
    #[error("{}it leads outside of the workspace", before(file.as_deref()))]
    Outside {
        /// The file, where that is not plain.
        file: Option<String>,
    },
    /// It cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It could not be asked what the tool is.
    #[error("{file} does not describe `{tool}`: {source}")]
    Silent {
        /// The file.
        file: String,
        /// The tool.
        tool: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// It holds other tools.
    #[error("{file} has no tool `{tool}`")]
    NoSuchTool {
        /// The file.
        file: String,
        /// The tool.
        tool: String,
    },
    /// Its entry has a key that means nothing for a component.
    #[error("`{key}` would have no effect on a component: remove it")]
    Unheard {
        /// The key.
        key: &'static str,
    },
    /// This program was built without what runs it.
    #[error("{file}: this build of jp cannot run Wasm tools")]
    NotInThisBuild {
        /// The file, or the tool.
        file: String,
    },
}

fn before(file: Option<&str>) -> String {
    file.map(|file| format!("{file}: ")).unwrap_or_default()
}

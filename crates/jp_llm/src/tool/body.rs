//! How a tool runs, as data: its runtime is made of it when the tool is prepared.

use std::sync::Arc;

use jp_config::tool::CommandConfig;
use relative_path::RelativePathBuf;

use crate::{
    registry::Stored,
    runtime::{BashRuntime, CommandRuntime, Manual, NativeRuntime, ToolRuntime, mcp},
    wasm::{self, Entry},
};

/// What runs when a tool is called.
#[derive(Clone)]
pub(crate) enum Body {
    /// The virtual bash.
    Bash,
    /// A builtin that is Wasm, by its name among the builtins.
    Builtin(&'static str),
    /// A command of this machine, and the name of its tool that it gets.
    Command(CommandConfig, String),
    /// A Wasm file of the workspace.
    File(RelativePathBuf, Entry),
    /// A signed Wasm file, by the name of its tool in the workspace.
    Signed(String, Box<Stored>, Entry),
    /// A tool of an MCP server.
    Server(mcp::ServerTool),
    /// A tool of this process. Its state is its own: all that is made of it share one session.
    Native(Arc<NativeRuntime>),
}

impl Body {
    /// Makes what runs it.
    pub(super) fn runtime(&self) -> Arc<dyn ToolRuntime> {
        match self {
            Self::Bash => Arc::new(BashRuntime::default()),
            Self::Builtin(name) => wasm::TOOLS.embedded(name),
            Self::Command(command, name) => {
                Arc::new(CommandRuntime::new(command.clone(), name.clone()))
            }
            Self::File(path, entry) => wasm::TOOLS.file(path.clone(), entry.clone()),
            Self::Signed(name, stored, entry) => {
                wasm::TOOLS.signed(name, stored.clone(), entry.clone())
            }
            Self::Server(tool) => Arc::new(mcp::McpRuntime::new(tool.clone())),
            Self::Native(runtime) => Arc::clone(runtime) as _,
        }
    }

    /// Returns what a tool of this process says about itself; nothing for every other kind.
    pub(super) fn manual(&self) -> Option<Manual> {
        match self {
            Self::Bash => Some(Manual::of(&jp_bash::BashTool::default())),
            Self::Native(runtime) => Some(runtime.manual().clone()),
            _ => None,
        }
    }
}

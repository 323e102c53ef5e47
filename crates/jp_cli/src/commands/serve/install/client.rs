//! The clients: their names, where their configuration is and how it is written.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use super::{edit::Format, error::InstallError};

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Vscode,
    CopilotCli,
    Zed,
    Goose,
    GeminiCli,
    Opencode,
}

/// What does not depend on the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) title: &'static str,
    /// The name of its program, where it has one that is started by name.
    pub(super) program: Option<&'static str>,
    pub(super) format: Format,
    /// The key of what holds the servers.
    pub(super) section: &'static str,
    /// What makes it read its configuration again.
    pub(super) next: &'static str,
}

const fn facts(
    (title, program): (&'static str, &'static str),
    (format, section): (Format, &'static str),
    next: &'static str,
) -> Facts {
    Facts {
        title,
        program: if program.is_empty() {
            None
        } else {
            Some(program)
        },
        format,
        section,
        next,
    }
}

const SERVERS: &str = "mcpServers";

impl Client {
    /// Returns the name on the command line.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::CopilotCli => "copilot-cli",
            Self::Zed => "zed",
            Self::Goose => "goose",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
        }
    }

    /// Returns what does not depend on the machine.
    pub(super) const fn facts(self) -> Facts {
        match self {
            Self::ClaudeCode => facts(
                ("Claude Code", "claude"),
                (Format::Json, SERVERS),
                "start a new session of Claude Code; `/mcp` lists its servers",
            ),
            Self::ClaudeDesktop => facts(
                ("Claude Desktop", ""),
                (Format::Json, SERVERS),
                "quit Claude Desktop (closing its window is not enough) and start it again",
            ),
            Self::Codex => facts(
                ("Codex", "codex"),
                (Format::Toml, "mcp_servers"),
                "start a new session of Codex; `/mcp` lists its servers",
            ),
            Self::Cursor => facts(
                ("Cursor", "cursor"),
                (Format::Jsonc, SERVERS),
                "check that it is switched on in Cursor's settings under MCP",
            ),
            Self::Vscode => facts(
                ("VS Code", "code"),
                (Format::Jsonc, "servers"),
                "run `MCP: List Servers` in VS Code's command palette and start it",
            ),
            Self::CopilotCli => facts(
                ("Copilot CLI", "copilot"),
                (Format::Jsonc, SERVERS),
                "start a new session of Copilot CLI; `/mcp show` lists its servers",
            ),
            Self::Zed => facts(
                ("Zed", "zed"),
                (Format::Jsonc, "context_servers"),
                "check that it is switched on in the settings of Zed's agent panel",
            ),
            Self::Goose => facts(
                ("Goose", "goose"),
                (Format::Yaml, "extensions"),
                "start a new session of Goose",
            ),
            Self::GeminiCli => facts(
                ("Gemini CLI", "gemini"),
                (Format::Jsonc, SERVERS),
                "start a new session of Gemini CLI; `/mcp` lists its servers",
            ),
            Self::Opencode => facts(
                ("opencode", "opencode"),
                (Format::Jsonc, "mcp"),
                "start opencode again",
            ),
        }
    }

    /// Returns its file in a project, if it reads one.
    pub(super) fn project_file(self, root: &Path) -> Result<PathBuf, InstallError> {
        let name = match self {
            Self::ClaudeCode | Self::CopilotCli => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
            Self::GeminiCli => ".gemini/settings.json",
            Self::Opencode => return Ok(existing(root, &["opencode.json", "opencode.jsonc"])),
            Self::ClaudeDesktop | Self::Goose => {
                return Err(InstallError::NoProject { client: self });
            }
        };
        Ok(root.join(name))
    }

    /// Returns the user's file.
    pub(super) fn user_file(self, machine: &Machine) -> Result<PathBuf, InstallError> {
        let file = match self {
            Self::ClaudeCode => match machine.set("CLAUDE_CONFIG_DIR") {
                Some(dir) => Some(dir.join(".claude.json")),
                None => machine.home(".claude.json"),
            },
            Self::ClaudeDesktop => machine.app("Claude/claude_desktop_config.json"),
            Self::Codex => match machine.set("CODEX_HOME") {
                Some(dir) => Some(dir.join("config.toml")),
                None => machine.home(".codex/config.toml"),
            },
            Self::Cursor => machine.home(".cursor/mcp.json"),
            Self::Vscode => machine.app("Code/User/mcp.json"),
            Self::CopilotCli => machine.home(".copilot/mcp-config.json"),
            Self::Zed => match machine.os {
                Os::Windows => machine.app("Zed/settings.json"),
                Os::Mac => machine.home(".config/zed/settings.json"),
                Os::Linux => machine.config("zed/settings.json"),
            },
            Self::Goose => match machine.os {
                Os::Windows => machine.app("Block/goose/config/config.yaml"),
                _ => machine.config("goose/config.yaml"),
            },
            Self::GeminiCli => machine.home(".gemini/settings.json"),
            Self::Opencode => {
                let dir = machine.config("opencode");
                dir.map(|dir| existing(&dir, &["opencode.json", "opencode.jsonc"]))
            }
        };
        file.ok_or(InstallError::NoHome)
    }

    /// Returns what is there when the client was started once.
    pub(super) fn trace(self, machine: &Machine) -> Option<PathBuf> {
        let file = self.user_file(machine).ok()?;
        match self {
            // Its file lies in the home directory itself, which everybody has.
            Self::ClaudeCode if !file.exists() => machine.home(".claude"),
            Self::ClaudeCode => Some(file),
            _ => file.parent().map(Path::to_owned),
        }
    }
}

/// Returns the first file that is there, or else the first.
fn existing(dir: &Path, names: &[&str]) -> PathBuf {
    let found = names.iter().find(|name| dir.join(name).exists());
    dir.join(found.or(names.first()).unwrap_or(&""))
}

/// An operating system, as far as clients keep their files elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Os {
    Linux,
    Mac,
    Windows,
}

/// What is known of the machine.
pub(super) struct Machine {
    pub(super) os: Os,
    pub(super) variable: fn(&str) -> Option<OsString>,
}

impl Machine {
    /// Looks at this machine.
    pub(super) fn of_process() -> Self {
        Self {
            os: match std::env::consts::OS {
                "macos" => Os::Mac,
                "windows" => Os::Windows,
                _ => Os::Linux,
            },
            variable: |name| std::env::var_os(name),
        }
    }

    /// Returns a variable that holds an absolute path.
    fn set(&self, name: &str) -> Option<PathBuf> {
        let path = (self.variable)(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute() || self.os == Os::Windows && path.has_root())
    }

    fn home(&self, below: &str) -> Option<PathBuf> {
        let home = match self.os {
            Os::Windows => (self.variable)("USERPROFILE").map(PathBuf::from),
            _ => self.set("HOME"),
        };
        home.map(|home| home.join(below))
    }

    /// Returns where programs of the XDG kind keep their configuration.
    fn config(&self, below: &str) -> Option<PathBuf> {
        match self.set("XDG_CONFIG_HOME") {
            Some(dir) => Some(dir.join(below)),
            None => self.home(&format!(".config/{below}")),
        }
    }

    /// Returns where programs with windows keep their data.
    fn app(&self, below: &str) -> Option<PathBuf> {
        match self.os {
            Os::Linux => self.config(below),
            Os::Mac => self.home(&format!("Library/Application Support/{below}")),
            Os::Windows => {
                let dir = (self.variable)("APPDATA").map(PathBuf::from);
                dir.map(|dir| dir.join(below))
            }
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

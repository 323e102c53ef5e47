//! What to do about an error: the line to add, or the command to type.

use jp_policy::{Denied, Limit};

use super::ToolError;

impl ToolError {
    /// Returns what to do about it: the line to add or the command to type.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("`jp tool list` shows the tools there are".to_owned()),
            Self::Disabled => Some("set `enable = true` for the tool".to_owned()),
            Self::CommandMissing => Some(
                "add `wasm = \".jp/tools/NAME.wasm\"` or `command = \"…\"` to the tool".to_owned(),
            ),
            Self::Unheard { tool, key } => Some(format!(
                "take `{key}` out and the builtin is used, or put the tool's own file at \
                 `wasm/{}_tool.wasm`",
                word(tool)
            )),
            Self::Shadowed { name, path } => Some(format!(
                "say which one is meant: `source = \"builtin\"` under `[conversation.tools.{name}]`, or \
                 `source = \"local\"` and `wasm = \"{path}\"`"
            )),
            Self::Denied {
                untrusted: true,
                denied: Denied::ByApp { .. },
                ..
            } => Some("if you know what this workspace does, run `jp trust` in it".to_owned()),
            Self::Denied { denied, .. } => denied.fix(),
            Self::NotApproved {
                tool,
                unseen: Some(path),
            } => Some(format!(
                "`{path}` was not there when you trusted this workspace: look at it, then run `jp trust` \
                 again; or approve this call in a terminal, or with `jp tool run --yes {} …`",
                word(tool)
            )),
            Self::NotApproved { tool, unseen: None } => Some(format!(
                "run it in a terminal, approve this call with `jp tool run --yes {} …`, or set \
                 `run = \"unattended\"` for it in a workspace you trust",
                word(tool)
            )),
            Self::NotOffered { tool } => Some(format!(
                "it is offered to whoever asks for it by its name: `--tool {}`",
                word(tool)
            )),
            Self::Unbacked { unbacked, .. } => Some(unbacked.instead()),
            Self::NotDelivered { tool } => Some(format!(
                "run it in a terminal, deliver the result with `jp tool run --yes {} …`, or set \
                 `result = \"unattended\"` for it",
                word(tool)
            )),
            Self::Unconfinable { remedy, .. } => {
                let bare = "`unconfined = true` under `[policy]` in your own configuration runs \
                            commands with the full authority of your user";
                Some(match remedy {
                    Some(remedy) => format!("{remedy}; or {bare}"),
                    None => bare.to_owned(),
                })
            }
            Self::Unwalled { remedy, .. } => Some(remedy.clone()),
            Self::Ungrantable { tool, .. } => Some(format!(
                "make the directory, or take it out of `grant.files` under \
                 `[conversation.tools.{tool}]`"
            )),
            Self::SingleHosts { tool } => Some(format!(
                "write `grant.net = false` or `grant.net = true` under `[conversation.tools.{tool}]`; \
                 what must reach single hosts is a Wasm tool with `grant.calls = [\"http.request\"]`"
            )),
            // The reason says what to do about it.
            Self::McpRefused { .. } => None,
            Self::McpProgram { server, found, .. } => Some(format!(
                "look at what changed in the program; if it is the one you mean, write \
                 `checksum.value = \"{found}\"` under `[providers.mcp.{server}]`"
            )),
            Self::McpSwapped { tool, .. } => Some(format!(
                "`jp tool show {}` shows what it is now, `jp tool lock` accepts and pins it",
                word(tool)
            )),
            Self::LimitReached {
                limit: Limit::OpenFiles,
                ..
            } => None,
            Self::LimitReached {
                tool, limit, from, ..
            } => {
                // A tool that needs no entry has perhaps none yet.
                let entry = match from.split('.').next() {
                    Some("builtin" | "registry") => format!(", with `source = \"{from}\"`"),
                    _ => String::new(),
                };
                Some(format!(
                    "raise it with `limits.{}` under `[conversation.tools.{tool}]`{entry}",
                    limit.key()
                ))
            }
            Self::LockShadows { name } => Some(format!(
                "`jp tool remove {name}`, then install it under another name"
            )),
            Self::ToolingShadows { name, .. } => Some(format!(
                "give it another name there, such as `my-{name}`, whose `id` says which tool of a \
                 registry is meant; or take it out, and the builtin is used"
            )),
            Self::Signed { problem, .. } => problem.hint(),
            Self::McpChanged { .. } => {
                Some("look at the change, then accept it with `jp tool lock`".to_owned())
            }
            Self::WasmNotFound { .. } => {
                Some("build the tool, or correct its `wasm` path".to_owned())
            }
            Self::WasmChanged { .. } => {
                Some("look at the change, then run `jp trust` in the workspace again".to_owned())
            }
            Self::WasmUnseen { .. } => {
                Some("look at it, then run `jp trust` in the workspace again".to_owned())
            }
            Self::WasmInstantiation(_)
            | Self::ModuleInstantiation(_)
            | Self::WasmCompilation(_) => {
                Some("`jp tool check FILE.wasm` says what the file is and what it lacks".to_owned())
            }
            _ => None,
        }
    }
}

/// Writes a name for a command to type. One that a shell would read as something else is left for the
/// person to write.
fn word(name: &str) -> &str {
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        name
    } else {
        "NAME"
    }
}

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
            Self::Shadowed { name, path } => Some(format!(
                "say which one is meant: `source = \"builtin\"` under `[conversation.tools.{name}]`, or \
                 `source = \"local\"` and `wasm = \"{path}\"`"
            )),
            Self::Denied { untrusted: true, denied: Denied::ByApp { .. }, .. } => {
                Some("if you know what this workspace does, run `jp trust` in it".to_owned())
            }
            Self::Denied { denied, .. } => denied.mend(),
            Self::NotApproved { tool, unseen: Some(path) } => Some(format!(
                "`{path}` was not there when you trusted this workspace: look at it, then run `jp trust` \
                 again; or approve this call in a terminal, or with `jp tool run --yes {} …`",
                word(tool)
            )),
            Self::NotApproved { tool, unseen: None } => Some(format!(
                "run it in a terminal, approve this call with `jp tool run --yes {} …`, or set \
                 `run = \"unattended\"` for it in a workspace you trust",
                word(tool)
            )),
            Self::Unconfinable { .. } => Some(
                "`unconfined = true` under `[policy]` in your own configuration runs commands with \
                 the full authority of your user"
                    .to_owned(),
            ),
            Self::LimitReached { limit: Limit::OpenFiles, .. } => None,
            Self::LimitReached { tool, limit, .. } => Some(format!(
                "raise it with `limits.{}` under `[conversation.tools.{tool}]`",
                limit.key()
            )),
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
            Self::WasmNotFound { .. } => Some("build the tool, or correct its `wasm` path".to_owned()),
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

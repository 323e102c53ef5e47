//! Why a command was not started within walls, each cause as itself, and what to do about it.

use jp_confine::ConfineError;

use super::Invocation;
use crate::{
    ToolError,
    tool::{Cause, Refused, Ungrantable},
};

/// Makes the error of a command that was to have single hosts of the network.
pub(super) fn single_hosts(invocation: &Invocation<'_>) -> ToolError {
    let hint = format!(
        "write `grant.net = false` or `grant.net = true` under `[conversation.tools.{}]`; what must reach \
         single hosts is a Wasm tool with `grant.calls = [\"http.request\"]`",
        invocation.tool.name
    );
    let error = invocation.error(Ungrantable::SingleHosts);
    error.with_hint(hint)
}

/// Makes the error of a system that cannot confine at all: the only reason to think of running bare.
pub(super) fn unconfinable(
    invocation: &Invocation<'_>,
    reason: String,
    remedy: Option<String>,
) -> ToolError {
    let bare = "`unconfined = true` under `[policy]` in your own configuration runs commands with the \
                full authority of your user";
    let hint = match remedy {
        Some(remedy) => format!("{remedy}; or {bare}"),
        None => bare.to_owned(),
    };
    let error = invocation.error(Refused::Unconfinable { reason });
    error.with_hint(hint)
}

/// Says why the launcher did not run the program; `other` gets errors that are not about walls.
pub(super) fn unstarted(
    invocation: &Invocation<'_>,
    error: ConfineError,
    other: impl FnOnce(ConfineError) -> Cause,
) -> ToolError {
    match error {
        ConfineError::Unsupported { problem, hint } => {
            unconfinable(invocation, problem, Some(hint))
        }
        ConfineError::Setup { problem, hint } => {
            let error = invocation.error(Refused::Unwalled { reason: problem });
            error.with_hint(hint)
        }
        ConfineError::Grant { path, problem } => {
            let error = invocation.error(Ungrantable::Directory {
                path: path.display().to_string(),
                reason: problem,
            });
            error.with_hint(format!(
                "create the directory, or remove it from `grant.files` under `[conversation.tools.{}]`",
                invocation.tool.name
            ))
        }
        error => invocation.error(other(error)),
    }
}

//! Why a call produced no outcome: which tool, for which cause, and what to do about it.
//!
//! A cause belongs to one world, and what fronts, the log and clients make of an error follows from its
//! world alone: the table is in `error/world.rs`.

mod cause;
mod host;
mod misconfigured;
mod refused;
mod stop;
mod ungrantable;
mod world;

use std::{error::Error, fmt};

pub use cause::{Cause, Missing};
pub use host::{HostError, SharedError};
pub use misconfigured::{Misconfigured, Unusable, WasmRefused};
pub use refused::Refused;
pub use stop::{Printed, Stop};
pub use ungrantable::Ungrantable;
pub use world::{ErrorKind, McpAnswer, Verdict, World};

use crate::registry::SignedProblem;

/// Why a call produced no outcome. A tool that says no has an outcome, which is not an error.
///
/// One word wide, since it is rare and large.
#[derive(Debug)]
pub struct ToolError(Box<Failure>);

#[derive(Debug)]
struct Failure {
    tool: String,
    cause: Cause,
    hint: Option<String>,
}

impl ToolError {
    /// Makes the error of a tool. The hint is set where the cause is found:
    /// [`Self::with_hint`].
    pub fn new(tool: impl Into<String>, cause: impl Into<Cause>) -> Self {
        Self(Box::new(Failure {
            tool: tool.into(),
            cause: cause.into(),
            hint: None,
        }))
    }

    /// Makes the error of a name that no tool has.
    pub fn not_found(name: impl Into<String>) -> Self {
        let name = name.into();
        let missing = Missing::NotFound { name: name.clone() };
        Self::new(name, missing).with_hint("`jp tool list` shows the tools there are")
    }

    /// Makes the error of a signed tool that cannot be used as it is.
    pub fn signed(tool: impl Into<String>, problem: SignedProblem) -> Self {
        let hint = problem.hint();
        Self::new(tool, Cause::Signed(problem)).with_hint_of(hint)
    }

    /// Makes the error of a missing Wasm file.
    pub fn wasm_not_found(tool: impl Into<String>, path: impl Into<String>) -> Self {
        let path = path.into();
        Self::new(tool, Misconfigured::WasmNotFound { path })
            .with_hint("build the tool, or correct its `wasm` path")
    }

    /// Makes the error of a Wasm file that could not be made a tool.
    pub fn unusable(tool: impl Into<String>, wrong: Misconfigured) -> Self {
        Self::new(tool, wrong)
            .with_hint("`jp tool check FILE.wasm` says what the file is and what it lacks")
    }

    /// Says what to do about it: the line to add or the command to type.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with_hint_of(Some(hint.into()))
    }

    /// Says what to do about it, where something is known to help.
    #[must_use]
    pub fn with_hint_of(mut self, hint: Option<String>) -> Self {
        self.0.hint = hint;
        self
    }

    /// Returns the name of the tool.
    #[must_use]
    pub const fn tool(&self) -> &str {
        self.0.tool.as_str()
    }

    /// Returns the cause.
    #[must_use]
    pub const fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// Takes the cause out.
    #[must_use]
    pub fn into_cause(self) -> Cause {
        self.0.cause
    }

    /// Changes the cause, and nothing else.
    #[must_use]
    pub fn map_cause(mut self, change: impl FnOnce(Cause) -> Cause) -> Self {
        self.0.cause = change(self.0.cause);
        self
    }

    /// Returns what to do about it: the line to add or the command to type.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns what fronts, the log and clients make of it.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.cause().world().verdict()
    }

    /// Returns its kind, as fronts tell errors apart.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.verdict().kind
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.cause.tell(&self.0.tool, f)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.cause.source()
    }
}

/// Writes a name for a command to type. One that a shell would read as something else is left for the
/// person to write.
pub(crate) fn word(name: &str) -> &str {
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        name
    } else {
        "NAME"
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;

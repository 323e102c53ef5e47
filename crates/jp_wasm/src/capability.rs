//! How a guest reaches what the host does on its behalf. Does not know what that is: names and JSON
//! go out, JSON comes back.

use async_trait::async_trait;
use jp_tool::Problem;
use serde_json::{json, value::RawValue};

use crate::call::Outside;

/// Capability calls of one call, over all its steps.
pub(crate) const MAX_CALLS: usize = 64;

/// Characters of a name that are repeated in a message.
const MAX_NAME: usize = 200;

/// A capability call that failed, or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityError {
    /// What a module receives: JSON in the broker's shape.
    pub json: String,
    /// The same for people.
    pub problem: Problem,
    /// Whether the same call may succeed later.
    pub transient: bool,
}

/// What comes after the answer to a capability call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// The guest hears it and goes on.
    GuestGoesOn,
    /// It is the answer of the whole call: the guest has had its last word.
    CallEnds,
}

/// Answers the capability calls of one guest call.
#[async_trait]
pub trait CapabilityCalls: Send + Sync {
    /// Answers one call with its result. `arguments` is JSON as the guest wrote it, checked for
    /// nothing but its size.
    async fn call(
        &self,
        name: &str,
        arguments: &str,
        afterwards: Afterwards,
    ) -> Result<Box<RawValue>, CapabilityError>;
}

/// Has a capability call answered, or refuses it when nobody is there to answer.
pub(crate) async fn answer(
    outside: &Outside,
    tool: &str,
    (name, arguments): (&str, &str),
    afterwards: Afterwards,
) -> Result<Box<RawValue>, CapabilityError> {
    if let Some(calls) = &outside.calls {
        return calls.call(name, arguments, afterwards).await;
    }
    let name = jp_text::shorten(name, MAX_NAME);
    let message = format!("Capability '{name}' is not allowed for tool '{tool}'");
    Err(error("forbidden", message))
}

/// Makes a lasting error in the broker's shape.
pub(crate) fn error(code: &str, message: String) -> CapabilityError {
    let json = json!({"status": "error", "code": code, "error": message, "retryable": false});
    CapabilityError {
        json: json.to_string(),
        problem: Problem {
            code: Some(code.to_owned()),
            message,
        },
        transient: false,
    }
}

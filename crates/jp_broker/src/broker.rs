//! Finds the capability a guest names, checks that it is granted, and calls it.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Instant};

use jp_policy::{BrokeredName, Grant};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, CallError, Code, Services,
    capability::{CapabilityCall, Known, Spec},
    size,
    table::table,
};

/// Larger arguments are refused before anything looks at them.
const MAX_ARGUMENTS: usize = 1024 * 1024;

/// Answers the capability calls of all tools.
pub struct Broker {
    services: Services,
    /// What there is, by its name.
    known: HashMap<&'static str, Arc<dyn Known>>,
}

/// Who calls, and what holds for the call; the same for all capability calls of one tool call.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Whose call it is.
    pub user: &'a str,
    /// The tool that calls.
    pub tool: &'a str,
    /// What the tool may do.
    pub grant: &'a Grant,
    /// Returns what another tool may do; capabilities that work on its data need both grants.
    pub grant_of: &'a (dyn Fn(&str) -> Option<Arc<Grant>> + Send + Sync),
    /// When the tool's time is over.
    pub deadline: Instant,
    /// Stops the call when its caller loses interest.
    pub cancel: &'a CancellationToken,
}

impl Broker {
    /// Makes a broker with all capabilities over the given services.
    #[must_use]
    pub fn new(services: Services) -> Self {
        let known = table().into_iter().map(|known| (known.spec().name, known));
        Self {
            services,
            known: known.collect(),
        }
    }

    /// Returns what the capabilities work on.
    #[must_use]
    pub const fn services(&self) -> &Services {
        &self.services
    }

    /// Calls a capability.
    ///
    /// # Errors
    ///
    /// When it is not granted, the arguments do not fit, or it failed; [`CallError::to_json`] is what
    /// a guest gets.
    pub async fn call(
        &self,
        caller: &Caller<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Answer, CallError> {
        let found = self.known.get(name);
        let spec = found.map(|found| found.spec());
        let full = full_name(spec, name, arguments)?;
        check_grants(caller, spec, &full)?;
        let Some(found) = found else {
            let message = format!(
                "Capability '{full}' requested by wasm tool '{}' but host bridge for this capability is not implemented yet",
                caller.tool
            );
            return Err(CallError {
                reason: Some("unimplemented"),
                ..CallError::new(Code::Internal, message)
            });
        };
        if !size::fits(arguments, MAX_ARGUMENTS) {
            let message =
                format!("invalid arguments: expected at most {MAX_ARGUMENTS} bytes of JSON");
            return Err(CallError::new(Code::InvalidArgs, message));
        }
        let call = CapabilityCall {
            user: caller.user,
            tool: caller.tool,
            name: &full,
            arguments,
            grant: caller.grant,
            deadline: caller.deadline,
            cancel: caller.cancel,
        };
        found.call(&self.services, &call).await
    }
}

fn check_grants(
    caller: &Caller<'_>,
    spec: Option<Spec>,
    full: &BrokeredName,
) -> Result<(), CallError> {
    let tool = caller.tool;
    if !caller.grant.capabilities().brokered.allows(full) {
        return Err(CallError::not_allowed(full.as_str(), tool));
    }
    // A tool that works on another tool's data needs that tool's grant, too: it must not gain by
    // asking a second one.
    let owner = spec.and_then(|spec| spec.owner);
    let Some(owner) = owner.filter(|owner| *owner != tool) else {
        return Ok(());
    };
    let theirs = (caller.grant_of)(owner);
    if theirs.is_some_and(|grant| grant.capabilities().brokered.allows(full)) {
        return Ok(());
    }
    let message = format!(
        "Capability '{full}' works on the data of tool '{owner}', which is not allowed to use it itself"
    );
    Err(CallError::new(Code::Forbidden, message))
}

/// Adds the scope to a name, before anything is allowed by it.
fn full_name(
    spec: Option<Spec>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<BrokeredName, CallError> {
    let full = match spec.and_then(|spec| spec.scope) {
        None => Cow::Borrowed(name),
        Some(field) => match arguments.get(field) {
            Some(Value::String(value)) => Cow::Owned(format!("{name}.{value}")),
            _ => {
                return Err(CallError::invalid(field, "expected a string"));
            }
        },
    };
    let parsed: Option<BrokeredName> = full.parse().ok();
    // A `*` from a guest would ask for everything at once, and be granted by `*`.
    parsed
        .filter(|full| !full.as_str().ends_with('*'))
        .ok_or_else(|| {
            let shown = jp_text::start(&full, 80);
            CallError::new(
                Code::InvalidArgs,
                format!("invalid name of a capability `{shown}`: expected words joined by `.`"),
            )
        })
}

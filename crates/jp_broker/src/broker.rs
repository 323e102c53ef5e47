//! Finds the capability a guest names, checks that it is granted, and calls it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use jp_policy::{BrokeredName, Grant};
use jp_tool::GivenBlobs;
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
#[derive(Clone)]
pub struct Caller {
    /// Whose call it is. From the host, never from the guest: every statement filters by it.
    pub user: String,
    /// The tool that calls.
    pub tool: String,
    /// What the tool may do.
    pub grant: Arc<Grant>,
    /// What other tools may do; capabilities that work on their data need both grants.
    pub others: Arc<BTreeMap<String, Arc<Grant>>>,
    /// When the tool's time is over.
    pub deadline: Instant,
    /// Stops the call when its caller loses interest.
    pub cancel: CancellationToken,
    /// Keeps bytes for the tool, if it can take them other than as base64.
    pub given: Option<Arc<GivenBlobs>>,
}

impl Caller {
    /// Makes a caller that nobody stops before the deadline, and that works on no other tool's data.
    #[must_use]
    pub fn new(user: &str, tool: &str, grant: Arc<Grant>, deadline: Instant) -> Self {
        Self {
            user: user.to_owned(),
            tool: tool.to_owned(),
            grant,
            others: Arc::default(),
            deadline,
            cancel: CancellationToken::new(),
            given: None,
        }
    }
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
        caller: &Caller,
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
            caller,
            name: &full,
            arguments,
        };
        found.call(&self.services, &call).await
    }
}

fn check_grants(caller: &Caller, spec: Option<Spec>, full: &BrokeredName) -> Result<(), CallError> {
    let tool = caller.tool.as_str();
    if !caller.grant.capabilities().brokered.allows(full) {
        return Err(CallError::not_allowed(full.as_str(), tool));
    }
    // A tool that works on another tool's data needs that tool's grant, too: it must not gain by
    // asking a second one.
    let owner = spec.and_then(|spec| spec.owner);
    let Some(owner) = owner.filter(|owner| *owner != tool) else {
        return Ok(());
    };
    let theirs = caller.others.get(owner);
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

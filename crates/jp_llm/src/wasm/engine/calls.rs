//! Adapter: the capability calls of a guest, answered by the broker, each written down.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jp_audit::{Log, Waiting};
use jp_broker::{Answer, Broker, CallError, Caller, Code};
use jp_tool::{GivenBlobs, Outcome, Problem};
use jp_wasm::{Afterwards, CapabilityCalls, CapabilityError, ToolKind};
use serde_json::{Map, Value, value::RawValue};

use super::scrub;
use crate::{
    ToolError,
    runtime::{Invocation, Run},
    tool::{HostError, record::CapabilityRecord},
};

/// A time nobody waits for.
const FAR: Duration = Duration::from_hours(24 * 365);

/// The capability whose arguments are meant for the log.
const LOG: &str = "log.emit";

/// The longest name that is repeated.
const MAX_NAME: usize = 80;

/// How the names of what concerns secrets start.
const SECRETS: &str = "secrets.";

/// Answers the capability calls of one run of a tool.
struct Calls {
    /// Nobody where nothing was granted that it could do.
    broker: Option<Arc<Broker>>,
    caller: Caller,
    audit: Option<Arc<Log>>,
    record: CapabilityRecord,
    /// Where the record of the call looks for one that goes before it.
    unwritten: Arc<Mutex<Option<Waiting>>>,
    /// Set when the call ends with a denial.
    denied: Denied,
}

/// Tells whether a call ended because it was not allowed to ask for what it asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Denied(Arc<AtomicBool>);

impl Denied {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns what answers the capability calls of a tool; nothing when it can make none. What was not
/// granted is refused here too, so that it is written down.
pub(super) fn of(
    invocation: &Invocation<'_>,
    kind: ToolKind,
    given: Option<&Arc<GivenBlobs>>,
    denied: &Denied,
) -> Result<Option<Arc<dyn CapabilityCalls>>, ToolError> {
    if !kind.calls_capabilities() {
        return Ok(None);
    }
    let broker = match invocation.grant().capabilities().brokered.is_none() {
        true => None,
        false => invocation.host.broker()?,
    };
    Ok(Some(Arc::new(Calls {
        broker: broker.cloned(),
        caller: Caller {
            given: given.cloned(),
            ..caller(invocation)
        },
        audit: invocation.host.audit().cloned(),
        record: CapabilityRecord::of(invocation.pass),
        unwritten: Arc::clone(&invocation.unwritten),
        denied: denied.clone(),
    })))
}

/// Says to the broker who calls, and until when.
pub(super) fn caller(invocation: &Invocation<'_>) -> Caller {
    let now = Instant::now();
    let deadline = now.checked_add(invocation.left.time).unwrap_or(now + FAR);
    let user = &invocation.host.caller().principal;
    let grant = Arc::clone(invocation.grant());
    Caller {
        others: Arc::clone(&invocation.granted.others),
        cancel: invocation.cancel(),
        ..Caller::new(user, &invocation.tool.name, grant, deadline)
    }
}

/// Takes known secrets out of what a tool said and printed, if it could have come by one: whoever may
/// use a secret or reach a host that might echo it.
pub(super) fn scrubbed(invocation: &Invocation<'_>, kind: ToolKind, run: Run) -> Run {
    let capabilities = invocation.grant().capabilities();
    let mut names = capabilities.brokered.names();
    let could = !capabilities.net.is_none() || names.any(|name| name.as_str().starts_with(SECRETS));
    let asks = !capabilities.brokered.is_none() || kind.makes_requests();
    if !asks || !could {
        return run;
    }
    let scrubber = match invocation.host.broker() {
        Ok(Some(broker)) => broker.services().scrubber_for(&capabilities.brokered),
        Ok(None) => return run,
        Err(error) => return Run::failed(error),
    };
    let scrubber = match scrubber {
        Ok(scrubber) => scrubber,
        // What cannot be scrubbed must not be shown.
        Err(error) => return Run::failed(invocation.error(HostError::Secrets(error))),
    };
    let text = |text: String| scrubber.scrub(&text).into_owned();
    let result = run.result.map(|outcome| match outcome {
        Outcome::Success { content } => Outcome::Success {
            content: text(content),
        },
        Outcome::Error {
            message,
            trace,
            transient,
        } => Outcome::Error {
            message: text(message),
            trace: trace.into_iter().map(text).collect(),
            transient,
        },
        Outcome::NeedsInput { mut question } => {
            question.text = text(question.text);
            Outcome::NeedsInput { question }
        }
    });
    let mut beside = run.beside;
    scrub::beside(&scrubber, &mut beside);
    Run {
        result,
        beside,
        stdout: scrubber.scrub_bytes(&run.stdout).into_owned(),
        stderr: scrubber.scrub_bytes(&run.stderr).into_owned(),
        ..run
    }
}

impl Calls {
    async fn answer(&self, name: &str, arguments: &str) -> Result<Answer, CallError> {
        let Some(broker) = &self.broker else {
            let name = jp_text::shorten(name, MAX_NAME);
            return Err(CallError::not_allowed(&name, &self.caller.tool));
        };
        let arguments: Map<String, Value> = match serde_json::from_str(arguments) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(Value::Null) => Map::new(),
            Ok(_) => {
                let message = "the arguments of a capability are a JSON object";
                return Err(CallError::new(Code::InvalidArgs, message));
            }
            Err(error) => {
                let message = format!("the arguments are no JSON: {error}");
                return Err(CallError::new(Code::InvalidArgs, message));
            }
        };
        broker.call(&self.caller, name, &arguments).await
    }

    /// Writes a call down. One that nobody can account for did not happen, as far as the guest may
    /// know.
    fn write(
        &self,
        (name, arguments): (&str, &str),
        took: Duration,
        afterwards: Afterwards,
        answer: Result<Answer, CallError>,
    ) -> Result<Answer, CallError> {
        let Some(log) = &self.audit else {
            return answer;
        };
        let note = match &answer {
            Ok(_) if name == LOG => self.logged(arguments)?,
            _ => None,
        };
        let noted = answer.as_ref().map(|_| note.as_deref());
        let record = self
            .record
            .with(&self.caller, log, (name, arguments), took, noted);
        let unwritten = self.unwritten.lock();
        let mut unwritten = unwritten.unwrap_or_else(PoisonError::into_inner);
        if afterwards == Afterwards::CallEnds && unwritten.is_none() {
            // The record of the call is next and takes this one along; if it cannot be written, the
            // call has failed.
            *unwritten = Some(record.wait());
        } else {
            let written = CapabilityRecord::write(log, &record);
            written.map_err(|error| CallError::internal(error.to_string()))?;
        }
        answer
    }

    /// Returns the line a tool wants written down, without the secrets it may have come by.
    fn logged(&self, arguments: &str) -> Result<Option<String>, CallError> {
        let sent: Value = serde_json::from_str(arguments).unwrap_or_default();
        let Some(event) = sent.get("event").and_then(Value::as_str) else {
            return Ok(None);
        };
        let level = sent.get("level").and_then(Value::as_str).unwrap_or("info");
        let Some(broker) = &self.broker else {
            return Ok(None);
        };
        let scrubber = broker.services().scrubber();
        let scrubber = scrubber.map_err(|error| CallError::internal(error.to_string()))?;
        Ok(Some(
            scrubber.scrub(&format!("{level}:{event}")).into_owned(),
        ))
    }
}

#[async_trait]
impl CapabilityCalls for Calls {
    async fn call(
        &self,
        name: &str,
        arguments: &str,
        afterwards: Afterwards,
    ) -> Result<Box<RawValue>, CapabilityError> {
        let started = Instant::now();
        let answer = self.answer(name, arguments).await;
        let took = started.elapsed();
        match self.write((name, arguments), took, afterwards, answer) {
            Ok(answer) => Ok(answer.into_json()),
            Err(error) => {
                // A guest that goes on has the last word itself.
                if afterwards == Afterwards::CallEnds && error.code == Code::Forbidden {
                    self.denied.0.store(true, Ordering::Relaxed);
                }
                Err(CapabilityError {
                    json: error.to_json().to_string(),
                    transient: error.retryable,
                    problem: Problem {
                        code: Some(error.code.as_str().to_owned()),
                        message: error.message,
                    },
                })
            }
        }
    }
}

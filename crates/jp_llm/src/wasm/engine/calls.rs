//! Adapter: the capability calls of a guest, answered by the broker, each written down.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jp_broker::{Answer, CallError, Caller, Code};
use jp_tool::{GivenBlobs, Problem};
use jp_wasm::{Afterwards, CapabilityCalls, CapabilityError};
use serde_json::{Map, Value, value::RawValue};

use super::host_side::HostSide;
use crate::{runtime::Invocation, tool::record::CapabilityRecord};

/// Longer than any call.
const FAR: Duration = Duration::from_hours(24 * 365);

/// The capability whose arguments are meant for the log.
const LOG: &str = "log.emit";

/// The longest name that is repeated.
const MAX_NAME: usize = 80;

/// Says to the broker who calls, and until when.
pub(super) fn caller(invocation: &Invocation<'_>, given: Option<Arc<GivenBlobs>>) -> Caller {
    let now = Instant::now();
    let deadline = now.checked_add(invocation.left.time).unwrap_or(now + FAR);
    let user = &invocation.host.caller().principal;
    let grant = Arc::clone(invocation.grant());
    Caller {
        given,
        others: Arc::clone(&invocation.granted.others),
        cancel: invocation.cancel(),
        ..Caller::new(user, &invocation.tool.name, grant, deadline)
    }
}

impl HostSide {
    async fn answer(&self, name: &str, arguments: &str) -> Result<Answer, CallError> {
        let may_none = self.caller.grant.capabilities().brokered.is_none();
        let Some(broker) = self.broker.as_ref().filter(|_| !may_none) else {
            let name = jp_text::shorten(name, MAX_NAME);
            return Err(CallError::not_allowed(&name, &self.caller.tool));
        };
        let arguments: Map<String, Value> = match serde_json::from_str(arguments) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(Value::Null) => Map::new(),
            Ok(_) => {
                let message = "invalid arguments of a capability: expected a JSON object";
                return Err(CallError::new(Code::InvalidArgs, message));
            }
            Err(error) => {
                let message = format!("invalid arguments of a capability: expected JSON: {error}");
                return Err(CallError::new(Code::InvalidArgs, message));
            }
        };
        broker.call(&self.caller, name, &arguments).await
    }

    /// Writes a call down. One without a record did not happen, as far as the guest may
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
impl CapabilityCalls for HostSide {
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
                    self.denied.store(true, Ordering::Relaxed);
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

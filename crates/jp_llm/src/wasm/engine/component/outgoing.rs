//! Adapter: the HTTP requests that a component makes itself, sent by the broker's client under the
//! call's grant, each written down.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jp_audit::Log;
use jp_broker::{
    Broker, CallError, Caller, Code, Unsent,
    http::{HttpError, Patience, Request},
    not_granted,
};
use jp_tool::Outcome;
use jp_wasm::{Outgoing, OutgoingError, OutgoingRequest, OutgoingResponse, ToolKind};
use serde_json::json;

use super::super::calls::caller;
use crate::{
    ToolError,
    runtime::{Invocation, Run, Stopped},
    tool::{Cause, Stop, record::CapabilityRecord},
};

/// What a request is called in the audit log.
const NAME: &str = "wasi:http";

/// What the last request was denied for; a code is all that the guest is told.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusal(Arc<Mutex<Option<String>>>);

impl Refusal {
    fn set(&self, message: &str) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(message.to_owned());
    }

    /// Adds what was denied to what a call failed with, so that its reader learns how to grant it.
    pub(super) fn add_to(&self, run: Run) -> Run {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(denied) = last else {
            return run;
        };
        let with = |message: String| format!("{message}\n{denied}");
        let result = match run.result {
            Ok(Outcome::Error {
                message,
                trace,
                transient,
            }) => Ok(Outcome::Error {
                message: with(message),
                trace,
                transient,
            }),
            Err(Stopped::Failed(error)) => {
                Err(Stopped::Failed(error.map_cause(|cause| match cause {
                    Cause::Stopped(Stop::WasmTrap(reason)) => Stop::WasmTrap(with(reason)).into(),
                    other => other,
                })))
            }
            other => other,
        };
        let mut beside = run.beside;
        if let Some(problem) = &mut beside.problem {
            problem.message = with(std::mem::take(&mut problem.message));
        }
        Run {
            result,
            beside,
            ..run
        }
    }
}

/// Returns what makes the requests of a tool; nothing when it can make none. What is not granted is
/// refused here too, so that it is written down.
pub(super) fn of(
    invocation: &Invocation<'_>,
    kind: ToolKind,
    refusal: &Refusal,
) -> Result<Option<Arc<dyn Outgoing>>, ToolError> {
    if !kind.makes_requests() {
        return Ok(None);
    }
    let broker = match invocation.grant().capabilities().net.is_none() {
        true => None,
        false => invocation.host.broker()?,
    };
    Ok(Some(Arc::new(Requests {
        broker: broker.cloned(),
        caller: caller(invocation),
        most: usize::try_from(invocation.left.memory_bytes).unwrap_or(usize::MAX),
        audit: invocation.host.audit().cloned(),
        record: CapabilityRecord::of(invocation.pass),
        refusal: refusal.clone(),
    })))
}

/// Makes the requests of one run of a tool.
struct Requests {
    /// Nobody where no host is granted.
    broker: Option<Arc<Broker>>,
    caller: Caller,
    /// Bytes of a response's body: more than its memory the guest could not hold.
    most: usize,
    audit: Option<Arc<Log>>,
    record: CapabilityRecord,
    refusal: Refusal,
}

impl Requests {
    async fn exchange(&self, request: OutgoingRequest) -> Result<OutgoingResponse, Unsent> {
        let Some(broker) = &self.broker else {
            return Err(not_granted(&request.url, &self.caller.tool).into());
        };
        let patience = Patience {
            head: request.head_timeout,
            pause: request.pause_timeout,
        };
        let request = Request {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
            timeout: None,
            max_body: Some(self.most),
        };
        let response = broker.send(&self.caller, request, patience).await?;
        Ok(OutgoingResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }

    fn write(
        &self,
        arguments: &str,
        took: Duration,
        done: Result<(), &CallError>,
    ) -> Result<(), ToolError> {
        let Some(log) = &self.audit else {
            return Ok(());
        };
        let done = done.map(|()| None);
        let record = self
            .record
            .with(&self.caller, log, (NAME, arguments), took, done);
        CapabilityRecord::write(log, &record)
    }
}

#[async_trait]
impl Outgoing for Requests {
    async fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError> {
        let arguments = json!({"method": &request.method, "url": &request.url}).to_string();
        let mut unwritten = Unwritten {
            requests: self,
            arguments,
            started: Instant::now(),
            is_written: false,
        };
        let done = self.exchange(request).await;
        unwritten.is_written = true;
        let (arguments, took) = (&unwritten.arguments, unwritten.started.elapsed());
        let error = done.as_ref().map(drop).map_err(|unsent| &unsent.error);
        // One that nobody can account for did not happen, as far as the guest may know.
        let written = self.write(arguments, took, error);
        written.map_err(|_| OutgoingError::Host)?;
        done.map_err(|unsent| {
            if unsent.error.code == Code::Forbidden {
                self.refusal.set(&unsent.error.message);
            }
            told(&unsent)
        })
    }
}

/// A request whose end was not written down yet. A guest that does not wait for it cannot keep it out
/// of the log.
struct Unwritten<'a> {
    requests: &'a Requests,
    arguments: String,
    started: Instant,
    is_written: bool,
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if self.is_written {
            return;
        }
        let ended = CallError::new(Code::Timeout, "the call ended before the response came");
        let took = self.started.elapsed();
        // Nobody is left who could be told that this failed.
        drop(self.requests.write(&self.arguments, took, Err(&ended)));
    }
}

/// Says to a guest why it has no response.
fn told(unsent: &Unsent) -> OutgoingError {
    match &unsent.cause {
        Some(HttpError::Denied { .. }) => OutgoingError::Denied,
        Some(HttpError::Refused { .. }) => OutgoingError::Prohibited,
        Some(HttpError::Resolve { .. }) => OutgoingError::Resolve,
        Some(HttpError::Connect { .. }) => OutgoingError::Connect,
        Some(HttpError::Tls { .. }) => OutgoingError::Tls,
        Some(HttpError::Timeout { .. } | HttpError::Cancelled) => OutgoingError::Timeout,
        Some(HttpError::TooLarge { limit, .. }) => OutgoingError::TooLarge {
            limit: *limit as u64,
        },
        Some(HttpError::Invalid { .. }) => OutgoingError::Invalid,
        Some(HttpError::Other { .. }) => OutgoingError::Broken,
        None => match unsent.error.code {
            Code::Forbidden => OutgoingError::Denied,
            Code::InvalidArgs => OutgoingError::Invalid,
            // Only an unpacked body is too large without the client having said so.
            Code::OutputLimit => OutgoingError::TooLarge {
                limit: jp_broker::http::Limits::default().max_body as u64,
            },
            Code::Timeout => OutgoingError::Timeout,
            Code::Upstream => OutgoingError::Broken,
            _ => OutgoingError::Host,
        },
    }
}

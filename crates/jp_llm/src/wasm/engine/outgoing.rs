//! Adapter: the HTTP requests that a component makes itself, sent by the broker's client under the
//! call's grant, each written down.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jp_broker::{
    CallError, Code, Unsent,
    http::{HttpError, Patience, Request},
    not_granted,
};
use jp_wasm::{Outgoing, OutgoingError, OutgoingRequest, OutgoingResponse};
use serde_json::json;

use super::host_side::HostSide;
use crate::{ToolError, tool::record::CapabilityRecord};

/// What a request is called in the audit log.
const NAME: &str = "wasi:http";

impl HostSide {
    async fn exchange(&self, request: OutgoingRequest) -> Result<OutgoingResponse, Unsent> {
        let may_none = self.caller.grant.capabilities().net.is_none();
        let Some(broker) = self.broker.as_ref().filter(|_| !may_none) else {
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
            max_body: Some(self.max_body),
        };
        let response = broker.send(&self.caller, request, patience).await?;
        Ok(OutgoingResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }

    fn write_request(
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
impl Outgoing for HostSide {
    async fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError> {
        let arguments = json!({"method": &request.method, "url": &request.url}).to_string();
        let mut unwritten = Unwritten {
            host_side: self,
            arguments,
            started: Instant::now(),
            is_written: false,
        };
        let done = self.exchange(request).await;
        unwritten.is_written = true;
        let (arguments, took) = (&unwritten.arguments, unwritten.started.elapsed());
        let error = done.as_ref().map(drop).map_err(|unsent| &unsent.error);
        // One without a record did not happen, as far as the guest may know.
        let written = self.write_request(arguments, took, error);
        written.map_err(|_| OutgoingError::Host)?;
        done.map_err(|unsent| {
            if unsent.error.code == Code::Forbidden {
                let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
                *refusal = Some(unsent.error.message.clone());
            }
            told(&unsent)
        })
    }
}

/// A request whose end was not written down yet. A guest that does not wait for it cannot keep it out
/// of the log.
struct Unwritten<'a> {
    host_side: &'a HostSide,
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
        // No caller is left who could be told that this failed.
        drop(
            self.host_side
                .write_request(&self.arguments, took, Err(&ended)),
        );
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

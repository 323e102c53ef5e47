//! `http.*`: requests on a tool's behalf.
//!
//! The tool's own network grant holds for every hop. Secrets and the headers of known servers go to
//! the place they are meant for, and to no other; what comes back is decoded, capped and scrubbed.

mod answer;
mod arguments;
mod follow;
mod headers;
mod server;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{Answer, CallError, Capability, CapabilityCall, Services, Spec, web::Job};

use arguments::RequestArguments;
pub use server::{HttpServer, HttpServers, ServerError};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(HttpRequest)]
}

struct HttpRequest;

#[async_trait]
impl Capability for HttpRequest {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "http.request",
            summary: "Makes an HTTP request to a host that `net` grants; `{{secret:NAME}}` in a header's value is filled in for the secret's audience",
            arguments: "method*, server, url, endpoint, headers, query, body, json, timeout_seconds",
            result: "{status, server, http_status, headers, text, json, encoding}",
            owner: None,
            scope: None,
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: RequestArguments = call.arguments()?;
        let answer = Job::run(services, call, move |job| request(job, &arguments)).await;
        answer.map(Answer::from)
    }
}

fn request(job: &Job, arguments: &RequestArguments) -> Result<Value, CallError> {
    arguments.refuse_secrets_outside_headers()?;
    let timeout = arguments.timeout(job.services.web.limits.timeout)?;
    let chosen = job.services.http_servers.choose(arguments)?;
    let url = arguments.with_query(&chosen.url)?;
    let body = arguments.body()?;
    let followed = follow::follow(job, timeout, arguments, &chosen, url, body)?;
    answer::answer(job, chosen.name(), followed)
}

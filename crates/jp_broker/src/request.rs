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

use crate::{
    CallError, Services,
    capability::{Capability, CapabilityCall, Known, Spec},
    web::Job,
};

use answer::HttpAnswer;
use arguments::RequestArguments;
pub use server::{HttpServer, HttpServers, ServerError};

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(HttpRequest)]
}

struct HttpRequest;

impl Capability for HttpRequest {
    type Arguments = RequestArguments;
    type Reply = HttpAnswer;

    fn spec(&self) -> Spec {
        Spec::new(
            "http.request",
            "Makes an HTTP request to a host that `net` grants; `{{secret:NAME}}` in a header's value is filled in for the secret's audience",
        )
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: RequestArguments,
    ) -> Result<HttpAnswer, CallError> {
        Job::run(services, call, move |job| request(job, &arguments)).await
    }
}

fn request(job: &Job, arguments: &RequestArguments) -> Result<HttpAnswer, CallError> {
    arguments.refuse_secrets_outside_headers()?;
    let timeout = arguments.timeout(job.services.web.limits.timeout)?;
    let chosen = job.services.http_servers.choose(arguments)?;
    let url = arguments.with_query(&chosen.url)?;
    let body = arguments.body()?;
    let followed = follow::follow(job, timeout, arguments, &chosen, url, body)?;
    answer::answer(job, chosen.name(), followed)
}

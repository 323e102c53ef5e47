//! Requests that a guest makes itself, with `wasi:http`: the same client, checks and scrubbing as
//! `http.request` has, and nothing filled in.
//!
//! Only the network grant counts: no call has to be granted besides. No secret is put into such a
//! request, no redirect is followed, and what comes back is unpacked before it is scrubbed.

use jp_policy::Capability;
use serde_json::Map;

use crate::{
    Broker, CallError, Caller, Code, Scrubber,
    capability::CapabilityCall,
    http::{HttpError, Patience, Request, Response, locate},
    web::{Job, USER_AGENT},
};

/// A request that has no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Unsent {
    /// Why, in the words of a capability call; without any secret.
    pub error: CallError,
    /// Why, as the client said it, where it was the client.
    pub cause: Option<HttpError>,
}

impl From<CallError> for Unsent {
    fn from(error: CallError) -> Self {
        Self { error, cause: None }
    }
}

impl Broker {
    /// Makes a request of a guest's own.
    ///
    /// # Errors
    ///
    /// When its host is not granted, or there is no response.
    pub async fn send(
        &self,
        caller: &Caller,
        request: Request,
        patience: Patience,
    ) -> Result<Response, Unsent> {
        let name = "http.request".parse();
        let name = name.map_err(|_| CallError::internal("a name of ours is not a name"))?;
        let call = CapabilityCall {
            caller,
            name: &name,
            arguments: &Map::new(),
        };
        Job::run(self.services(), &call, move |job| {
            Ok(exchange(job, request, patience))
        })
        .await?
    }
}

/// Says that a host is not granted, to a tool that may reach none at all.
#[must_use]
pub fn not_granted(url: &str, tool: &str) -> CallError {
    match locate(url) {
        Ok(place) => {
            let problem = format!("the network grant does not cover {}", place.authority);
            let setting = Capability::Net(place.authority).setting();
            CallError::host_not_granted(&problem, &setting, tool)
        }
        Err(error) => CallError::new(Code::InvalidArgs, error.to_string()),
    }
}

fn exchange(job: &Job, mut request: Request, patience: Patience) -> Result<Response, Unsent> {
    job.check_name(&request.url)?;
    let is_agent = |(name, _): &(String, Vec<u8>)| name.eq_ignore_ascii_case("user-agent");
    if !request.headers.iter().any(is_agent) {
        let agent = ("user-agent".to_owned(), USER_AGENT.into());
        request.headers.push(agent);
    }
    let client = job.client(job.services.web.limits.timeout)?;
    let response = job.exchange(&client, request, patience);
    let response = response.map_err(|cause| Unsent {
        error: job.scrubbed(job.failed(&cause)),
        cause: Some(cause),
    })?;
    let body = job.unpack(&response)?;
    Ok(scrubbed(&job.scrubber, response, body))
}

/// Takes secrets out of a response. Headers that described the body as the server sent it are changed or removed.
fn scrubbed(scrubber: &Scrubber, mut response: Response, body: Vec<u8>) -> Response {
    let body = scrubber.scrub_bytes(&body).into_owned();
    if body != response.body {
        let described = ["content-encoding", "content-length"];
        response
            .headers
            .retain(|(name, _)| !described.contains(&name.to_ascii_lowercase().as_str()));
        let length = body.len().to_string().into_bytes();
        response.headers.push(("content-length".to_owned(), length));
        response.body = body;
    }
    for (_, value) in &mut response.headers {
        *value = scrubber.scrub_bytes(value).into_owned();
    }
    response
}

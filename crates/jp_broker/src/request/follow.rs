//! Redirects: each hop is a request of its own, checked like the first.

use std::time::{Duration, Instant};

use super::{
    arguments::{Body, RequestArguments},
    headers::Headers,
    server::Chosen,
};
use crate::{
    CallError, Code,
    http::{Request, Response, locate, redirect_target},
    web::Job,
};

/// More redirects are an error.
const MAX_REDIRECTS: usize = 5;

/// What came back in the end.
pub(super) struct Followed {
    pub(super) response: Response,
    /// Where from, if that is not where the request went.
    pub(super) redirected_to: Option<String>,
}

/// A request on its way.
struct Hop {
    method: String,
    url: String,
    headers: Headers,
    body: Vec<u8>,
}

/// Makes the request, and those that redirects ask for, all in the time of one.
pub(super) fn follow(
    job: &Job,
    timeout: Duration,
    arguments: &RequestArguments,
    chosen: &Chosen<'_>,
    url: String,
    body: Body,
) -> Result<Followed, CallError> {
    let place = locate(&url).map_err(|error| CallError::invalid("url", &error.to_string()))?;
    let mut headers = Headers::assemble(job, arguments, chosen.server, &place)?;
    if body.is_json && !headers.has("content-type") {
        headers.push("Content-Type", "application/json");
    }
    let mut hop = Hop {
        method: arguments.method.to_ascii_uppercase(),
        url,
        headers,
        body: body.bytes,
    };
    let (client, start) = (job.client(timeout)?, Instant::now());
    for followed in 0..=MAX_REDIRECTS {
        let response = job.send(
            &client,
            Request {
                method: hop.method.clone(),
                url: hop.url.clone(),
                headers: hop.headers.list(),
                body: hop.body.clone(),
                timeout: Some(timeout.saturating_sub(start.elapsed())),
                max_body: None,
            },
        )?;
        let Some(location) = redirect(&response) else {
            return Ok(Followed {
                response,
                redirected_to: (followed > 0).then_some(hop.url),
            });
        };
        hop = hop.next(response.status, location)?;
    }
    let message = format!("the server redirected more than {MAX_REDIRECTS} times");
    Err(CallError::new(Code::Upstream, message))
}

/// Returns where a response sends its reader.
fn redirect(response: &Response) -> Option<&[u8]> {
    match response.status {
        301 | 302 | 303 | 307 | 308 => response.header("location"),
        _ => None,
    }
}

impl Hop {
    fn next(mut self, status: u16, location: &[u8]) -> Result<Self, CallError> {
        let refused = |reason: &str| {
            let message = format!("cannot follow the redirect of the server: {reason}");
            CallError::new(Code::Upstream, message)
        };
        let broken = |error: crate::http::HttpError| refused(&error.to_string());
        let url = redirect_target(&self.url, location).map_err(broken)?;
        let (from, to) = (
            locate(&self.url).map_err(broken)?,
            locate(&url).map_err(broken)?,
        );
        if from.scheme == "https" && to.scheme == "http" {
            return Err(refused("from a secure connection to an open one"));
        }
        self.headers.follow(&from, &to);
        let becomes_get = match status {
            303 => self.method != "HEAD",
            301 | 302 => self.method == "POST",
            _ => false,
        };
        if becomes_get {
            self.method = "GET".to_owned();
            self.body.clear();
            self.headers.drop_body();
        }
        self.url = url;
        Ok(self)
    }
}

//! A request on its way: checked, sent over a kept connection or a new one, and its body read.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use super::{
    Client, HttpError, Response,
    line::{self, Fate, Line},
    message::Prepared,
    pool::{Pool, Repeatable},
    target::Target,
};

impl Client {
    /// Checks where a request goes, sends it, and waits for the head of its response.
    pub(super) async fn open(
        &self,
        request: &Prepared,
        target: &Target,
    ) -> Result<(Response, Body), HttpError> {
        let gate = &self.gate;
        // For every request, also where a connection is kept: what a name means may have changed.
        let addresses = gate.admit(target).await?;
        let repeatable = request.repeatable();
        let kept = gate.pool.take(target, &addresses, repeatable).await;
        if let Some(mut line) = kept {
            match line.send(request, target).await {
                Ok(answer) => return Ok(self.body(target, line, answer)),
                Err(unanswered) => match (unanswered.fate, repeatable) {
                    // A kept connection may have been closed in the meantime.
                    (Fate::Unsent, _) | (Fate::HungUp, Repeatable::Yes) => {}
                    _ => return Err(unanswered.error),
                },
            }
        }
        let mut line = Line::open(target.clone(), addresses, Arc::clone(gate)).await?;
        match line.send(request, target).await {
            Ok(answer) => Ok(self.body(target, line, answer)),
            Err(unanswered) => Err(unanswered.error),
        }
    }

    fn body(
        &self,
        target: &Target,
        line: Line,
        (head, incoming): (Response, Incoming),
    ) -> (Response, Body) {
        // The next request need not wait for this one.
        if let Some(shared) = line.share() {
            self.gate.pool.keep(target, shared);
        }
        let body = Body {
            incoming,
            target: target.clone(),
            pool: Arc::clone(&self.gate.pool),
            line: Some(line),
        };
        (head, body)
    }
}

/// The body of a response. Its connection is kept once it was read to its end, and closed when it is
/// dropped before.
pub(super) struct Body {
    incoming: Incoming,
    target: Target,
    pool: Arc<Pool>,
    line: Option<Line>,
}

impl Body {
    /// Returns the least that is still to come, as far as the server says.
    pub(super) fn announced(&self) -> u64 {
        self.incoming.size_hint().lower()
    }

    /// Returns the next bytes, or nothing at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            match self.incoming.frame().await {
                // Trailers are dropped: headers that come after the body were not checked when it was read.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Ok(Some(data)),
                    _ => {}
                },
                Some(Err(error)) => return Err(line::http_error(&error, &self.target)),
                None => {
                    if let Some(line) = self.line.take() {
                        self.pool.keep(&self.target, line);
                    }
                    return Ok(None);
                }
            }
        }
    }
}

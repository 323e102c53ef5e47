//! The stream of events that answers one request: read as it arrives, and over with the answer. One that
//! breaks off before is asked for again from where it was, if the server said where that is.
//!
//! A stream that belongs to no request is read in the same way, for as long as its connection lasts.
//!
//! A task of its own reads it, so that hanging up closes the connection whether or not anybody is
//! listening at that moment.

use std::time::Duration;

use futures::{StreamExt, stream::BoxStream};
use rmcp::{
    model::{JsonRpcMessage, RequestId},
    transport::streamable_http_client::SseError,
};
use sse_stream::Sse;
use tokio::sync::mpsc;

use crate::{
    HttpBody, HttpFailure, HttpFailureKind, Limits,
    message::{self, Heard},
    pace::Pace,
    sse::{Event, Parser},
    streamable::Resume,
    underway::{Open, Unanswered},
};

/// Events that wait to be looked at; a server that sends more is not read meanwhile.
const MAX_WAITING: usize = 16;

/// How often the rest of a stream is asked for while nothing new comes.
const MAX_RESUMES: u32 = 5;

/// How long to wait before the rest is asked for, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest a server may have its client wait for the rest; one that wants more has none.
const MAX_RETRY: Duration = Duration::from_secs(30);

/// The longest wait before a stream that belongs to no request is asked for again.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The messages of a stream.
pub(crate) type Messages = BoxStream<'static, Result<Sse, SseError>>;

/// Starts to read a body. What is returned ends with the answer, or when there will be none.
pub(crate) fn listen(
    body: Box<dyn HttpBody>,
    open: Open,
    limits: Limits,
    resume: Option<Resume>,
) -> Messages {
    let (to, from) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let mut reader = Reader::new(Some(open.id.clone()), limits, to.clone());
        let ended = tokio::select! {
            biased;
            () = open.hung_up.cancelled() => Ok(()),
            () = to.closed() => Ok(()),
            ended = reader.read_to_the_answer(body, resume) => ended,
        };
        // Before the end of the stream is seen: its reader asks why it ended.
        if let Err(why) = ended {
            open.fail(why);
        }
    });
    messages(from)
}

/// Starts to read a stream that belongs to no request. What is returned ends with its reader, or when the
/// server has no such stream any more.
pub(crate) fn overhear(body: Box<dyn HttpBody>, limits: Limits, resume: Resume) -> Messages {
    let (to, from) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let mut reader = Reader::new(None, limits, to.clone());
        tokio::select! {
            biased;
            () = to.closed() => {}
            () = reader.read_on(body, &resume) => {}
        }
    });
    messages(from)
}

fn messages(from: mpsc::Receiver<Sse>) -> Messages {
    let next = |mut from: mpsc::Receiver<Sse>| async {
        let event = from.recv().await?;
        Some((Ok(event), from))
    };
    futures::stream::unfold(from, next).boxed()
}

/// How the reading of a body ended.
enum End {
    /// With the answer, or because nobody listens.
    Over,
    /// Without.
    Early(Unanswered),
}

/// Reads one stream, which may come in several bodies.
struct Reader {
    /// The request it answers, if it belongs to one.
    id: Option<RequestId>,
    limits: Limits,
    to: mpsc::Sender<Sse>,
    parser: Parser,
    pace: Pace,
    bytes: usize,
    strays: usize,
    /// Whether anything came since the stream was asked for last.
    has_heard: bool,
}

impl Reader {
    fn new(id: Option<RequestId>, limits: Limits, to: mpsc::Sender<Sse>) -> Self {
        Self {
            id,
            limits,
            to,
            parser: Parser::new(limits.message_bytes),
            pace: Pace::new(limits.messages_per_second),
            bytes: 0,
            strays: 0,
            has_heard: false,
        }
    }

    /// Reads up to the answer, in as many bodies as it takes.
    async fn read_to_the_answer(
        &mut self,
        body: Box<dyn HttpBody>,
        resume: Option<Resume>,
    ) -> Result<(), Unanswered> {
        let End::Early(mut why) = self.read(body).await? else {
            return Ok(());
        };
        let Some(resume) = resume else {
            return Err(why);
        };
        let mut resumes = 0;
        while let Some(last) = self.parser.last_id().map(str::to_owned)
            && resumes < MAX_RESUMES
        {
            let wanted = self.parser.retry().unwrap_or(RETRY);
            if wanted > MAX_RETRY {
                break;
            }
            resumes = if self.has_heard { 1 } else { resumes + 1 };
            tokio::time::sleep(wanted).await;
            self.begin_again();
            match resume.after(Some(&last)).await {
                Ok(Some(body)) => match self.read(body).await? {
                    End::Over => return Ok(()),
                    End::Early(again) => why = again,
                },
                // The server does not keep what it sent.
                Ok(None) => break,
                Err(failure) => why = Unanswered::Failed(failure),
            }
        }
        Err(why)
    }

    /// Reads a stream of its own again and again, more slowly while nothing comes.
    async fn read_on(&mut self, mut body: Box<dyn HttpBody>, resume: &Resume) {
        let mut pause = RETRY;
        loop {
            // What it says too much is lost with it: nobody waits for an answer.
            if matches!(self.read(body).await, Ok(End::Over)) {
                return;
            }
            if self.has_heard {
                pause = RETRY;
            }
            body = loop {
                let wanted = self.parser.retry().unwrap_or_default();
                tokio::time::sleep(pause.max(wanted.min(MAX_PAUSE))).await;
                pause = pause.saturating_mul(2).min(MAX_PAUSE);
                let last = self.parser.last_id().map(str::to_owned);
                match resume.after(last.as_deref()).await {
                    Ok(Some(body)) => break body,
                    Ok(None) => return,
                    Err(_) => {}
                }
            };
            (self.bytes, self.strays) = (0, 0);
            self.begin_again();
        }
    }

    fn begin_again(&mut self) {
        self.parser.begin_again();
        self.has_heard = false;
    }

    /// Reads a body. What is over for good is an error.
    async fn read(&mut self, mut body: Box<dyn HttpBody>) -> Result<End, Unanswered> {
        while let Some(piece) = body.next().await {
            let piece = match piece {
                Ok(piece) => piece,
                Err(failure) => return self.broken(failure),
            };
            self.bytes = self.bytes.saturating_add(piece.len());
            if self.bytes > self.limits.stream_bytes {
                return Err(too_long(self.limits));
            }
            let mut rest = piece.as_slice();
            loop {
                let limit = self.limits.message_bytes;
                let event = self.parser.next(&mut rest);
                let event = event.map_err(|_| Unanswered::EventTooLong { limit })?;
                let Some(event) = event else {
                    break;
                };
                self.has_heard = true;
                if self.pass_on(event).await? {
                    return Ok(End::Over);
                }
            }
        }
        Ok(End::Early(Unanswered::Ended))
    }

    /// Tells what a failure of the body means: a connection that broke may be made again.
    fn broken(&self, failure: HttpFailure) -> Result<End, Unanswered> {
        match failure.kind {
            HttpFailureKind::TooLarge => Err(too_long(self.limits)),
            HttpFailureKind::Failed => Ok(End::Early(Unanswered::Failed(failure))),
            _ => Err(Unanswered::Failed(failure)),
        }
    }

    /// Passes an event on, if it is a message; returns whether that was all.
    async fn pass_on(&mut self, event: Event) -> Result<bool, Unanswered> {
        self.pace.wait().await;
        let (text, is_answer) = match judge(event, self.id.as_ref()) {
            Judged::Aside => return Ok(false),
            Judged::Stray if self.strays >= self.limits.stray_lines => {
                let limit = self.limits.stray_lines;
                return Err(Unanswered::Noise { limit });
            }
            Judged::Stray => {
                self.strays += 1;
                return Ok(false);
            }
            Judged::Message(text) => (text, false),
            Judged::Answer(text) => (text, true),
        };
        // Without its id: what is between takes up no stream by itself.
        Ok(self.to.send(Sse::default().data(text)).await.is_err() || is_answer)
    }
}

fn too_long(limits: Limits) -> Unanswered {
    Unanswered::StreamTooLong {
        limit: limits.stream_bytes,
    }
}

/// What an event is to a request.
#[derive(Debug, PartialEq, Eq)]
enum Judged {
    /// The answer, as JSON.
    Answer(String),
    /// A notification or a request, as JSON.
    Message(String),
    /// Nothing that messages are sent with, such as a sign of life.
    Aside,
    /// No message, or an answer to something else.
    Stray,
}

fn judge(event: Event, id: Option<&RequestId>) -> Judged {
    let is_message = matches!(event.kind.as_slice(), b"" | b"message");
    if !is_message || event.data.trim_ascii().is_empty() {
        return Judged::Aside;
    }
    // A message that had to be repaired is written again; all others are passed on as they are.
    let (message, is_mended) = match message::hear(&event.data) {
        Heard::Message(message) => (message, false),
        Heard::Repaired(message) => (message, true),
        // On this stream it can only be about this request.
        Heard::Broken(why) => match id {
            Some(id) => (message::unreadable(why, id.clone()), true),
            None => return Judged::Stray,
        },
        Heard::Stray => return Judged::Stray,
    };
    // Some servers write the number they were sent as a text.
    let is_ours = |theirs: &RequestId| id.is_some_and(|id| theirs.to_string() == id.to_string());
    let (message, is_mended, is_answer) = match message {
        JsonRpcMessage::Response(answer) if !is_ours(&answer.id) => return Judged::Stray,
        JsonRpcMessage::Error(error) => match &error.id {
            Some(theirs) if !is_ours(theirs) => return Judged::Stray,
            Some(_) => (JsonRpcMessage::Error(error), is_mended, true),
            // On this stream it can only be about this request.
            None => match id {
                Some(id) => (
                    JsonRpcMessage::error(error.error, Some(id.clone())),
                    true,
                    true,
                ),
                None => return Judged::Stray,
            },
        },
        message @ JsonRpcMessage::Response(_) => (message, is_mended, true),
        message => (message, is_mended, false),
    };
    let text = if is_mended {
        serde_json::to_string(&message).ok()
    } else {
        String::from_utf8(event.data).ok()
    };
    match text {
        Some(text) if is_answer => Judged::Answer(text),
        Some(text) => Judged::Message(text),
        None => Judged::Stray,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn judged(kind: &str, data: &str) -> Judged {
        let event = Event {
            kind: kind.as_bytes().to_vec(),
            data: data.as_bytes().to_vec(),
        };
        judge(event, Some(&RequestId::Number(7)))
    }

    #[test]
    fn only_the_answer_to_the_request_ends_the_stream() {
        let say = |value: Value| judged("", &value.to_string());
        let of = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
        for id in [json!(7), json!("7")] {
            assert!(matches!(say(of(id)), Judged::Answer(_)));
        }
        for id in [json!(8), json!("x"), json!(null)] {
            assert_eq!(say(of(id.clone())), Judged::Stray, "{id}");
        }
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 1, "progress": 1}});
        assert_eq!(say(progress.clone()), Judged::Message(progress.to_string()));
        let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
        assert_eq!(say(ping.clone()), Judged::Message(ping.to_string()));
        for (kind, data) in [("ping", "{}"), ("", ""), ("message", " \n")] {
            assert_eq!(judged(kind, data), Judged::Aside);
        }
        for data in ["hello", "{", "{}", "[]", "null", "\u{0}"] {
            assert_eq!(judged("", data), Judged::Stray, "{data}");
        }
    }

    #[test]
    fn what_was_meant_for_the_request_answers_it() {
        let whole = |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32700, "message": "no"}});
        let Judged::Answer(text) = judged("message", &whole(json!(null)).to_string()) else {
            panic!("an error without an id");
        };
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            whole(json!(7))
        );
        let Judged::Answer(text) = judged("", r#"{"id":7,"result":{"content":7}}"#) else {
            panic!("an answer that is none");
        };
        assert!(text.contains("expected a JSON-RPC 2.0 message"), "{text}");
    }

    #[test]
    fn a_stream_of_its_own_has_no_answers() {
        let judged = |value: Value| {
            let data = value.to_string().into_bytes();
            judge(
                Event {
                    kind: Vec::new(),
                    data,
                },
                None,
            )
        };
        for stray in [
            json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}),
            json!({"jsonrpc": "2.0", "id": 7, "result": 7}),
        ] {
            assert_eq!(judged(stray.clone()), Judged::Stray, "{stray}");
        }
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        assert_eq!(
            judged(changed.clone()),
            Judged::Message(changed.to_string())
        );
    }
}

//! The stream of events that answers one request: read as it arrives, and over with the answer.
//!
//! A task of its own reads it, so that hanging up closes the connection whether or not anybody is
//! listening at that moment.

use futures::{StreamExt, stream::BoxStream};
use rmcp::{
    model::{JsonRpcMessage, RequestId},
    transport::streamable_http_client::SseError,
};
use sse_stream::Sse;
use tokio::sync::mpsc;

use crate::{
    HttpBody, HttpFailureKind, Limits,
    message::{self, Heard},
    pace::Pace,
    sse::{Event, Parser},
    underway::{Open, Unanswered},
};

/// Events that wait to be looked at; a server that sends more is not read meanwhile.
const MAX_WAITING: usize = 16;

/// The messages of a stream.
pub(crate) type Messages = BoxStream<'static, Result<Sse, SseError>>;

/// Starts to read a body. What is returned ends with the answer, or when there will be none.
pub(crate) fn listen(body: Box<dyn HttpBody>, open: Open, limits: Limits) -> Messages {
    let (to, from) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let ended = tokio::select! {
            biased;
            () = open.hung_up.cancelled() => Ok(()),
            () = to.closed() => Ok(()),
            ended = read(body, &open.id, limits, &to) => ended,
        };
        // Before the end of the stream is seen: its reader asks why it ended.
        if let Err(why) = ended {
            open.fail(why);
        }
    });
    let next = |mut from: mpsc::Receiver<Sse>| async {
        let event = from.recv().await?;
        Some((Ok(event), from))
    };
    futures::stream::unfold(from, next).boxed()
}

/// Reads up to the answer.
async fn read(
    mut body: Box<dyn HttpBody>,
    id: &RequestId,
    limits: Limits,
    to: &mpsc::Sender<Sse>,
) -> Result<(), Unanswered> {
    let mut parser = Parser::new(limits.message_bytes);
    let mut pace = Pace::new(limits.messages_per_second);
    let (mut bytes, mut strays) = (0_usize, 0_usize);
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|failure| match failure.kind {
            HttpFailureKind::TooLarge => too_long(limits),
            _ => Unanswered::Failed(failure),
        })?;
        bytes = bytes.saturating_add(piece.len());
        if bytes > limits.stream_bytes {
            return Err(too_long(limits));
        }
        let mut rest = piece.as_slice();
        loop {
            let limit = limits.message_bytes;
            let event = parser.next(&mut rest);
            let event = event.map_err(|_| Unanswered::EventTooLong { limit })?;
            let Some(event) = event else {
                break;
            };
            pace.wait().await;
            let (text, is_answer) = match judge(event, id) {
                Judged::Aside => continue,
                Judged::Stray if strays >= limits.stray_lines => {
                    let limit = limits.stray_lines;
                    return Err(Unanswered::Noise { limit });
                }
                Judged::Stray => {
                    strays += 1;
                    continue;
                }
                Judged::Message(text) => (text, false),
                Judged::Answer(text) => (text, true),
            };
            // Without its id, the stream does not look resumable.
            if to.send(Sse::default().data(text)).await.is_err() || is_answer {
                return Ok(());
            }
        }
    }
    Err(Unanswered::Ended)
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

fn judge(event: Event, id: &RequestId) -> Judged {
    let is_message = matches!(event.kind.as_slice(), b"" | b"message");
    if !is_message || event.data.trim_ascii().is_empty() {
        return Judged::Aside;
    }
    // A message that had to be repaired is written again; all others are passed on as they are.
    let (message, is_mended) = match message::hear(&event.data) {
        Heard::Message(message) => (message, false),
        Heard::Repaired(message) => (message, true),
        // On this stream it can only be about this request.
        Heard::Broken(why) => (message::unreadable(why, id.clone()), true),
        Heard::Stray => return Judged::Stray,
    };
    // Some servers write the number they were sent as a text.
    let is_ours = |theirs: &RequestId| theirs.to_string() == id.to_string();
    let (message, is_mended, is_answer) = match message {
        JsonRpcMessage::Response(answer) if !is_ours(&answer.id) => return Judged::Stray,
        JsonRpcMessage::Error(error) => match &error.id {
            Some(theirs) if !is_ours(theirs) => return Judged::Stray,
            Some(_) => (JsonRpcMessage::Error(error), is_mended, true),
            // On this stream it can only be about this request.
            None => {
                let error = JsonRpcMessage::error(error.error, Some(id.clone()));
                (error, true, true)
            }
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
        judge(event, &RequestId::Number(7))
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
}

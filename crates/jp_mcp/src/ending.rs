//! What the end of a connection or of a request is called.

use rmcp::service::ClientInitializeError;

use crate::{
    HttpFailure, HttpFailureKind, McpError, Said, answered::line, message::UNREADABLE,
    stdio::Ended, tail::Tail, underway::Unanswered,
};

/// The longest reason of a failure that is passed on.
pub(crate) const MAX_REASON: usize = 500;

/// Names a request to a URL that had no response; `limit` is the most bytes a message may have.
pub(crate) fn of_url(server: String, failure: HttpFailure, limit: usize) -> McpError {
    if failure.kind == HttpFailureKind::TooLarge {
        let what = "a message";
        return McpError::TooLarge {
            server,
            what,
            limit,
        };
    }
    if failure.kind == HttpFailureKind::NoMessage {
        let reason = failure.message;
        return McpError::Protocol { server, reason };
    }
    McpError::Http {
        server,
        source: failure,
    }
}

/// Names a request that had no answer.
pub(crate) fn of_stream(server: String, why: Unanswered) -> McpError {
    let died = |server, reason: String| McpError::Died {
        server,
        reason,
        said: Said::default(),
    };
    let (what, limit) = match why {
        Unanswered::NoStream { failure, limit } => return of_url(server, failure, limit),
        Unanswered::Ended => {
            let reason = "its stream of events closed without an answer";
            return died(server, reason.to_owned());
        }
        Unanswered::Failed(failure) if failure.kind == HttpFailureKind::Failed => {
            return died(server, failure.message);
        }
        Unanswered::Failed(source) => return McpError::Http { server, source },
        Unanswered::Noise { limit } => {
            return McpError::Protocol {
                server,
                reason: format!(
                    "its stream has more than {limit} events that are not messages for this request"
                ),
            };
        }
        Unanswered::EventTooLong { limit } => ("a message", limit),
        Unanswered::StreamTooLong { limit } => ("a stream of events", limit),
    };
    McpError::TooLarge {
        server,
        what,
        limit,
    }
}

/// Names the end of a program's streams that was brought about from this side.
pub(crate) fn of_fate(server: &str, ended: &Ended, tail: &Tail) -> McpError {
    let server = server.to_owned();
    match ended {
        Ended::MessageTooLong { limit } => McpError::TooLarge {
            server,
            what: "a message",
            limit: *limit,
        },
        Ended::Unreadable(why) => McpError::Protocol {
            server,
            reason: why.to_string(),
        },
        Ended::Noise { limit } => McpError::Died {
            server,
            reason: format!(
                "it was stopped because it wrote more than {limit} lines (or 1 MiB) to its standard \
                 output that are not messages"
            ),
            said: tail.said(),
        },
    }
}

/// Says why a greeting came to nothing, if the server said anything to it. The words of the library that
/// sends it name its types, and repeat what the server sent.
pub(crate) fn of_greeting(error: &ClientInitializeError) -> Option<String> {
    let text = match error {
        ClientInitializeError::JsonRpcError(error) => {
            let message = line(&error.message, MAX_REASON);
            if error.code == UNREADABLE {
                return Some(message);
            }
            let code = error.code.0;
            return Some(format!("it rejected `initialize`: {message} ({code})"));
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it sent an unexpected response to `initialize`"
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it supports none of the protocol versions that jp supports"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

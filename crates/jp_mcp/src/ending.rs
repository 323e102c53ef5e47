//! What the end of a connection or of a request is called.

use crate::{
    HttpFailure, HttpFailureKind, McpError, Said, stdio::Ended, tail::Tail, underway::Unanswered,
};

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
    McpError::Http {
        server,
        source: failure,
    }
}

/// Names a stream of events that had no answer.
pub(crate) fn of_stream(server: String, why: Unanswered) -> McpError {
    let died = |server, reason: String| McpError::Died {
        server,
        reason,
        said: Said::default(),
    };
    let (what, limit) = match why {
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
                    "its stream has more than {limit} events that are no messages for this request"
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
        Ended::Noise { limit } => McpError::Died {
            server,
            reason: format!(
                "it was stopped because it wrote more than {limit} lines (or 1 MiB) to its standard \
                 output that are no messages"
            ),
            said: tail.said(),
        },
    }
}

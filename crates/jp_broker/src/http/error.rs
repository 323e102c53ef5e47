//! Why a request has no response. Does not know who asked.

use std::time::Duration;

/// Why a request has no response. A status of 400 and more is a response, not an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The grant does not cover the host, or not the private address it resolves to.
    #[error("the network grant does not cover {host}")]
    Denied {
        /// The host and port, and for a private address how it came up.
        host: String,
        /// The line of configuration that would grant it.
        setting: String,
    },
    /// The host has an address that no setting opens.
    #[error("{host} cannot be reached: {reason}")]
    Refused {
        /// The host and port.
        host: String,
        /// What is wrong with the address.
        reason: String,
    },
    /// The name has no address.
    #[error("cannot resolve {host}: {reason}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// No address of the host took the connection.
    #[error("cannot connect to {host}: {reason}")]
    Connect {
        /// The host and port.
        host: String,
        /// What the system said of the last address tried.
        reason: String,
    },
    /// The two sides agreed on no secure connection, or the server could not prove its name.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host and port.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// The response was not complete in time.
    #[error("no complete response within {} ms", limit.as_millis())]
    Timeout {
        /// The time the request had.
        limit: Duration,
    },
    /// The response was larger than it may be.
    #[error("the response's {part} exceeds {limit}")]
    TooLarge {
        /// What was too large: `body`, `header bytes`, `header count` or `trailer bytes`.
        part: &'static str,
        /// The most it may be.
        limit: usize,
    },
    /// The request itself is wrong; asking again is of no use.
    #[error("invalid request: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// The caller's `stop` returned true.
    #[error("the request was cancelled")]
    Cancelled,
    /// The connection broke, or what came back is not HTTP.
    #[error("the exchange with {host} failed: {reason}")]
    Other {
        /// The host and port.
        host: String,
        /// What went wrong.
        reason: String,
    },
}

impl HttpError {
    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid {
            reason: reason.into(),
        }
    }
}

/// Makes a text of strangers safe to show: escaped, and short.
pub(super) fn shown(text: &str) -> String {
    jp_text::start(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_say_cannot_colour_a_terminal_or_fill_it() {
        assert_eq!(shown("\u{1b}[31mred\r\n"), "\\u{1b}[31mred\\r\\n");
        assert_eq!(shown(&"x".repeat(5000)).chars().count(), 200);
    }
}

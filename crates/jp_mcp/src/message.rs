//! What a server says, as messages of JSON-RPC. Does not know how they came.
//!
//! The bytes are bounded before anything is made of them, and an answer that cannot be read becomes an
//! error, so that its caller does not wait in vain.

use jp_text::JsonBound;
use rmcp::{
    RoleClient,
    model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};

use crate::glance::Glance;

/// A message of a server.
pub(crate) type Incoming = RxJsonRpcMessage<RoleClient>;

/// The code of an error that stands for an unreadable answer. No server uses it.
pub(crate) const UNREADABLE: ErrorCode = ErrorCode(i32::MIN);

/// Why a text is not a message. The reader's own words would repeat those of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// More would be made of it than may be.
    #[error("response rejected: {0}")]
    Beyond(JsonBound),
    /// It is not JSON.
    #[error("the server answered invalid JSON (line {line}, column {column})")]
    Invalid {
        /// From 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
    /// It is JSON, and says something else.
    #[error("invalid answer: expected a JSON-RPC 2.0 message")]
    Else,
}

/// What a text is that may be a message.
pub(crate) enum Heard {
    /// A message, as it was sent.
    Message(Incoming),
    /// An answer that cannot be read, as an error that names its request.
    Repaired(Incoming),
    /// An answer that cannot be read, and does not say to what.
    Broken(Unreadable),
    /// Something else.
    Stray,
}

/// Reads a message.
pub(crate) fn read(text: &[u8]) -> Result<Incoming, Unreadable> {
    jp_text::check_json(text).map_err(Unreadable::Beyond)?;
    serde_json::from_slice(text).map_err(|error| match error.is_data() {
        true => Unreadable::Else,
        false => Unreadable::Invalid {
            line: error.line(),
            column: error.column(),
        },
    })
}

/// Reads what may be a message.
pub(crate) fn hear(text: &[u8]) -> Heard {
    let why = match read(text) {
        Ok(message) => return Heard::Message(message),
        Err(why) => why,
    };
    let glance = Glance::at(text);
    match (glance.is_answer(), glance.id, why) {
        (true, Some(id), _) => Heard::Repaired(unreadable(why, id)),
        (true, None, Unreadable::Invalid { .. }) if glance.has_version => Heard::Broken(why),
        // Programs greet in words, and none of that size.
        (_, _, Unreadable::Beyond(_)) if !glance.has_method => Heard::Broken(why),
        _ => Heard::Stray,
    }
}

/// Makes the error that stands for an unreadable answer.
pub(crate) fn unreadable(why: Unreadable, id: RequestId) -> Incoming {
    let error = ErrorData::new(UNREADABLE, why.to_string(), None);
    JsonRpcMessage::error(error, Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> Option<(RequestId, String)> {
        match hear(text.as_bytes()) {
            Heard::Repaired(JsonRpcMessage::Error(error)) => {
                assert_eq!(error.error.code, UNREADABLE);
                Some((error.id?, error.error.message.into_owned()))
            }
            _ => None,
        }
    }

    #[test]
    fn an_answer_nobody_can_read_becomes_an_error_of_its_request() {
        let objects = format!("[{}]", vec!["{}"; 300_000].join(","));
        let deep = "[".repeat(100_000);
        for (result, words) in [
            (
                r#"{"content":[{"type":"text","text":"\ud800"}]}"#,
                "invalid JSON (line 1, column",
            ),
            ("1e999", "invalid JSON (line 1, column"),
            (
                deep.as_str(),
                "response rejected: JSON nested deeper than 127 levels",
            ),
            (
                objects.as_str(),
                "response rejected: more than 250000 JSON values",
            ),
            ("7", "expected a JSON-RPC 2.0 message"),
        ] {
            let text = match words.starts_with("expected") {
                true => format!(r#"{{"id":7,"result":{result}}}"#),
                false => format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
            };
            let (id, said) = repaired(&text).unwrap_or_else(|| panic!("{words}"));
            assert_eq!(id, RequestId::Number(7));
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_does_not_say_which_request_it_answers_breaks_the_connection() {
        for text in [
            r#"{"jsonrpc":"2.0","result":1e999}"#,
            r#"{"jsonrpc":"2.0","id":[],"error":1e999}"#,
            &"[".repeat(100_000),
        ] {
            assert!(
                matches!(hear(text.as_bytes()), Heard::Broken(_)),
                "{text:.40}"
            );
        }
    }

    #[test]
    fn greetings_and_requests_that_cannot_be_read_are_passed_over() {
        let objects = format!("[{}]", vec!["{}"; 300_000].join(","));
        let large = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{objects}}}"#);
        for text in [
            "hello",
            "{ port: 3000 }",
            r#"{"error": "cannot find \ud800"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":1e999,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            large.as_str(),
        ] {
            assert!(matches!(hear(text.as_bytes()), Heard::Stray), "{text:.40}");
        }
    }
}

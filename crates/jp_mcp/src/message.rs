//! What a server says, as messages of JSON-RPC. Does not know how they came.

use rmcp::{
    RoleClient,
    model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId},
    service::RxJsonRpcMessage,
};
use serde_json::Value;

/// A message of a server.
pub(crate) type Incoming = RxJsonRpcMessage<RoleClient>;

/// What an answer that is none is turned into.
pub(crate) const NO_ANSWER: &str = "the answer is not one of JSON-RPC 2.0";

/// Reads a message. An answer that is none becomes an error, so that nobody waits for it in vain.
pub(crate) fn parse(text: &[u8]) -> Option<Incoming> {
    if let Ok(message) = serde_json::from_slice(text) {
        return Some(message);
    }
    let value: Value = serde_json::from_slice(text).ok()?;
    let answers = value.get("result").is_some() || value.get("error").is_some();
    let id: RequestId = serde_json::from_value(value.get("id")?.clone()).ok()?;
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, NO_ANSWER, None);
    answers.then(|| JsonRpcMessage::error(error, Some(id)))
}

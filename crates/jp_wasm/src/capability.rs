//! How a guest reaches what the host does on its behalf. Does not know what that is: names and JSON
//! go out, JSON comes back.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

/// Capability calls of one call, over all its steps.
pub(crate) const MAX_CALLS: usize = 64;

/// Characters of a name that are repeated in a message.
const MAX_NAME: usize = 200;

/// Answers the capability calls of one guest call.
#[async_trait]
pub trait CapabilityCalls: Send + Sync {
    /// Answers one call. `arguments` is JSON as the guest wrote it, checked for nothing but its size;
    /// the answer is JSON too: a result or an error, both in the broker's shape.
    async fn call(&self, name: &str, arguments: &str) -> String;
}

/// Has a capability call answered, or refuses it when nobody is there to answer.
pub(crate) async fn answer(
    calls: Option<&Arc<dyn CapabilityCalls>>,
    tool: &str,
    name: &str,
    arguments: &str,
) -> String {
    if let Some(calls) = calls {
        return calls.call(name, arguments).await;
    }
    let name: String = name.chars().take(MAX_NAME).collect();
    let message = format!("Capability '{name}' is not allowed for tool '{tool}'");
    error("forbidden", &message)
}

/// Writes an error in the broker's shape.
pub(crate) fn error(code: &str, message: &str) -> String {
    json!({"status": "error", "code": code, "error": message, "retryable": false}).to_string()
}

/// Takes an answer apart: the result alone, or the error as it is.
pub(crate) fn result_of(answer: String) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        status: &'a str,
        #[serde(borrow, default)]
        capability_result: Option<Named<'a>>,
    }

    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }

    let Ok(read) = serde_json::from_str::<Answer<'_>>(&answer) else {
        return Err(error(
            "internal",
            "the capability was answered with something that is no answer",
        ));
    };
    match read {
        Answer {
            status: "error", ..
        } => Err(answer),
        Answer {
            capability_result: Some(Named { result }),
            ..
        } => Ok(result.get().to_owned()),
        Answer { .. } => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_result_or_an_error() {
        let ok = r#"{"status":"ok","abi_version":1,"capability_result":{"name":"x","result":{"unix": 1}}}"#;
        assert_eq!(result_of(ok.to_owned()), Ok(r#"{"unix": 1}"#.to_owned()));
        let no = error("forbidden", "no");
        assert_eq!(result_of(no.clone()), Err(no));
        for broken in ["", "[]", "no JSON", r#"{"status":7}"#] {
            assert!(
                result_of(broken.to_owned())
                    .unwrap_err()
                    .contains("internal")
            );
        }
    }
}

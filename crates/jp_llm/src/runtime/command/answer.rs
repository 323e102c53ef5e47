//! Reads what a command has to say: an outcome as JSON, or plain text and an exit status.

use jp_tool::Outcome;
use serde_json::json;

/// Turns the output of a command into an outcome.
pub(super) fn read_outcome(tool: &str, code: Option<i32>, stdout: &[u8], stderr: &[u8]) -> Outcome {
    // A command that speaks the contract says everything in its output, whatever its status.
    if let Ok(outcome) = serde_json::from_slice::<Outcome>(stdout) {
        return outcome;
    }
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if code == Some(0) {
        return Outcome::Success {
            content: text(stdout),
        };
    }
    let message = json!({
        "message": format!("Tool '{tool}' execution failed."),
        "stderr": text(stderr),
        "stdout": text(stdout),
    });
    Outcome::Error {
        message: message.to_string(),
        trace: Vec::new(),
        transient: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_counts_whatever_the_status() {
        let said = br#"{"type":"error","message":"no","trace":[],"transient":true}"#;
        let outcome = read_outcome("t", Some(0), said, b"");
        assert!(matches!(
            outcome,
            Outcome::Error {
                transient: true,
                ..
            }
        ));
    }

    #[test]
    fn plain_text_is_a_result_when_the_status_is_zero() {
        assert_eq!(
            read_outcome("t", Some(0), b"hi\n", b"x"),
            Outcome::from("hi\n")
        );
        let Outcome::Error { message, .. } = read_outcome("t", None, b"a\xff", b"b") else {
            panic!()
        };
        assert_eq!(
            message,
            "{\"message\":\"Tool 't' execution failed.\",\"stderr\":\"b\",\"stdout\":\"a\u{fffd}\"}"
        );
    }
}

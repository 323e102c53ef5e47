//! A module that speaks the ABI and does nothing: a host must refuse it as a tool, by the marker in
//! its bytes before it runs and by the marker in its answer after.

use jp_tool_brokered::module;

/// What tells such a module from a real one. The text is what the file is searched for.
const ANSWER: &str =
    r#"{"status":"ok","stub":true,"message":"this module returns stub responses"}"#;

module!(|_| ANSWER.as_bytes().to_vec());

//! `http_call`: one HTTP request.

use super::calls;
use crate::ModuleTool;

/// One HTTP request.
pub static HTTP_CALL: ModuleTool = ModuleTool {
    name: "http_call",
    summary: "Makes an HTTP request",
    description: "Makes one HTTP request and returns status, headers, text and, where the answer is \
                  JSON, its value. Give a whole url, or an endpoint of a configured server. Hosts \
                  that are not granted are refused.",
    actions: &[calls::HTTP_REQUEST],
};

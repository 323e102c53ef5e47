//! `http_call`: one HTTP request.

use crate::ModuleTool;
use crate::tool::{Kind, action, optional, required};

/// One HTTP request.
pub static HTTP_CALL: ModuleTool = ModuleTool {
    name: "http_call",
    summary: "Makes an HTTP request",
    description: "Makes one HTTP request and returns status, headers, text and, where the answer is \
                  JSON, its value. Give a whole url, or an endpoint of a configured server. Hosts \
                  that are not granted are refused.",
    actions: &[action(
        &[],
        "http.request",
        &[
            required(
                "method",
                Kind::Text,
                "GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS",
            ),
            optional(
                "url",
                Kind::Text,
                "The whole address; counts before endpoint",
            ),
            optional(
                "endpoint",
                Kind::Text,
                "A path of the server, or a whole address",
            ),
            optional(
                "server",
                Kind::Text,
                "The configured server; not needed if there is only one",
            ),
            optional("headers", Kind::Object, "Headers to send, as strings"),
            optional("query", Kind::Object, "Parameters for the query string"),
            optional("body", Kind::Text, "The body as text"),
            optional("json", Kind::Json, "The body as JSON"),
            optional(
                "timeout_seconds",
                Kind::AtLeast(1),
                "How long to wait at most",
            ),
        ],
    )],
};

//! Results keep their kind: pictures, sounds, documents and data of a server reach whoever called,
//! as what they are.

use serde_json::{Value, json};

use crate::{kit::Sandbox, mcp, output::fits};

const CALL: [&str; 2] = ["shout", "text=x"];

fn trusted(answer: &Value) -> Sandbox {
    let sandbox = mcp::sandbox();
    mcp::answers(&sandbox, answer);
    sandbox.jp(&["trust"]).exits(0);
    sandbox
}

#[test]
fn every_kind_of_part_passes_through_to_json() {
    let parts = json!([
        {"type": "text", "text": "one", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "AAE=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "two"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": "AA=="}},
        {"type": "resource_link", "uri": "file:///x", "name": "x", "size": 3},
    ]);
    let data = json!({"sum": 3});
    let sandbox = trusted(&json!({"content": parts, "structuredContent": data}));
    let document = sandbox
        .call(&[&CALL[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(document["content"], parts, "{document:#}");
    assert_eq!(document["structured"], data, "{document:#}");
    fits(&document, "tool-run.schema.json");
    let text = sandbox.call(&CALL).exits(0).stdout;
    let line = "[image: image/png, 3 bytes, not shown as text]";
    assert!(text.starts_with("one\n\n") && text.contains(line), "{text}");
}

#[test]
fn a_no_keeps_its_parts_too() {
    let parts = json!([{"type": "text", "text": "not today"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
    let sandbox = trusted(&json!({"content": parts, "isError": true}));
    let document = sandbox
        .call(&[&CALL[..], &["--json"]].concat())
        .exits(1)
        .json();
    assert_eq!(document["outcome"]["type"], "error");
    assert_eq!(document["content"], parts, "{document:#}");
    fits(&document, "tool-run.schema.json");
}

#[test]
fn the_limit_on_output_counts_what_is_not_text() {
    let image = json!({"type": "image", "data": "A".repeat(4000), "mimeType": "image/png"});
    let sandbox = trusted(&json!({"content": [image]}));
    let limit = ["--cfg", "conversation.tools.shout.limits.output=2000"];
    let call = [&["tool", "run"][..], &CALL].concat();
    sandbox.jp(&call).exits(0);
    sandbox
        .jp(&[&limit[..], &call].concat())
        .exits(134)
        .warns("ran out of output");
}

#[test]
fn a_text_alone_is_one_part_without_data() {
    let sandbox = Sandbox::with_tools();
    let ran = sandbox.call(&["read", "path=notes.txt", "--json"]).exits(0);
    let document = ran.json();
    let text = document["outcome"]["content"].clone();
    assert_eq!(document["content"], json!([{"type": "text", "text": text}]));
    assert_eq!(document["structured"], Value::Null);
}

/// Calls a tool that declares what its results look like, and that answers with this.
fn typed(answer: &Value) -> crate::kit::Ran {
    let sandbox = mcp::sandbox();
    let mut tool = mcp::shout();
    tool["outputSchema"] = json!({"type": "object", "required": ["sum"],
        "properties": {"sum": {"type": "integer"}}});
    mcp::offers(&sandbox, &[tool]);
    mcp::answers(&sandbox, answer);
    sandbox.jp(&["trust"]).exits(0);
    sandbox.call(&[&CALL[..], &["--json"]].concat())
}

#[test]
fn the_data_of_a_server_fits_the_schema_that_its_tool_declares() {
    let words = json!([{"type": "text", "text": "three in all"}]);
    let fits = typed(&json!({"content": words, "structuredContent": {"sum": 3}}));
    let document = fits.exits(0).json();
    assert_eq!(document["structured"], json!({"sum": 3}), "{document:#}");
    assert_eq!(document["content"], words, "{document:#}");
    // The same as text alone, as servers answered before there was data.
    let text = json!([{"type": "text", "text": "{\"sum\": 4}"}]);
    let document = typed(&json!({"content": text})).exits(0).json();
    assert_eq!(document["structured"], json!({"sum": 4}), "{document:#}");
    // A no has no result.
    let no = json!({"content": words, "isError": true});
    assert_eq!(typed(&no).exits(1).json()["outcome"]["type"], "error");
}

#[test]
fn data_of_a_server_that_does_not_fit_is_an_error_that_names_the_place() {
    let words = json!([{"type": "text", "text": "three in all"}]);
    for (answer, place) in [
        (
            json!({"content": words, "structuredContent": {"sum": "3"}}),
            "/sum",
        ),
        (json!({"content": words, "structuredContent": {}}), "sum"),
        (json!({"content": words}), "not JSON"),
    ] {
        let document = typed(&answer).exits(134).json();
        assert_eq!(document["error"]["kind"], "stopped", "{document:#}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(message.contains(place), "{message}");
        assert!(!message.contains("three"), "{message}");
        assert_eq!(document["content"], json!([]), "{document:#}");
    }
}

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

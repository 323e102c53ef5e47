//! What the tools say of themselves.

use jp_tool::{DescribedTool, Description};
use serde_json::{Value, json};

/// The tools that take nothing, and a line about each.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with a text."),
    ("test_image_content", "Answers with a picture."),
    ("test_audio_content", "Answers with a sound."),
    ("test_embedded_resource", "Answers with a document."),
    (
        "test_multiple_content_types",
        "Answers with a text, a picture and a document.",
    ),
    ("test_error_handling", "Fails."),
    ("test_tool_with_progress", "Says how far it is."),
    ("test_tool_with_logging", "Logs three lines."),
    ("test_logging_tool", "Logs a line."),
    ("test_reconnection", "Takes a while."),
    ("test_trigger_tool_change", "Changes the list of tools."),
    ("test_elicitation_sep1034_defaults", "Asks with defaults."),
    ("test_elicitation_sep1330_enums", "Asks to choose."),
    (
        "test_streaming_elicitation",
        "Says how far it is, and asks.",
    ),
    ("test_missing_capability", "Asks the model of the client."),
    ("test_input_required_result_elicitation", "Asks for a name."),
    (
        "test_input_required_result_sampling",
        "Asks the model for a capital.",
    ),
    (
        "test_input_required_result_list_roots",
        "Asks for the roots.",
    ),
    (
        "test_input_required_result_request_state",
        "Asks for a yes.",
    ),
    (
        "test_input_required_result_tampered_state",
        "Asks for a yes.",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Asks for three things at once.",
    ),
    ("test_input_required_result_multi_round", "Asks twice."),
    (
        "test_input_required_result_capabilities",
        "Asks for what the client can give.",
    ),
    ("test_tool_with_task", "Asks for a name, and takes a while."),
    ("failing_job", "Takes a while and fails."),
    ("protocol_error_job", "Takes a while and breaks."),
    ("brought", "Is there or is not."),
    ("multi_input", "Asks two things at once, and takes a while."),
];

pub(crate) fn all() -> Description {
    let plain = PLAIN
        .iter()
        .map(|(name, summary)| tool(name, summary, object(json!({}), &[])));
    let mut tools: Vec<DescribedTool> = plain.collect();
    let text = || json!({ "type": "string" });
    tools.extend([
        tool(
            "test_sampling",
            "Asks the model of the client.",
            object(json!({ "prompt": text() }), &["prompt"]),
        ),
        tool(
            "test_elicitation",
            "Asks the person behind the client.",
            object(json!({ "message": text() }), &["message"]),
        ),
        tool(
            "greet",
            "Greets.",
            object(json!({ "name": text() }), &["name"]),
        ),
        tool(
            "confirm_delete",
            "Asks before it deletes.",
            object(json!({ "filename": text() }), &[]),
        ),
        tool(
            "slow_compute",
            "Computes for some seconds.",
            object(
                json!({ "seconds": { "type": "number" }, "label": text() }),
                &[],
            ),
        ),
        tool(
            "test_custom_headers",
            "Takes arguments that are headers too.",
            headers(),
        ),
        tool(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            schema(),
        ),
    ]);
    Description { tools }
}

fn tool(name: &str, summary: &str, parameters: Value) -> DescribedTool {
    DescribedTool {
        name: name.to_owned(),
        title: None,
        summary: summary.to_owned(),
        description: None,
        parameters,
        output_schema: None,
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn headers() -> Value {
    object(
        json!({
            "region": { "type": "string", "x-mcp-header": "Region" },
            "priority": { "type": "integer", "x-mcp-header": "Priority" },
            "verbose": { "type": "boolean", "x-mcp-header": "Verbose" },
            "query": { "type": "string" },
        }),
        &["region"],
    )
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

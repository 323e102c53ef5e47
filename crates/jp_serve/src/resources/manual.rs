//! What there is to know about a tool, as a page that models and people read.

use rmcp::model::Tool;
use serde_json::{Map, Value};

/// Writes the page of a tool.
pub(super) fn page(tool: &Tool) -> String {
    let mut page = format!("# {}\n", tool.name);
    if let Some(description) = tool.description.as_deref().filter(|text| !text.is_empty()) {
        page.push_str(&format!("\n{description}\n"));
    }
    page.push_str("\n## Arguments\n\n");
    page.push_str(&arguments(&tool.input_schema));
    if let Some(facts) = facts(tool) {
        page.push_str(&format!("\n## What it may do\n\n{facts}\n"));
    }
    page.push_str("\n## Schema of the arguments\n\n");
    page.push_str(&fenced(&tool.input_schema));
    if let Some(schema) = &tool.output_schema {
        page.push_str("\n## Schema of the result\n\n");
        page.push_str(&fenced(schema));
    }
    page
}

fn arguments(schema: &Map<String, Value>) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let lines = properties.into_iter().flatten().map(|(name, part)| {
        let kind = match part.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(kind) => kind.to_string(),
            None => "any value".to_owned(),
        };
        let required = if is_required(name) { ", required" } else { "" };
        let description = part.get("description").and_then(Value::as_str);
        let description = description.map(|text| format!(": {}", text.replace('\n', "\n  ")));
        format!(
            "- `{name}` ({kind}{required}){}\n",
            description.unwrap_or_default()
        )
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => "It takes none.\n".to_owned(),
        false => lines,
    }
}

/// Says what the grant of the tool proves.
fn facts(tool: &Tool) -> Option<String> {
    let known = tool.annotations.as_ref()?;
    let change = match known.read_only_hint? {
        true => "It changes nothing",
        false => "It may change things",
    };
    let reach = match known.open_world_hint? {
        true => "may reach beyond this machine",
        false => "stays on this machine",
    };
    Some(format!("{change}, and {reach}."))
}

/// Writes JSON as a block. No line of it can end the block: each starts with a space or a bracket.
fn fenced(schema: &Map<String, Value>) -> String {
    let text = serde_json::to_string_pretty(schema).unwrap_or_default();
    format!("```json\n{text}\n```\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_has_all_that_is_known_of_a_tool() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": "A file\n```"}, "deep": {}}});
        let schema = schema.as_object().unwrap().clone();
        let tool = Tool::new("count", "Counts words", Arc::new(schema));
        let page = page(&tool);
        assert!(
            page.starts_with("# count\n\nCounts words\n\n## Arguments\n\n"),
            "{page}"
        );
        assert!(
            page.contains("- `path` (string, required): A file\n  ```\n"),
            "{page}"
        );
        assert!(page.contains("- `deep` (any value)\n"), "{page}");
        assert_eq!(
            page.lines().filter(|line| line.starts_with("```")).count(),
            2
        );
    }
}

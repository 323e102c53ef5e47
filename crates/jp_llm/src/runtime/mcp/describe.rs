//! What a model is told about a server's tool: the server's words and schema, changed by what the
//! configuration says. Pure functions over data.
//!
//! A configuration may say more, and may ask for more, never for less: a parameter the server requires
//! stays required.

use jp_broker::mcp::ToolInfo;
use jp_config::tool::{ToolConfig, ToolParameterConfig};
use serde_json::{Map, Value};

use crate::ToolDocs;

/// Stands for the server's own words in a description of the configuration.
const THEIRS: &str = "{{description}}";

/// Longer descriptions have a summary of their own.
const SHORT: usize = 120;

/// The longest summary that is made of a description.
const MAX_SUMMARY: usize = 300;

/// A tool of a server, as it is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// What people and models are told about it.
    pub docs: ToolDocs,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// The configuration speaks of a parameter that the tool of a server does not have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's tool has no parameter `{name}`")]
pub struct UnknownParameter {
    /// The parameter.
    pub name: String,
}

/// Makes what is offered of what the server says and the configuration changes.
///
/// # Errors
///
/// When the configuration speaks of a parameter that the tool does not have.
pub fn describe(info: &ToolInfo, config: &ToolConfig) -> Result<Described, UnknownParameter> {
    let theirs = info.description.as_deref().or(info.title.as_deref());
    let description = match &config.description {
        Some(own) => Some(own.replace(THEIRS, theirs.unwrap_or_default())),
        None => theirs.map(str::to_owned),
    };
    let summary = match (&config.summary, &description) {
        (Some(own), _) => Some(own.replace(THEIRS, theirs.unwrap_or_default())),
        (None, Some(text)) if is_long(text) => Some(first_sentence(text)),
        (None, _) => None,
    };
    Ok(Described {
        docs: ToolDocs {
            summary,
            description,
            examples: config.examples.clone(),
        },
        schema: Value::Object(schema(&info.input_schema, config)?),
    })
}

fn schema(
    theirs: &Map<String, Value>,
    config: &ToolConfig,
) -> Result<Map<String, Value>, UnknownParameter> {
    let mut schema = theirs.clone();
    schema.entry("type").or_insert_with(|| "object".into());
    for (name, changes) in &config.parameters {
        let property = schema
            .get_mut("properties")
            .and_then(|properties| properties.get_mut(name));
        let Some(property) = property else {
            let name = name.clone();
            return Err(UnknownParameter { name });
        };
        change(property, changes);
        if changes.required {
            require(&mut schema, name);
        }
    }
    Ok(schema)
}

/// Puts what the configuration says about a parameter in the place of what the server says.
fn change(property: &mut Value, changes: &ToolParameterConfig) {
    let theirs = property.get("description").and_then(Value::as_str);
    let theirs = theirs.unwrap_or_default().to_owned();
    if !property.is_object() {
        // `true` as a schema: anything goes.
        *property = Value::Object(Map::new());
    }
    let (Value::Object(property), Value::Object(own)) = (property, changes.to_json_schema()) else {
        return;
    };
    // What narrows a type the server chose says nothing about another.
    if own.contains_key("type") {
        for key in ["anyOf", "oneOf", "allOf", "$ref"] {
            property.remove(key);
        }
    }
    if own.contains_key("properties") {
        property.remove("required");
    }
    for (key, value) in own {
        let value = match (key.as_str(), value) {
            ("description", Value::String(text)) => Value::String(text.replace(THEIRS, &theirs)),
            (_, value) => value,
        };
        property.insert(key, value);
    }
}

fn require(schema: &mut Map<String, Value>, name: &str) {
    let required = schema
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(names) = required
        && !names.iter().any(|known| known == name)
    {
        names.push(name.into());
    }
}

fn is_long(text: &str) -> bool {
    text.len() > SHORT || text.trim_end().contains('\n')
}

/// Returns the first sentence: up to a full stop that ends one, or a line break.
fn first_sentence(text: &str) -> String {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let end = line.char_indices().find_map(|(at, c)| {
        let after = at.saturating_add(c.len_utf8());
        let rest = line.get(after..)?;
        let ends = matches!(c, '.' | '!' | '?') && rest.starts_with(char::is_whitespace);
        (ends && !is_abbreviation(line.get(..at)?)).then_some(after)
    });
    let sentence = line.get(..end.unwrap_or(line.len())).unwrap_or(line);
    jp_text::shorten(sentence, MAX_SUMMARY).into_owned()
}

/// Tells whether what stands before a full stop is a word that has one.
fn is_abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next();
    ["e.g", "i.e", "etc", "vs", "cf", "approx"].contains(&word.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(description: &str, schema: Value) -> ToolInfo {
        ToolInfo {
            name: "search".to_owned(),
            title: None,
            description: Some(description.to_owned()),
            input_schema: schema.as_object().unwrap().clone(),
            output_schema: None,
            annotations: Map::new(),
        }
    }

    fn config(text: &str) -> ToolConfig {
        let mut value: Value = serde_json::from_str(text).unwrap();
        value["source"] = "mcp.library.search".into();
        serde_json::from_value(value).unwrap()
    }

    fn described(config_text: &str) -> Described {
        let schema = json!({"properties": {
            "query": {"type": "string", "description": "What to find."},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 10},
            "filter": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        }, "required": ["query"]});
        describe(&tool("Finds books.", schema), &config(config_text)).unwrap()
    }

    #[test]
    fn without_changes_the_servers_words_and_schema_stand() {
        let described = described("{}");
        assert_eq!(described.docs.description.as_deref(), Some("Finds books."));
        assert_eq!(described.docs.summary, None);
        assert_eq!(described.schema["type"], "object");
        assert_eq!(described.schema["required"], json!(["query"]));
    }

    #[test]
    fn required_can_only_be_tightened() {
        let described = described(
            r#"{"parameters": {"query": {"required": false}, "limit": {"required": true}}}"#,
        );
        assert_eq!(described.schema["required"], json!(["query", "limit"]));
    }

    #[test]
    fn type_enum_default_items_and_properties_are_replaced() {
        let described = described(
            r#"{"parameters": {
                "query": {"enum": ["a", "b"], "default": "a"},
                "limit": {"type": "integer", "default": 5},
                "filter": {"properties": {"b": {"type": "string", "required": true}}}}}"#,
        );
        let properties = &described.schema["properties"];
        assert_eq!(
            properties["query"],
            json!({"type": "string", "description": "What to find.", "enum": ["a", "b"], "default": "a"})
        );
        assert_eq!(
            properties["limit"],
            json!({"default": 5, "type": "integer"})
        );
        assert_eq!(
            properties["filter"]["properties"],
            json!({"b": {"type": "string"}})
        );
        assert_eq!(properties["filter"]["required"], json!(["b"]));
    }

    #[test]
    fn their_description_can_be_part_of_ours() {
        let described = described(
            r#"{"description": "Use it often. {{description}}", "summary": "Books",
                "parameters": {"query": {"description": "{{description}} In German."}}}"#,
        );
        let docs = &described.docs;
        assert_eq!(
            docs.description.as_deref(),
            Some("Use it often. Finds books.")
        );
        assert_eq!(docs.summary.as_deref(), Some("Books"));
        let query = &described.schema["properties"]["query"];
        assert_eq!(query["description"], "What to find. In German.");
    }

    #[test]
    fn a_parameter_that_is_not_there_is_an_error() {
        let config = config(r#"{"parameters": {"nope": {"required": true}}}"#);
        let error = describe(&tool("x", json!({})), &config).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server's tool has no parameter `nope`"
        );
    }

    #[test]
    fn a_long_description_gets_its_first_sentence_as_summary() {
        for (text, summary) in [
            ("Short.", None),
            ("One line.\n\nAnd much more.", Some("One line.")),
            (
                "Reads files (e.g. of text). Then more.\nx",
                Some("Reads files (e.g. of text)."),
            ),
            ("No stop here\nnext", Some("No stop here")),
            (
                "Version 1.2 is fine! More.\n.",
                Some("Version 1.2 is fine!"),
            ),
        ] {
            let docs = describe(&tool(text, json!({})), &config("{}"))
                .unwrap()
                .docs;
            assert_eq!(docs.summary.as_deref(), summary, "{text}");
            assert_eq!(docs.description.as_deref(), Some(text));
        }
        let endless = "x".repeat(1000);
        let docs = describe(&tool(&endless, json!({})), &config("{}"))
            .unwrap()
            .docs;
        assert_eq!(docs.summary.unwrap().chars().count(), 300);
    }
}

//! Many tools without their tokens: a client gets three tools, which find, describe and call all others.
//!
//! A call through `call_tool` is a call of the tool it names: checked, approved and recorded as such.

mod index;

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use serde_json::{Map, Value, json};

use crate::{catalogue::Catalogue, content, hints};

pub(crate) use index::Index;

/// A list of tools with more bytes than this is not handed out whole, unless the client wants it so.
const LONG_LIST: usize = 32 * 1024;

/// Clients that defer tools themselves: a name in the prompt, the schema when it is needed.
const DEFERRING: &[&str] = &["claude-code"];

/// As many tools are found unless the client says how many.
const FOUND: usize = 8;

/// As many are found or described at most.
const MOST: usize = 25;

const SEARCH: &str = "search_tools";
const DESCRIBE: &str = "describe_tools";
const CALL: &str = "call_tool";

/// Which clients get three tools instead of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lazy {
    /// Those that would get a long list and do not defer tools themselves.
    #[default]
    Auto,
    /// All.
    On,
    /// None.
    Off,
}

/// What a call comes to where three tools stand for all.
pub(crate) enum Meant {
    /// A call of a tool.
    Call(CallToolRequestParams),
    /// An answer without a call.
    Answer(CallToolResult),
}

impl Lazy {
    /// Tells whether a client gets three tools.
    pub(crate) fn is_for(self, client: Option<&str>, catalogue: &Catalogue) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
            Self::Auto => {
                let defers = client.is_some_and(|client| DEFERRING.contains(&client));
                !defers && catalogue.size() > LONG_LIST
            }
        }
    }
}

/// Returns the three tools.
pub(crate) fn tools(catalogue: &Catalogue) -> Vec<Tool> {
    let count = catalogue.tools().len();
    let reads = ToolAnnotations::new().read_only(true).open_world(false);
    let names =
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST});
    let search = tool(
        SEARCH,
        format!(
            "Finds tools among the {count} of this server by what they do. Search before you decide that something \
             cannot be done."
        ),
        json!({"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string", "description": "what the tool should do, in a few words"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": FOUND},
        }}),
    );
    let describe = tool(
        DESCRIBE,
        "Describes tools in full: what they do, and the schema of their arguments.".to_owned(),
        json!({"type": "object", "required": ["names"], "properties": {"names": names}}),
    );
    let call = tool(
        CALL,
        "Calls a tool that was found, with arguments that fit its schema.".to_owned(),
        json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "arguments": {"type": "object"},
        }}),
    );
    vec![
        call,
        describe.with_annotations(reads.clone()),
        search.with_annotations(reads),
    ]
}

fn tool(name: &'static str, description: String, schema: Value) -> Tool {
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let mut tool = Tool::new(name, description, schema);
    // A client that defers these finds nothing at all.
    tool.meta = Some(hints::always_loaded());
    tool
}

/// Says what a call means. A tool that is called by its own name is called.
pub(crate) fn meant(mut params: CallToolRequestParams, catalogue: &Catalogue) -> Meant {
    let arguments =
        |params: &mut CallToolRequestParams| params.arguments.take().unwrap_or_default();
    match &*params.name {
        SEARCH => Meant::Answer(search(&arguments(&mut params), catalogue)),
        DESCRIBE => Meant::Answer(describe(&arguments(&mut params), catalogue)),
        CALL => {
            let mut given = arguments(&mut params);
            let Some(Value::String(name)) = given.remove("name") else {
                return invalid("expected `name`, the name of a tool");
            };
            if catalogue.id(&name).is_none() {
                let name_shown = jp_text::inline(&name);
                let hint = hint(&catalogue.search(&name, 3));
                return invalid(&format!("unknown tool: {name_shown}; {hint}"));
            }
            params.name = Cow::Owned(name);
            params.arguments = match given.remove("arguments") {
                None | Some(Value::Null) => None,
                Some(Value::Object(inner)) => Some(inner),
                Some(_) => return invalid("invalid `arguments`: expected an object"),
            };
            Meant::Call(params)
        }
        _ => Meant::Call(params),
    }
}

fn invalid(text: &str) -> Meant {
    Meant::Answer(content::refusal(text))
}

fn hint(near: &[&Tool]) -> String {
    if near.is_empty() {
        return format!("`{SEARCH}` finds tools by what they do");
    }
    let names = near.iter().map(|tool| format!("`{}`", tool.name));
    format!("close to it: {}", names.collect::<Vec<_>>().join(", "))
}

fn search(arguments: &Map<String, Value>, catalogue: &Catalogue) -> CallToolResult {
    let Some(query) = arguments.get("query").and_then(Value::as_str) else {
        return content::refusal("expected `query`, what the tool should do in a few words");
    };
    let limit = arguments.get("limit").and_then(Value::as_u64);
    let limit = limit.map_or(FOUND, |limit| usize::try_from(limit).unwrap_or(MOST));
    let found = catalogue.search(query, limit.clamp(1, MOST));
    let line = |tool: &&Tool| {
        let about = tool.description.as_deref().unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        json!({"name": tool.name, "description": jp_text::shorten(about, 200)})
    };
    let tools: Vec<Value> = found.iter().map(line).collect();
    answer(json!({ "tools": tools, "of": catalogue.tools().len() }))
}

fn describe(arguments: &Map<String, Value>, catalogue: &Catalogue) -> CallToolResult {
    let names = arguments.get("names").and_then(Value::as_array);
    let Some(names) = names.filter(|names| !names.is_empty() && names.len() <= MOST) else {
        return content::refusal(&format!(
            "expected `names`, an array of 1 to {MOST} names of tools"
        ));
    };
    let described = names.iter().map(|name| {
        let name = name.as_str().unwrap_or_default();
        let tool = catalogue
            .tool(name)
            .and_then(|tool| serde_json::to_value(tool).ok());
        tool.unwrap_or_else(|| json!({"name": name, "error": "unknown tool"}))
    });
    answer(json!({ "tools": described.collect::<Vec<_>>() }))
}

fn answer(value: Value) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(value.to_string())])
}

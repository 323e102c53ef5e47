//! What clients that defer tools may know of one beside its schema, where there is something true to say.
//!
//! The keys are those of Claude Code; other clients pass over them.

use jp_config::tool::Enable;
use jp_llm::PreparedTool;
use jp_tool::DescribedTool;
use rmcp::model::MetaObject;
use serde_json::{Value, json};

use crate::spill;

/// What a search for tools finds one by, beside its name.
const SEARCH: &str = "anthropic/searchHint";

/// Whether it is never deferred.
const ALWAYS: &str = "anthropic/alwaysLoad";

/// The most characters of a result.
const LARGEST: &str = "anthropic/maxResultSizeChars";

/// A longer hint is shortened.
const LONGEST: usize = 200;

/// Returns what there is to say of a tool. `most` is how many bytes its result may have.
pub(crate) fn of(
    tool: &PreparedTool,
    said: Option<&DescribedTool>,
    most: Option<u64>,
) -> Option<MetaObject> {
    let mut meta = MetaObject::new();
    let mut add = |key: &str, value: Value| {
        meta.0.insert(key.to_owned(), value);
    };
    // Where the summary is all there is, it is the description already.
    let summary = tool
        .docs
        .summary
        .as_deref()
        .or(said.map(|said| said.summary.as_str()));
    let has_more =
        tool.docs.description.is_some() || said.is_some_and(|it| it.description.is_some());
    if let Some(summary) = summary.filter(|summary| has_more && !summary.is_empty()) {
        add(SEARCH, json!(jp_text::shorten(summary, LONGEST)));
    }
    // The user said that it cannot be turned off.
    if tool.enable() == Enable::Always {
        add(ALWAYS, json!(true));
    }
    // What is longer than that is kept, and less is handed on.
    if let Some(most) = most.filter(|most| *most <= spill::LONG as u64) {
        add(LARGEST, json!(most));
    }
    (!meta.0.is_empty()).then_some(meta)
}

/// Returns what is said of a tool without which others cannot be found.
pub(crate) fn always_loaded() -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(ALWAYS.to_owned(), json!(true));
    meta
}

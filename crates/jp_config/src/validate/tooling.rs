//! What must hold between `[tooling]`, the tools of conversations and `[registries]`.

use crate::{
    app::AppConfig,
    blame::Blame,
    conversation::tool::ToolSource,
    error::{ConfigError, Problem},
    tooling::{ToolingConfig, is_tool_id, not_an_id},
    tree,
};

/// The most models an app can name; each of them is a rule that every call looks at.
const MAX_MODELS: usize = 256;

/// Checks names, and that each of them stands for one tool.
pub(super) fn check(config: &AppConfig, blame: &Blame<'_>) -> Result<(), ConfigError> {
    let invalid = |path: &[&str], message: String| {
        let path = path.iter().map(ToString::to_string).collect();
        blame.error((path, Problem::Invalid { message }))
    };
    for (name, entry) in &config.tooling {
        let at = ["tooling", name.as_str()];
        super::check_id(name).map_err(|error| invalid(&at, error.to_string()))?;
        if let Some(id) = entry.id(name).filter(|id| !is_tool_id(id)) {
            let message = format!("{}; its `id` says which one is meant", not_an_id(id));
            return Err(invalid(&at, message));
        }
        if let Some(message) = collision(config, name, entry, blame) {
            return Err(invalid(&at, message));
        }
    }
    if config.models.len() > MAX_MODELS {
        let message = format!("too many models: expected at most {MAX_MODELS}");
        return Err(invalid(&["models"], message));
    }
    let mut default: Option<&str> = None;
    for (name, registry) in &config.registries {
        let at = ["registries", name.as_str()];
        super::check_id(name).map_err(|error| invalid(&at, error.to_string()))?;
        if !registry.default {
            continue;
        }
        if let Some(other) = default.replace(name) {
            let message = format!("`{other}` is already the default; only one registry can be");
            return Err(invalid(&["registries", name, "default"], message));
        }
    }
    Ok(())
}

/// Says what is wrong if a name stands for two tools.
fn collision(
    config: &AppConfig,
    name: &str,
    entry: &ToolingConfig,
    blame: &Blame<'_>,
) -> Option<String> {
    let tool = config.conversation.tools.tools.get(name)?;
    let other = || {
        let path = ["conversation", "tools", name].map(ToString::to_string);
        let place = blame.place(&path).map(|place| format!("{place}: "));
        format!("{}{}", place.unwrap_or_default(), tree::dotted(&path))
    };
    match (&tool.source, entry.id(name)) {
        (ToolSource::Registry { tool: None }, _) => None,
        (ToolSource::Registry { tool: Some(theirs) }, Some(ours)) if theirs == ours => None,
        (ToolSource::Registry { tool: Some(theirs) }, _) => Some(format!(
            "is another tool than `{theirs}`, which {} stands for",
            other()
        )),
        (source, _) => Some(format!(
            "the name is taken by {}, whose source is `{source}`; rename one, or give that entry the source `registry`",
            other()
        )),
    }
}

//! What can only be checked in a configuration as a whole: values that do not fit each other.

mod tooling;
mod unheard;

use jp_policy::{Capabilities, Ceilings, Files, Form, Limit, LimitError, unbacked};

use crate::{
    app::AppConfig,
    blame::Blame,
    broker::SearchProvider,
    conversation::tool::{QuestionConfig, QuestionTarget, ToolConfig, ToolSource, family},
    error::{ConfigError, Problem, Warning},
};

pub(crate) use unheard::{GUEST_ONLY, guest_only, outside};

/// What no signed tool can be given, though its manifest and its app may say it.
const SUBPROCESS: &str = "tool.exec.subprocess";
/// The longest id of a tool, server or topic.
const MAX_ID: usize = 128;
/// The most warnings that are spelled out; a hostile file could have any number.
pub(crate) const MAX_WARNINGS: usize = 100;

/// Checks a configuration and returns what its writers may want to know.
pub(crate) fn validate(config: &AppConfig, blame: &Blame<'_>) -> Result<Vec<Warning>, ConfigError> {
    let invalid = |path: &[&str], message: String| {
        let path = path.iter().map(ToString::to_string).collect();
        blame.error((path, Problem::Invalid { message }))
    };
    let mut warnings = Vec::new();
    let mut more = 0_usize;
    for (id, tool) in &config.conversation.tools.tools {
        let at = ["conversation", "tools", id.as_str()];
        check_id(id).map_err(|error| invalid(&at, error.to_string()))?;
        if let Some((key, message)) = family::check(id, tool) {
            let path: Vec<&str> = at.into_iter().chain(key.iter().copied()).collect();
            return Err(invalid(&path, message));
        }
        if let Err(error) = Ceilings::default().check(&tool.limits.to_request(), None) {
            let [section, table, id] = at;
            let key = limit_of(&error).key();
            return Err(invalid(
                &[section, table, id, "limits", key],
                error.to_string(),
            ));
        }
        if let Some(message) = tool.abi.filter(|abi| ![1, 2].contains(abi)).map(bad_abi) {
            let [section, table, id] = at;
            return Err(invalid(&[section, table, id, "abi"], message));
        }
        if let Some((key, message)) = unheard::find(id, tool) {
            let path: Vec<&str> = at
                .into_iter()
                .chain(key.iter().map(String::as_str))
                .collect();
            return Err(invalid(&path, message));
        }
        for (key, message) in remarks(tool) {
            if warnings.len() == MAX_WARNINGS {
                more += 1;
                continue;
            }
            let path: Vec<String> = at.iter().chain(key).map(ToString::to_string).collect();
            warnings.push(Warning {
                place: blame.place(&path),
                key: crate::tree::dotted(&path),
                message: message.to_string(),
            });
        }
    }
    if more > 0 {
        warnings.push(Warning {
            place: None,
            key: "conversation.tools".to_string(),
            message: format!("and {more} more warnings"),
        });
    }
    let capabilities = config.capabilities.as_ref();
    if capabilities.is_some_and(|said| said.allowed().subprocess) {
        let path = ["capabilities", SUBPROCESS].map(ToString::to_string);
        warnings.push(Warning {
            place: blame.place(&path),
            key: crate::tree::dotted(&path),
            message: "has no effect: nothing gives this to a tool of a registry".to_string(),
        });
    }
    check_rest(config, &invalid)?;
    tooling::check(config, blame)?;
    Ok(warnings)
}

fn check_rest(
    config: &AppConfig,
    invalid: &dyn Fn(&[&str], String) -> ConfigError,
) -> Result<(), ConfigError> {
    for (id, server) in &config.providers.mcp {
        let checked = check_server_id(id);
        checked.map_err(|error| invalid(&["providers", "mcp", id], error.to_string()))?;
        if let Err((key, message)) = server.check() {
            let at = ["providers", "mcp", id.as_str()];
            let path: Vec<&str> = at.into_iter().chain(key.iter().copied()).collect();
            return Err(invalid(&path, message));
        }
    }
    for id in config.kb.topics.keys() {
        check_id(id).map_err(|error| invalid(&["kb", "topic", id], error.to_string()))?;
    }
    check_served(config, invalid)?;
    let memory = config
        .policy
        .as_ref()
        .and_then(|policy| policy.command_memory);
    if memory.is_some_and(|memory| memory.0 == 0) {
        let message = "expected a size above zero; leave it out for the default".to_string();
        return Err(invalid(&["policy", "command_memory"], message));
    }
    check_search(config, invalid)?;
    check_policy_files(config, invalid)?;
    if let Some(Err(error)) = config.policy.as_ref().map(|policy| policy.to_policy()) {
        let key = limit_of(&error).key();
        return Err(invalid(&["policy", "limits", key], error.to_string()));
    }
    Ok(())
}

/// Checks what a server shows beside the tools.
fn check_served(
    config: &AppConfig,
    invalid: &dyn Fn(&[&str], String) -> ConfigError,
) -> Result<(), ConfigError> {
    let serve = &config.serve;
    let names = serve.resources.keys().map(|name| ("resources", name));
    for (section, name) in names.chain(serve.prompts.keys().map(|name| ("prompts", name))) {
        check_id(name).map_err(|error| invalid(&["serve", section, name], error.to_string()))?;
    }
    serve.check().map_err(|(path, wrong)| {
        let path = path.iter().map(String::as_str);
        let path: Vec<&str> = ["serve"].into_iter().chain(path).collect();
        invalid(&path, wrong.to_string())
    })
}

/// A model belongs to a provider that is one, and to no other.
fn check_search(
    config: &AppConfig,
    invalid: &dyn Fn(&[&str], String) -> ConfigError,
) -> Result<(), ConfigError> {
    let Some(search) = &config.broker.search else {
        return Ok(());
    };
    let message = match (search.provider, &search.model) {
        (SearchProvider::Searxng, Some(_)) => "would have no effect: `searxng` is not a model",
        (SearchProvider::Responses, None) => "is missing: the provider `responses` is a model",
        _ => return Ok(()),
    };
    Err(invalid(&["broker", "search", "model"], message.to_string()))
}

/// Refuses to allow what is nowhere: no tool could be given it.
fn check_policy_files(
    config: &AppConfig,
    invalid: &dyn Fn(&[&str], String) -> ConfigError,
) -> Result<(), ConfigError> {
    let policy = config.policy.iter();
    for file in policy.flat_map(|policy| &policy.files) {
        let wanted = Capabilities {
            files: Files::new([file.rule().clone()]),
            ..Capabilities::default()
        };
        if let Some(found) = unbacked(Form::Caller { requests: true }, &wanted, &|_| true) {
            let message = format!(
                "`{}` would have no effect, since no tool finds anything there: {}",
                file.rule(),
                found.instead().replacen("ask for", "allow", 1)
            );
            return Err(invalid(&["policy", "files"], message));
        }
    }
    Ok(())
}

const fn limit_of(error: &LimitError) -> Limit {
    match error {
        LimitError::Zero { limit } | LimitError::AboveCeiling { limit, .. } => *limit,
    }
}

fn bad_abi(abi: u8) -> String {
    format!("invalid `abi` {abi}: expected 1 or 2")
}

/// Why a name cannot be the id of a tool, a server or a topic.
#[derive(Debug, thiserror::Error)]
enum IdError {
    #[error("invalid id: expected 1 to {MAX_ID} bytes without spaces or control characters")]
    Form,
    #[error("invalid server id: expected no dots")]
    Dot,
}

fn check_id(id: &str) -> Result<(), IdError> {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(plain) {
        return Err(IdError::Form);
    }
    Ok(())
}

/// Refuses dots too: `mcp.<server>.<tool>` could not name a server that has one.
fn check_server_id(id: &str) -> Result<(), IdError> {
    check_id(id)?;
    match id.contains('.') {
        true => Err(IdError::Dot),
        false => Ok(()),
    }
}

/// Returns what is set on a tool without effect, where that is not a mistake: `wasm` and `command` may
/// stand where another kind of tool was, and who answers questions waits for a model to answer them.
fn remarks(tool: &ToolConfig) -> Vec<(&'static [&'static str], &'static str)> {
    let mut remarks: Vec<(&[&str], &str)> = Vec::new();
    let local = matches!(tool.source, ToolSource::Local { .. });
    if tool.wasm.is_some() && !local {
        remarks.push((&["wasm"], "ignored: only `local` tools have a Wasm binary"));
    }
    if tool.command.is_some() && !local {
        remarks.push((&["command"], "ignored: only `local` tools have a command"));
    }
    if tool.command.is_some() && tool.wasm().is_some() {
        remarks.push((
            &["command"],
            "ignored: the tool has a Wasm binary, which wins",
        ));
    }
    let asks_model = |question: &QuestionConfig| question.target != QuestionTarget::User;
    if tool.questions.values().any(asks_model) {
        remarks.push((
            &["questions"],
            "`target` has no effect until jp asks models itself: questions go to the person",
        ));
    }
    remarks
}

//! What can only be said about a configuration as a whole: values that do not fit each other.

mod tooling;

use jp_policy::{Ceilings, Limit, LimitError, Net};

use crate::{
    app::AppConfig,
    blame::Blame,
    conversation::tool::{
        Enable, FileGrant, GrantConfig, NetGrant, QuestionConfig, QuestionTarget, ResultMode,
        ToolConfig, ToolSource,
    },
    error::{ConfigError, Problem, Warning},
};

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
        check_id(id).map_err(|message| invalid(&at, message))?;
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
        if let Err((key, message)) = check_grant(tool) {
            let [section, table, id] = at;
            return Err(invalid(&[section, table, id, "grant", key], message));
        }
        for (key, message) in remarks(id, tool) {
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
    check_rest(config, &invalid)?;
    tooling::check(config, blame)?;
    Ok(warnings)
}

fn check_rest(
    config: &AppConfig,
    invalid: &dyn Fn(&[&str], String) -> ConfigError,
) -> Result<(), ConfigError> {
    for (id, server) in &config.providers.mcp {
        // `mcp.<server>.<tool>` could not name a server with a dot.
        let dot = id
            .contains('.')
            .then(|| "a server's id has no dots".to_string());
        let checked = check_id(id).and(dot.map_or(Ok(()), Err));
        checked.map_err(|message| invalid(&["providers", "mcp", id], message))?;
        if let Err((key, message)) = server.check() {
            let at = ["providers", "mcp", id.as_str()];
            let path: Vec<&str> = at.into_iter().chain(key.iter().copied()).collect();
            return Err(invalid(&path, message));
        }
    }
    for id in config.kb.topics.keys() {
        check_id(id).map_err(|message| invalid(&["kb", "topic", id], message))?;
    }
    let memory = config
        .policy
        .as_ref()
        .and_then(|policy| policy.command_memory);
    if memory.is_some_and(|memory| memory.0 == 0) {
        let message = "expected a size above zero; leave it out for the default".to_string();
        return Err(invalid(&["policy", "command_memory"], message));
    }
    if let Some(Err(error)) = config.policy.as_ref().map(|policy| policy.to_policy()) {
        let key = limit_of(&error).key();
        return Err(invalid(&["policy", "limits", key], error.to_string()));
    }
    Ok(())
}

const fn limit_of(error: &LimitError) -> Limit {
    match error {
        LimitError::Zero { limit } | LimitError::AboveCeiling { limit, .. } => *limit,
    }
}

fn bad_abi(abi: u8) -> String {
    format!("{abi} is no version of the calling convention; there are 1 and 2")
}

fn check_id(id: &str) -> Result<(), String> {
    let plain = |c: char| !c.is_control() && !c.is_whitespace();
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(plain) {
        return Err(format!(
            "an id has 1 to {MAX_ID} bytes and no spaces or control characters"
        ));
    }
    Ok(())
}

/// Refuses what a tool of its kind could never be given: a grant must not promise more than holds.
fn check_grant(tool: &ToolConfig) -> Result<(), (&'static str, String)> {
    let net = tool
        .grant
        .net
        .as_ref()
        .map(NetGrant::net)
        .unwrap_or_default();
    let calls = tool.grant.calls.as_ref();
    if tool.wasm().is_some() && !net.is_none() && calls.is_none_or(Vec::is_empty) {
        let message = "a Wasm tool has no network; what it may ask the host to do there it says in `grant.calls`, such as `http.request`";
        return Err(("net", message.to_string()));
    }
    if tool.command().is_some() && matches!(net, Net::Hosts(_)) {
        let message = "a command gets all of the network or none of it: write `true` or `false`";
        return Err(("net", message.to_string()));
    }
    // Commands and servers see files and variables in other ways; a builtin is no guest.
    let guest = matches!(
        tool.source,
        ToolSource::Local { .. } | ToolSource::Registry { .. }
    );
    if (!guest || tool.command().is_some())
        && let Some(key) = guest_only(&tool.grant)
    {
        return Err((key, GUEST_ONLY.to_string()));
    }
    let outside = |grant: &&FileGrant| {
        let path = grant.rule().path.as_str();
        path != "/workspace" && !path.starts_with("/workspace/")
    };
    match tool.grant.files.iter().find(outside) {
        Some(grant) => Err((
            "files",
            format!(
                "`{}` is not in `/workspace`, and nothing else can be granted",
                grant.rule()
            ),
        )),
        None => Ok(()),
    }
}

/// What is said of a key that [`guest_only`] names.
pub(crate) const GUEST_ONLY: &str = "only a Wasm tool can be given this";

/// Returns the first key of a grant that only a Wasm tool can make use of.
pub(crate) fn guest_only(grant: &GrantConfig) -> Option<&'static str> {
    if grant.selected.is_some() {
        return Some("selected");
    }
    (!grant.env.is_empty()).then_some("env")
}

/// Returns what is set on a tool and has no effect.
fn remarks(name: &str, tool: &ToolConfig) -> Vec<(&'static [&'static str], &'static str)> {
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
    let runs = tool.command().is_some() || matches!(tool.source, ToolSource::Mcp { .. });
    if runs && tool.grant.subprocess == Some(false) {
        remarks.push((
            &["grant", "subprocess"],
            "ignored: the tool is itself a command",
        ));
    }
    if matches!(tool.result, Some(ResultMode::Ask | ResultMode::Edit)) {
        remarks.push((
            &["result"],
            "has no effect yet: results are delivered without asking",
        ));
    }
    if matches!(tool.enable, Some(Enable::Explicit | Enable::Always)) {
        remarks.push((&["enable"], "counts as `on` for now"));
    }
    let asks_model = |question: &QuestionConfig| question.target != QuestionTarget::User;
    if tool.questions.values().any(asks_model) {
        remarks.push((
            &["questions"],
            "has no effect yet: questions go to the person",
        ));
    }
    if matches!(tool.source, ToolSource::Registry { .. }) {
        let signed: [(&[&str], bool); 7] = [
            (&["entrypoint"], tool.entrypoint.is_some()),
            (&["abi"], tool.abi.is_some()),
            (&["summary"], tool.summary.is_some()),
            (&["description"], tool.description.is_some()),
            (&["examples"], tool.examples.is_some()),
            (&["parameters"], !tool.parameters.is_empty()),
            (&["grant"], tool.grant != GrantConfig::default()),
        ];
        let set = signed.into_iter().filter(|(_, set)| *set);
        remarks.extend(set.map(|(key, _)| {
            let message = "ignored: the signed manifest of a tool of a registry says this";
            (key, message)
        }));
    }
    if let ToolSource::Builtin { tool: builtin } = &tool.source {
        // The virtual bash alone is given what its configuration asks for.
        let is_bash = builtin.as_deref().unwrap_or(name) == "bash";
        if !tool.parameters.is_empty() {
            remarks.push((&["parameters"], "ignored: a builtin brings its own"));
        }
        let prepared = GrantConfig {
            calls: tool.grant.calls.clone(),
            net: tool.grant.net.clone(),
            ..GrantConfig::default()
        };
        if !is_bash && tool.grant != prepared {
            remarks.push((
                &["grant"],
                "ignored but for `calls` and `net`: a builtin is given what the host prepares",
            ));
        }
    }
    remarks
}

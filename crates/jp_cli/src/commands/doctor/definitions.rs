//! What the workspace itself says: tools that cannot work, trust that is gone, pins that are missing.

use std::path::Path;

use jp_config::{ToolingConfig, tool::ToolSource};
use jp_llm::{
    ToolDefinition, ToolError, Trust,
    registry::SignedProblem,
    tool::{Cause, Misconfigured},
};
use jp_registry::Lock;

use super::{
    Asking, files,
    finding::{Family, Finding, Severity, quoted, word},
    locked::Locked,
};
use crate::{error::CliError, registry, session::Session, ui::Ui};

/// Checks whether the workspace is trusted as it is now.
pub(super) fn trust(session: &Session) -> Option<Finding> {
    (*session.host().trust() == Trust::Stale).then(|| Finding {
        family: Family::Workspace,
        severity: Severity::Note,
        subject: session.location().root.display().to_string(),
        problem: "it has changed since you trusted it, so it is not trusted".to_owned(),
        fix: "jp trust".to_owned(),
    })
}

/// Finds topics of the knowledge base whose directory does not exist.
pub(super) fn topics(session: &Session) -> Vec<Finding> {
    let topics = session.loaded().config.kb.topics.iter();
    let gone = topics.filter_map(|(id, topic)| {
        let dir = topic.subjects().to_path(&session.location().root);
        (topic.enable && !dir.is_dir()).then_some((id, dir))
    });
    gone.map(|(id, dir)| Finding {
        family: Family::Workspace,
        severity: Severity::Warning,
        subject: format!("kb.topic.{id}"),
        problem: format!("its directory {} does not exist", dir.display()),
        fix: format!("mkdir -p {}", quoted(&dir)),
    })
    .collect()
}

/// Checks the tools that are not locked; those of MCP servers only if servers may be contacted.
pub(super) fn tools(
    session: &Session,
    locked: Option<&Locked<'_>>,
    asking: Asking,
    ui: &Ui,
) -> Result<Vec<Finding>, CliError> {
    if asking == Asking::Registries {
        session.ask_and_stop_servers(ui)?;
    }
    let configured = &session.loaded().config.conversation.tools;
    let mut findings = Vec::new();
    for (name, tool) in ToolDefinition::all(session.loaded(), session.host()) {
        let source = configured.find(&name).map(|tool| tool.source().clone());
        let of_server = matches!(source, Some(ToolSource::Mcp { .. }));
        let elsewhere = locked.is_some_and(|locked| locked.lock.get(&name).is_some())
            || session
                .loaded()
                .config
                .tooling
                .get(&name)
                .is_some_and(is_of_registry);
        // No lock file could have it, so nobody else tells of it.
        let shadows = tool.as_ref().is_err_and(|error| {
            matches!(
                error.cause(),
                Cause::Misconfigured(Misconfigured::ToolingShadows { .. })
            )
        });
        if (elsewhere && !shadows) || (of_server && asking == Asking::Nobody) {
            continue;
        }
        match tool {
            Ok(tool) => findings.extend(files::check(session, &tool)),
            Err(error) => findings.push(Finding {
                family: Family::Tools,
                severity: Severity::Error,
                subject: name.clone(),
                problem: error.to_string(),
                fix: match locked {
                    Some(locked) => fix(&name, &error, locked),
                    None => "fix jp.lock first, then: jp doctor".to_owned(),
                },
            }),
        }
    }
    Ok(findings)
}

/// Returns the command that fixes a tool whose definition fails, or the line to write.
pub(super) fn fix(name: &str, error: &ToolError, locked: &Locked<'_>) -> String {
    let configured = &locked.session.loaded().config;
    let tooling = configured.tooling.get(name);
    if let Cause::Signed(problem) = error.cause() {
        match (problem, tooling) {
            (SignedProblem::NotLocked | SignedProblem::Changed { .. }, _) => {
                return "jp tool lock".to_owned();
            }
            (SignedProblem::Key { key, .. }, _) => return locked.trust_command(key, name),
            // The error says what differs; the publisher has to sign it again.
            (SignedProblem::Refused { .. }, Some(ToolingConfig::Custom(tool))) => {
                let (manifest, wasm) = (tool.manifest.as_str(), tool.path.as_str());
                let (manifest, wasm) = (quoted(Path::new(manifest)), quoted(Path::new(wasm)));
                return format!("jp tool verify {manifest} --artifact {wasm}");
            }
            (SignedProblem::Unreadable { .. } | SignedProblem::Refused { .. }, _) => {
                return "jp tool install --locked".to_owned();
            }
            _ => {}
        }
    }
    if let Some(hint) = error.hint() {
        return hint.to_owned();
    }
    let tool = configured.conversation.tools.tools.get(name);
    let table = match tool.map(|tool| &tool.source) {
        Some(ToolSource::Mcp { server, .. }) => format!("[providers.mcp.{server}]"),
        _ => format!("[conversation.tools.{name}]"),
    };
    format!(
        "correct {}, then: jp tool show {}",
        word(&table),
        word(name)
    )
}

const fn is_of_registry(tool: &ToolingConfig) -> bool {
    matches!(tool, ToolingConfig::Registry(_))
}

/// Finds tools that the lock file has from the workspace, but that no longer come with it.
pub(super) fn forgotten(session: &Session, lock: &Lock) -> Vec<Finding> {
    let loaded = session.loaded();
    let gone = lock
        .customs()
        .filter(|tool| !registry::is_brought(tool.name.as_str(), loaded));
    gone.map(|tool| Finding {
        family: Family::Tools,
        severity: Severity::Note,
        subject: format!("{} {}", tool.name, tool.version),
        problem: "`jp.lock` has it, but it no longer comes with the workspace".to_owned(),
        fix: match loaded.config.tooling.contains_key(tool.name.as_str()) {
            true => format!("jp tool remove {} && jp tool lock", tool.name),
            false => "jp tool lock".to_owned(),
        },
    })
    .collect()
}

/// Finds configured tools of MCP servers that are not pinned.
pub(super) fn pins(session: &Session, lock: &Lock) -> Vec<Finding> {
    let tools = session.loaded().config.conversation.tools.tools.iter();
    let unpinned = tools.filter_map(|(name, tool)| match &tool.source {
        // Of all tools of a server some are pinned, or none.
        ToolSource::Mcp { server, tool: None } if name.contains('*') => lock
            .mcp_tools(server)
            .next()
            .is_none()
            .then_some((name, server)),
        ToolSource::Mcp { server, tool } => {
            let called = tool.as_deref().unwrap_or(name);
            let is_pinned = lock.mcp_tools(server).any(|pinned| pinned == called);
            (!is_pinned).then_some((name, server))
        }
        _ => None,
    });
    unpinned
        .map(|(name, server)| Finding {
            family: Family::Tools,
            severity: Severity::Note,
            subject: name.clone(),
            problem: format!("what MCP server `{server}` shows the model is not pinned"),
            fix: "jp tool lock".to_owned(),
        })
        .collect()
}

//! What the workspace itself says: tools that cannot work, trust that is gone, pins that are missing.

use jp_config::tool::ToolSource;
use jp_llm::{ToolDefinition, ToolError, Trust, registry::SignedProblem};
use jp_registry::Lock;

use super::{
    Asking,
    finding::{Family, Finding, Severity},
    locked::Locked,
};
use crate::{error::CliError, session::Session, ui::Ui};

/// Looks at the trust in the workspace.
pub(super) fn trust(session: &Session) -> Option<Finding> {
    (session.host.trust == Trust::Stale).then(|| Finding {
        family: Family::Workspace,
        severity: Severity::Note,
        subject: session.workspace.root.display().to_string(),
        problem: "it has changed since you trusted it, so it is not trusted".to_owned(),
        mend: "jp trust".to_owned(),
    })
}

/// Looks at the tools that are not locked ones; those of MCP servers only if servers may be asked.
pub(super) fn tools(
    session: &Session,
    locked: Option<&Locked<'_>>,
    asking: Asking,
    ui: &Ui,
) -> Result<Vec<Finding>, CliError> {
    if asking == Asking::Registries {
        session.ask_servers(ui)?;
    }
    let configured = &session.loaded.config.conversation.tools.tools;
    let mut findings = Vec::new();
    for (name, tool) in ToolDefinition::all(&session.loaded, &session.host) {
        let source = configured.get(&name).map(|tool| &tool.source);
        let of_server = matches!(source, Some(ToolSource::Mcp { .. }));
        let elsewhere = locked.is_some_and(|locked| locked.lock.get(&name).is_some())
            || session
                .loaded
                .config
                .tooling
                .get(&name)
                .is_some_and(is_of_registry);
        if elsewhere || (of_server && asking == Asking::Nobody) {
            continue;
        }
        if let Err(error) = tool {
            findings.push(Finding {
                family: Family::Tools,
                severity: Severity::Error,
                subject: name.clone(),
                problem: error.to_string(),
                mend: mend(&name, &error, locked),
            });
        }
    }
    Ok(findings)
}

fn mend(name: &str, error: &ToolError, locked: Option<&Locked<'_>>) -> String {
    if let (ToolError::Signed { problem, .. }, Some(locked)) = (error, locked)
        && let SignedProblem::Key { key, .. } = problem.as_ref()
    {
        return locked.trust_command(key, name);
    }
    let hint = error.hint();
    hint.unwrap_or_else(|| format!("jp tool show {name}"))
}

const fn is_of_registry(tool: &jp_config::ToolingConfig) -> bool {
    matches!(tool, jp_config::ToolingConfig::Registry(_))
}

/// Finds configured tools of MCP servers that nobody has pinned.
pub(super) fn pins(session: &Session, lock: &Lock) -> Vec<Finding> {
    let tools = session.loaded.config.conversation.tools.tools.iter();
    let unpinned = tools.filter_map(|(name, tool)| match &tool.source {
        ToolSource::Mcp { server, tool } => {
            let called = tool.as_deref().unwrap_or(name);
            lock.mcp(server, called).is_none().then_some((name, server))
        }
        _ => None,
    });
    unpinned
        .map(|(name, server)| Finding {
            family: Family::Tools,
            severity: Severity::Note,
            subject: name.clone(),
            problem: format!("what MCP server `{server}` shows the model is not pinned"),
            mend: "jp tool lock".to_owned(),
        })
        .collect()
}

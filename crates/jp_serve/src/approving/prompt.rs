//! The question whether a call may run, as a request to a client that the user trusts to show it: a form, and
//! beside it what clients need that show permissions their own way.
//!
//! Every word of it is ours but for names and arguments, which are escaped; whatever a tool asks is labelled
//! with that tool's name instead and never looks like this.

use std::time::Duration;

use jp_host::approvals::RequestId;
use jp_llm::ApprovalRequest;
use rmcp::{
    Peer, RoleServer,
    model::{ClientResult, ServerRequest},
};
use serde_json::{Value, json};

use crate::asking::Wanted;

/// A person has this long to answer.
const PATIENCE: Duration = Duration::from_mins(10);

/// As many characters of the arguments are shown.
const MOST: usize = 4_000;

/// How the keys start that answers to this question come back with. A tool cannot ask under such a key: the
/// rest of it is the id of the request, which it does not know.
const KEY: &str = "jp.approval.";

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Once,
    Workspace,
    No,
    Never,
}

/// Returns the question as a request that ends a call.
pub(super) fn wanted(id: &RequestId, request: &ApprovalRequest<'_>) -> Wanted {
    Wanted::about_approval(key(id), question(request))
}

/// Returns the key that an answer comes back with.
pub(crate) fn key(id: &RequestId) -> String {
    format!("{KEY}{id}")
}

/// Asks while a call waits; nothing when the client did not answer.
pub(super) async fn ask(peer: &Peer<RoleServer>, request: &ApprovalRequest<'_>) -> Option<Said> {
    let question: ServerRequest = serde_json::from_value(question(request)).ok()?;
    let answer = tokio::time::timeout(PATIENCE, peer.send_request(question)).await;
    let answer: ClientResult = answer.ok()?.ok()?;
    Some(said(&serde_json::to_value(&answer).ok()?))
}

/// Reads an answer. Whatever is not clearly a yes is a no.
pub(super) fn said(answer: &Value) -> Said {
    if answer["action"] != "accept" {
        return Said::No;
    }
    match answer["content"]["decision"].as_str() {
        // Some clients show a permission with buttons, and send no form.
        None if answer["content"].get("decision").is_none() => Said::Once,
        Some("once") => Said::Once,
        Some("workspace") => Said::Workspace,
        Some("never") => Said::Never,
        _ => Said::No,
    }
}

fn question(request: &ApprovalRequest<'_>) -> Value {
    let tool = jp_text::shorten(request.tool, 200);
    let tool = jp_text::escape_line(&tool);
    let may = request.grant.capabilities().words();
    let may = match may.is_empty() {
        true => jp_policy::NOTHING.to_owned(),
        false => may.join("; "),
    };
    let may = jp_text::escape_line(&may);
    let arguments = serde_json::to_string(request.arguments).unwrap_or_default();
    let arguments = jp_text::shorten_and_count(&arguments, MOST);
    let arguments = jp_text::escape_line(&arguments);
    let mut text = format!(
        "jp asks: may the tool `{tool}` ({}) run?\nArguments: {arguments}\nIt may: {may}\nScope: this call of {}",
        request.source,
        jp_text::escape_line(request.about.principal),
    );
    if request.unconfined {
        text.push_str(
            "\nWhere the system cannot confine it, it runs with the full authority of your user.",
        );
    }
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": text,
            "requestedSchema": {
                "type": "object",
                "properties": {"decision": {
                    "type": "string",
                    "title": "Decision",
                    "enum": ["once", "workspace", "deny", "never"],
                    "enumNames": [
                        "Once",
                        "In this workspace, until its configuration changes",
                        "No",
                        "Never in this workspace",
                    ],
                    "default": "deny",
                }},
                "required": ["decision"],
            },
            "_meta": {"anthropic/permissionDisplay": {
                "title": format!("Run {tool}?"),
                "displayName": tool,
                "description": text,
            }},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, expected) in [
            (
                json!({"action": "accept", "content": {"decision": "once"}}),
                Said::Once,
            ),
            (
                json!({"action": "accept", "content": {"decision": "workspace"}}),
                Said::Workspace,
            ),
            (json!({"action": "accept", "content": {}}), Said::Once),
            (json!({"action": "accept"}), Said::Once),
            (
                json!({"action": "accept", "content": {"decision": "deny"}}),
                Said::No,
            ),
            (
                json!({"action": "accept", "content": {"decision": "never"}}),
                Said::Never,
            ),
            (
                json!({"action": "accept", "content": {"decision": true}}),
                Said::No,
            ),
            (
                json!({"action": "accept", "content": {"decision": "yes"}}),
                Said::No,
            ),
            (
                json!({"action": "accept", "content": {"decision": null}}),
                Said::No,
            ),
            (
                json!({"action": "decline", "content": {"decision": "once"}}),
                Said::No,
            ),
            (json!({"action": "cancel"}), Said::No),
            (json!({"content": {"decision": "once"}}), Said::No),
            (json!("accept"), Said::No),
            (json!(null), Said::No),
        ] {
            assert_eq!(said(&answer), expected, "{answer}");
        }
    }
}

//! Which server a guest means, and what is made of its answers for the guest.

use std::time::Instant;

use jp_policy::{Capability, HostPattern, Net};
use jp_tool::Content;
use serde_json::{Map, Value, json};
use url::Url;

use super::{Call, GITHUB, Reach, Servers, ToolInfo, errors};
use crate::{CallError, CapabilityCall, Code, Services};

/// Returns the host and port of a server's URL.
pub(super) fn host_of(url: &str) -> Result<HostPattern, CallError> {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(|url| {
        let port = url.port_or_known_default()?;
        format!("{}:{port}", url.host_str()?).parse().ok()
    });
    host.ok_or_else(|| CallError::new(Code::Unavailable, "the URL of the MCP server has no host"))
}

/// A server that a call may use.
pub(super) struct Chosen<'a> {
    pool: &'a Servers,
    id: &'a str,
}

/// Finds the server a guest means; it may leave out the only one.
pub(super) fn choose<'a>(
    services: &'a Services,
    server: Option<&str>,
) -> Result<Chosen<'a>, CallError> {
    let none = || {
        let hint =
            "no MCP server is configured; add `[providers.mcp.NAME]` with a `command` or a `url`";
        CallError::unconfigured(hint)
    };
    let pool = services.mcp.as_deref().ok_or_else(none)?;
    let ids: Vec<&str> = pool.servers().map(|server| server.id.as_str()).collect();
    match (server, ids.as_slice()) {
        (_, []) => Err(none()),
        (None, [id]) => Ok(Chosen { pool, id }),
        (None, _) => {
            let problem = format!("is required, as one of {}", ids.join(", "));
            Err(CallError::invalid("server", &problem))
        }
        (Some(named), _) => match pool.get(named) {
            Some(server) => Ok(Chosen {
                pool,
                id: &server.id,
            }),
            None => {
                let named = jp_text::start(named, 100);
                let message = format!(
                    "there is no MCP server `{named}`; configured: {}",
                    ids.join(", ")
                );
                Err(CallError::new(Code::NotFound, message))
            }
        },
    }
}

/// Finds GitHub's server: its own, or a configured one of that name.
pub(super) fn github(services: &Services) -> Result<Chosen<'_>, CallError> {
    let pools = [services.github.as_deref(), services.mcp.as_deref()];
    let mut found = pools
        .into_iter()
        .flatten()
        .filter(|pool| pool.get(GITHUB).is_some());
    found
        .next()
        .map(|pool| Chosen { pool, id: GITHUB })
        .ok_or_else(|| CallError::unconfigured("GitHub's MCP server is not configured"))
}

impl Chosen<'_> {
    /// A tool that leaves the machine through a server needs the network for it itself.
    fn check_net(&self, call: &CapabilityCall<'_>) -> Result<(), CallError> {
        let Some(Reach::Url(server)) = self.pool.get(self.id).map(|server| &server.reach) else {
            return Ok(());
        };
        let wanted = Net::hosts([host_of(&server.url)?]);
        match call.caller.grant.capabilities().net.missing(&wanted) {
            None => Ok(()),
            Some(host) => {
                let problem = format!(
                    "MCP server '{}' is at {host}, which tool '{}' may not reach",
                    self.id, call.caller.tool
                );
                let setting = Capability::Net(host).setting();
                Err(CallError::host_not_granted(
                    &problem,
                    &setting,
                    &call.caller.tool,
                ))
            }
        }
    }

    pub(super) async fn list(&self, call: &CapabilityCall<'_>) -> Result<Value, CallError> {
        self.check_net(call)?;
        let left = call
            .caller
            .deadline
            .saturating_duration_since(Instant::now());
        let listed = self.pool.list_tools(self.id, &call.caller.cancel);
        let listed = tokio::time::timeout(left, listed).await;
        let listed = listed.map_err(|_| errors::late(self.id))?;
        let tools = listed.map_err(|error| errors::told(&error))?;
        let sent: Vec<Value> = tools.tools.iter().map(ToolInfo::to_json).collect();
        let mut json = json!({ "status": "ok", "server": self.id, "tools": { "tools": sent } });
        if let (false, Some(object)) = (tools.notes.is_empty(), json.as_object_mut()) {
            object.insert("notes".to_owned(), tools.notes.clone().into());
        }
        Ok(json)
    }

    pub(super) async fn call(
        &self,
        call: &CapabilityCall<'_>,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, CallError> {
        self.check_net(call)?;
        let made = Call {
            tool,
            arguments,
            digest: None,
            deadline: call.caller.deadline,
            cancel: &call.caller.cancel,
            max_result: usize::try_from(call.caller.grant.limits().output_bytes)
                .unwrap_or(usize::MAX),
            progress: &|_| {},
        };
        let called = self.pool.call(self.id, &made).await;
        let called = called.map_err(|error| errors::told(&error))?;
        let Content {
            mut parts,
            structured,
        } = called.content;
        if let (true, Some(structured)) = (parts.is_empty(), &structured) {
            // Servers should repeat it as text; of those that do not, this is all there is.
            parts.push(structured.to_string().into());
        }
        let mut result = json!({ "content": parts, "isError": called.is_error });
        if let (Some(structured), Some(object)) = (structured, result.as_object_mut()) {
            object.insert("structuredContent".to_owned(), structured);
        }
        Ok(json!({ "status": "ok", "server": self.id, "result": result }))
    }
}

//! Which server a guest means, and what the guest gets of its answers.

use std::time::Instant;

use jp_policy::{Capability, HostPattern, Net};
use jp_tool::{Content, Part};
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;

use super::{Call, GITHUB, Reach, Servers, ToolInfo, Unasked, errors};
use crate::{CallError, Code, Services, answer::Status, capability::CapabilityCall};

/// Returns the host and port of a server's URL.
pub(super) fn host_of(url: &str) -> Result<HostPattern, CallError> {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(|url| {
        let port = url.port_or_known_default()?;
        format!("{}:{port}", url.host_str()?).parse().ok()
    });
    host.ok_or_else(|| CallError::new(Code::Unavailable, "the URL of the MCP server has no host"))
}

/// The tools of a server.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Listed {
    status: Status,
    server: String,
    tools: ToolList,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ToolList {
    tools: Vec<Value>,
}

/// What a tool of a server returned.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Replied {
    status: Status,
    server: String,
    result: ToolResult,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    #[cfg_attr(test, schemars(with = "Vec<Value>"))]
    content: Vec<Part>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
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
            let message = format!(
                "missing argument `server`: expected one of {}",
                ids.join(", ")
            );
            Err(CallError::new(Code::InvalidArgs, message))
        }
        (Some(named), _) => match pool.get(named) {
            Some(server) => Ok(Chosen {
                pool,
                id: &server.id,
            }),
            None => {
                let named = jp_text::start(named, 100);
                let message = format!(
                    "unknown MCP server `{named}`: expected one of {}",
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

    pub(super) async fn list(&self, call: &CapabilityCall<'_>) -> Result<Listed, CallError> {
        self.check_net(call)?;
        let left = call
            .caller
            .deadline
            .saturating_duration_since(Instant::now());
        let listed = self.pool.list_tools(self.id, &call.caller.cancel);
        let listed = tokio::time::timeout(left, listed).await;
        let listed = listed.map_err(|_| errors::late(self.id))?;
        let tools = listed.map_err(|error| errors::failed(&error))?;
        let sent: Vec<Value> = tools.tools.iter().map(ToolInfo::to_json).collect();
        Ok(Listed {
            status: Status::Ok,
            server: self.id.to_owned(),
            tools: ToolList { tools: sent },
            notes: tools.notes.clone(),
        })
    }

    pub(super) async fn call(
        &self,
        call: &CapabilityCall<'_>,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Replied, CallError> {
        self.check_net(call)?;
        let made = Call {
            tool,
            arguments,
            digest: None,
            deadline: call.caller.deadline,
            cancel: &call.caller.cancel,
            max_result: usize::try_from(call.caller.grant.limits().output_bytes)
                .unwrap_or(usize::MAX),
            trace: None,
            progress: &|_| {},
            // A guest asks the person itself.
            respond: &Unasked,
        };
        let called = self.pool.call(self.id, &made).await;
        let called = called.map_err(|error| errors::failed(&error))?;
        if let Some(form) = called.wants.first() {
            let message = format!("the tool asks for input, which is not passed on: {form}");
            return Err(CallError::new(Code::Unavailable, message));
        }
        let Content {
            mut parts,
            structured,
        } = called.content;
        if let (true, Some(structured)) = (parts.is_empty(), &structured) {
            // Servers should repeat it as text; of those that do not, this is all there is.
            parts.push(structured.to_string().into());
        }
        Ok(Replied {
            status: Status::Ok,
            server: self.id.to_owned(),
            result: ToolResult {
                content: parts,
                is_error: called.is_error,
                structured_content: structured,
            },
        })
    }
}

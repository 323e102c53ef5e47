//! `mcp.*` and `github.*`: the tools of MCP servers, for tools. GitHub's is one server among others,
//! with names of its own. The client under them is `jp_mcp`, whose types are re-exported for code that
//! makes [`Services`].

mod arriving;
mod chosen;
mod errors;
mod exchange;
mod login;

use std::sync::Arc;

use jp_policy::Net;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    CallError, Services,
    arguments::Nothing,
    capability::{Capability, CapabilityCall, Known, Spec},
};
use chosen::{Listed, Replied, choose, github, host_of};

pub use exchange::{McpExchange, SecretSource};
pub use jp_mcp::{
    Algorithm, Call, Called, Checksum, Digest, HttpFailure, HttpFailureKind, HttpServer, Limits,
    McpError, Means, Program, Progress, Reach, Respond, Server, ServerSecrets, Servers, ToolInfo,
    Tools, TraceContext, Unasked,
};
pub use login::{Begun, By, LoggedIn, LoginError, LoginOptions};

/// The id of GitHub's server.
const GITHUB: &str = "github";

/// GitHub's own server.
const GITHUB_URL: &str = "https://api.githubcopilot.com/mcp/";

/// The secret that holds a token for it.
const GITHUB_SECRET: &str = "github_pat";

/// Returns the capabilities of both families.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        Arc::new(ListTools),
        Arc::new(CallTool),
        Arc::new(ListGithubTools),
        Arc::new(CallGithubTool),
    ]
}

/// Makes GitHub's server, for [`Services::github`]: its URL and the name of the secret that holds the
/// token, each as usual if absent.
///
/// # Errors
///
/// When the URL has no host.
pub fn github_server(url: Option<&str>, secret: Option<&str>) -> Result<Server, CallError> {
    let url = url.unwrap_or(GITHUB_URL);
    let host = host_of(url)?;
    let secret = secret.unwrap_or(GITHUB_SECRET);
    Ok(Server {
        id: GITHUB.to_owned(),
        reach: Reach::Url(HttpServer {
            url: url.to_owned(),
            headers: vec![(
                "Authorization".to_owned(),
                format!("Bearer {{{{secret:{secret}}}}}"),
            )],
            net: Net::hosts([host]),
        }),
        startup: Some(std::time::Duration::from_secs(60)),
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// The configured server; not needed if there is only one.
    server: Option<String>,
}

// Guests made for the seed say `method` and `payload` for `tool` and `arguments`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct CallArguments {
    /// The configured server; not needed if there is only one.
    server: Option<String>,
    /// The tool, as list_tools names it.
    #[serde(alias = "method")]
    #[cfg_attr(test, schemars(extend("x-aliases" = ["method"])))]
    tool: String,
    /// What the tool takes.
    #[serde(alias = "payload")]
    #[cfg_attr(test, schemars(extend("x-aliases" = ["payload"])))]
    arguments: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct GithubArguments {
    /// The tool, as list_tools names it.
    tool: String,
    /// What the tool takes.
    arguments: Option<Map<String, Value>>,
}

struct ListTools;

impl Capability for ListTools {
    type Arguments = ListArguments;
    type Reply = Listed;

    fn spec(&self) -> Spec {
        Spec::new("mcp.list_tools", "Lists the tools of an MCP server")
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        ListArguments { server }: ListArguments,
    ) -> Result<Listed, CallError> {
        let chosen = choose(services, server.as_deref())?;
        chosen.list(call).await
    }
}

struct CallTool;

impl Capability for CallTool {
    type Arguments = CallArguments;
    type Reply = Replied;

    fn spec(&self) -> Spec {
        Spec::new("mcp.call", "Calls a tool of an MCP server")
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: CallArguments,
    ) -> Result<Replied, CallError> {
        let chosen = choose(services, arguments.server.as_deref())?;
        let sent = arguments.arguments.unwrap_or_default();
        chosen.call(call, &arguments.tool, sent).await
    }
}

struct ListGithubTools;

impl Capability for ListGithubTools {
    type Arguments = Nothing;
    type Reply = Listed;

    fn spec(&self) -> Spec {
        Spec::new(
            "github.list_tools",
            "Lists the tools of GitHub's MCP server",
        )
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        Nothing {}: Nothing,
    ) -> Result<Listed, CallError> {
        github(services)?.list(call).await
    }
}

struct CallGithubTool;

impl Capability for CallGithubTool {
    type Arguments = GithubArguments;
    type Reply = Replied;

    fn spec(&self) -> Spec {
        Spec::new("github.call_tool", "Calls a tool of GitHub's MCP server")
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        arguments: GithubArguments,
    ) -> Result<Replied, CallError> {
        let sent = arguments.arguments.unwrap_or_default();
        github(services)?.call(call, &arguments.tool, sent).await
    }
}

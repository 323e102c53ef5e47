//! `mcp.*` and `github.*`: the tools of MCP servers, for tools. GitHub's is one server among others,
//! with names of its own. The client under them is `jp_mcp`, whose types are here for whoever makes
//! [`Services`].

mod arriving;
mod chosen;
mod errors;
mod exchange;

use std::sync::Arc;

use async_trait::async_trait;
use jp_policy::Net;
use serde_json::{Map, Value};

use crate::{Answer, CallError, Capability, CapabilityCall, Services, Spec};
use chosen::{Chosen, choose, github, host_of};

pub use exchange::{McpExchange, SecretSource};
pub use jp_mcp::{
    Algorithm, Call, Called, Checksum, Digest, HttpServer, Limits, McpError, Means, Program,
    Progress, Reach, Server, Servers, ToolInfo, Tools,
};

/// The id of GitHub's server.
const GITHUB: &str = "github";

/// GitHub's own server.
const GITHUB_URL: &str = "https://api.githubcopilot.com/mcp/";

/// The secret that holds a token for it.
const GITHUB_SECRET: &str = "github_pat";

/// Returns the capabilities of both families.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        Arc::new(ListTools(Whose::Configured)),
        Arc::new(CallTool(Whose::Configured)),
        Arc::new(ListTools(Whose::Github)),
        Arc::new(CallTool(Whose::Github)),
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

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    server: Option<String>,
}

/// Seed-conformant guests say `method` and `payload` for `tool` and `arguments`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct CallArguments {
    server: Option<String>,
    #[serde(alias = "method")]
    tool: String,
    #[serde(alias = "payload", default)]
    arguments: Option<Map<String, Value>>,
}

/// Whose tools a capability is about.
#[derive(Clone, Copy)]
enum Whose {
    Configured,
    Github,
}

impl Whose {
    /// Finds the server; GitHub's is never chosen by a guest.
    fn choose<'s>(
        self,
        services: &'s Services,
        server: Option<&str>,
    ) -> Result<Chosen<'s>, CallError> {
        match (self, server) {
            (Self::Configured, server) => choose(services, server),
            (Self::Github, None) => github(services),
            (Self::Github, Some(_)) => Err(CallError::invalid(
                "server",
                "is GitHub's, and cannot be another",
            )),
        }
    }
}

struct ListTools(Whose);

#[async_trait]
impl Capability for ListTools {
    fn spec(&self) -> &Spec {
        const SPEC: Spec = Spec {
            name: "mcp.list_tools",
            summary: "Lists the tools of an MCP server",
            arguments: "server",
            result: "{status, server, tools: {tools}, notes?}",
            owner: None,
            scope: None,
        };
        match self.0 {
            Whose::Configured => &SPEC,
            Whose::Github => &Spec {
                name: "github.list_tools",
                summary: "Lists the tools of GitHub's MCP server",
                arguments: "",
                ..SPEC
            },
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: ListArguments = call.arguments()?;
        let chosen = self.0.choose(services, arguments.server.as_deref())?;
        chosen.list(call).await.map(Answer::from)
    }
}

struct CallTool(Whose);

#[async_trait]
impl Capability for CallTool {
    fn spec(&self) -> &Spec {
        const SPEC: Spec = Spec {
            name: "mcp.call",
            summary: "Calls a tool of an MCP server",
            arguments: "server, tool* (or method*), arguments (or payload)",
            result: "{status, server, result: {content, isError, structuredContent?}}",
            owner: None,
            scope: None,
        };
        match self.0 {
            Whose::Configured => &SPEC,
            Whose::Github => &Spec {
                name: "github.call_tool",
                summary: "Calls a tool of GitHub's MCP server",
                arguments: "tool*, arguments",
                ..SPEC
            },
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: CallArguments = call.arguments()?;
        let chosen = self.0.choose(services, arguments.server.as_deref())?;
        let sent = arguments.arguments.unwrap_or_default();
        let answer = chosen.call(call, &arguments.tool, sent).await;
        answer.map(Answer::from)
    }
}

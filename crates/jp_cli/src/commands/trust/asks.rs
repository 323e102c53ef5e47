//! What the tools of a workspace ask for: what a user who trusts it agrees to. Shows nothing.

use jp_config::{
    Layer, Loaded, ToolingConfig,
    tool::{ToolConfig, ToolSource},
};
use jp_llm::{
    Host, Looked, ToolDefinition,
    tool::{Cause, Refused},
};
use serde_json::{Value, json};

use crate::words;

/// What one tool of a workspace asks for.
pub(super) struct Ask {
    pub(super) name: String,
    /// Where it comes from, if it is one that others made and signed.
    pub(super) signed: Option<String>,
    pub(super) command: Option<String>,
    pub(super) wasm: Option<String>,
    /// Why its Wasm file is not pinned, if it is not: what trust gives is not for it.
    pub(super) unpinned: Option<String>,
    pub(super) may: Vec<String>,
    pub(super) run: &'static str,
    pub(super) denied: Option<String>,
    pub(super) net: bool,
}

impl Ask {
    /// Returns it as JSON.
    pub(super) fn json(&self) -> Value {
        json!({"name": self.name, "signed": self.signed, "command": self.command, "wasm": self.wasm,
            "unpinned": self.unpinned, "may": self.may, "run": self.run, "denied": self.denied})
    }
}

/// Collects what the workspace's own tools ask for, as calls in the trusted workspace would get it.
pub(super) fn requests(loaded: &Loaded, host: &Host, looked: &Looked) -> Vec<Ask> {
    let tools = &loaded.config.conversation.tools;
    let ours = tools
        .tools
        .keys()
        .filter(|name| loaded.defined_by(name) == Layer::Workspace);
    ours.map(|name| {
        let config = tools.tools.get(name);
        if let Some(ask) = config.and_then(|config| of_server(name, config)) {
            return ask;
        }
        let ask = of_tool(name, loaded, host);
        // What cannot be made has a file all the same.
        let configured = config.and_then(|tool| tool.wasm()).map(ToString::to_string);
        let wasm = configured.or_else(|| ask.wasm.clone());
        let unpinned = wasm.as_ref().and_then(|path| looked.unpinned.get(path));
        Ask {
            command: config.and_then(|tool| tool.command()).map(words::command),
            unpinned: unpinned.map(ToString::to_string),
            wasm,
            ..ask
        }
    })
    .chain(signed(loaded, host))
    .chain(servers(loaded))
    .collect()
}

/// Says what a tool asks for, whatever runs it.
fn of_tool(name: &str, loaded: &Loaded, host: &Host) -> Ask {
    let made = ToolDefinition::new(name, loaded, host);
    let (may, net) = made.as_ref().map_or((Vec::new(), false), |tool| {
        let wanted = &tool.request.capabilities;
        (words::capabilities(wanted), !wanted.net.is_none())
    });
    let wasm = made.as_ref().ok().and_then(|tool| tool.wasm.clone());
    let preview = made.and_then(|tool| tool.preview(host));
    Ask {
        name: name.to_owned(),
        signed: None,
        command: None,
        wasm,
        unpinned: None,
        may,
        net,
        run: preview
            .as_ref()
            .map_or("never", |preview| words::run_mode(preview.run)),
        denied: preview.err().map(|error| match error.cause() {
            // Nobody has trusted anything yet when this is shown.
            Cause::Refused(Refused::WasmUnseen { .. }) => {
                "it is refused while its Wasm file is not pinned".to_owned()
            }
            _ => error.to_string(),
        }),
    }
}

/// Collects the signed tools that the workspace names, of registries and of its own.
fn signed<'a>(loaded: &'a Loaded, host: &'a Host) -> impl Iterator<Item = Ask> + 'a {
    let ours = loaded.config.tooling.iter().filter(|(name, _)| {
        loaded.defined_by(name) == Layer::Workspace
            // What a conversation says of it was told already.
            && !loaded.config.conversation.tools.tools.contains_key(*name)
    });
    ours.map(|(name, tool)| {
        let from = match tool {
            ToolingConfig::Custom(tool) => {
                format!("{}, which comes with the workspace", tool.path)
            }
            ToolingConfig::Registry(tool) => {
                let id = tool.id.as_deref().unwrap_or(name);
                match &tool.registry {
                    Some(registry) => format!("{id} {} of registry {registry}", tool.version),
                    None => format!("{id} {} of a registry", tool.version),
                }
            }
        };
        Ask {
            signed: Some(from),
            ..of_tool(name, loaded, host)
        }
    })
}

/// Says what is known of a tool of an MCP server before the server was asked: who decides that it runs.
fn of_server(name: &str, config: &ToolConfig) -> Option<Ask> {
    let ToolSource::Mcp { server, .. } = &config.source else {
        return None;
    };
    let run = config.run.map_or("ask", words::run_mode);
    Some(Ask {
        name: name.to_owned(),
        signed: None,
        command: None,
        wasm: None,
        unpinned: None,
        may: vec![format!("do what MCP server {server} does")],
        net: false,
        run,
        denied: None,
    })
}

/// When an MCP server runs.
pub(super) const SERVER: &str = "when one of its tools is looked up or called";

/// Collects the MCP servers that the workspace brings: programs and addresses, which are asked for
/// their tools as soon as somebody wants to know them.
fn servers(loaded: &Loaded) -> impl Iterator<Item = Ask> + '_ {
    let all = loaded.config.providers.mcp.iter();
    let ours = all.filter(|(id, _)| loaded.server_defined_by(id) == Layer::Workspace);
    ours.map(|(id, server)| {
        let wanted = server.request().capabilities;
        let program = server.command.iter().chain(&server.arguments);
        let program: Vec<&str> = program.map(String::as_str).collect();
        let reached = match &server.url {
            Some(url) => url.clone(),
            None => program.join(" "),
        };
        Ask {
            name: format!("MCP server {id}"),
            signed: None,
            command: Some(reached),
            wasm: None,
            unpinned: None,
            may: words::capabilities(&wanted),
            net: !wanted.net.is_none(),
            run: SERVER,
            denied: None,
        }
    })
}

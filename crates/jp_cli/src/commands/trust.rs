//! `jp trust`: lets a workspace ask for commands, the network and unattended runs, as it is now.

mod key;

use std::fmt::Write;

use clap::Args;
use jp_config::{
    Layer, Loaded,
    tool::{ToolConfig, ToolSource},
};
use jp_llm::{Host, ToolDefinition, TrustStore};
use serde_json::{Value, json};

use super::JSON_VERSION;
use crate::{error::CliError, exit::Exit, places, session::Session, text, ui::Ui, words};

/// Arguments of `jp trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
Trust holds for the configuration and the Wasm files as they are now. When one
of them changes, it is gone until you look again.

Examples:
  jp trust            show what this workspace asks for, and trust it
  jp trust --list     the workspaces you trust
  jp trust --forget   take the trust back
  jp trust key        whose signatures count")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TrustArgs {
    /// List the trusted workspaces
    #[arg(long, conflicts_with = "forget")]
    list: bool,
    /// Take the trust in this workspace back
    #[arg(long)]
    forget: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<key::Command>,
}

/// Trusts the workspace, lists the trusted ones, or forgets one.
pub(crate) fn run(args: &TrustArgs, ui: &Ui) -> Result<Exit, CliError> {
    if let Some(key::Command::Key(args)) = &args.command {
        return key::run(args, ui);
    }
    let mut store = TrustStore::open(&places::trust_file()?)?;
    if args.list {
        return list(&store, args, ui);
    }
    if args.forget {
        // A broken configuration must not keep anybody from taking trust back.
        let root = places::Workspace::find(ui.global.dir.as_deref())?.root;
        let known = store.forget(&root)?;
        if args.json {
            ui.json(&json!({"version": JSON_VERSION, "workspace": root, "forgotten": known}))?;
        } else if known {
            ui.say(format_args!("{} is not trusted any more.", root.display()));
        } else {
            ui.say(format_args!("{} was not trusted.", root.display()));
        }
        return Ok(Exit::Done);
    }
    let mut session = Session::open(ui)?;
    if session.loaded.workspace_digest.is_none() {
        let root = session.workspace.root.display();
        return Err(CliError::usage(format!(
            "there is nothing to trust: {root} has no configuration of its own (.jp/config.toml)"
        )));
    }
    store.trust(&session.workspace.root, &session.loaded)?;
    session.host.trust = store.check(&session.workspace.root, &session.loaded);
    let asks = requests(&session.loaded, &session.host);
    if args.json {
        let tools: Vec<Value> = asks.iter().map(Ask::json).collect();
        ui.json(
            &json!({"version": JSON_VERSION, "workspace": session.workspace.root,
            "trusted": true, "tools": tools}),
        )?;
        return Ok(Exit::Done);
    }
    ui.bytes(page(&asks, &session).as_bytes())?;
    warn(&asks, &session, ui);
    Ok(Exit::Done)
}

fn list(store: &TrustStore, args: &TrustArgs, ui: &Ui) -> Result<Exit, CliError> {
    if args.json {
        let all: Vec<&str> = store.iter().map(|(path, _)| path).collect();
        ui.json(&json!({"version": JSON_VERSION, "workspaces": all}))?;
        return Ok(Exit::Done);
    }
    for (path, _) in store.iter() {
        ui.line(text::escape(path))?;
    }
    Ok(Exit::Done)
}

/// What one tool of a workspace asks for.
struct Ask {
    name: String,
    command: Option<String>,
    wasm: Option<String>,
    may: Vec<String>,
    run: &'static str,
    denied: Option<String>,
    net: bool,
}

impl Ask {
    fn json(&self) -> Value {
        json!({"name": self.name, "command": self.command, "wasm": self.wasm, "may": self.may,
            "run": self.run, "denied": self.denied})
    }
}

/// Collects what the workspace's own tools ask for, as calls in the trusted workspace would get it.
fn requests(loaded: &Loaded, host: &Host) -> Vec<Ask> {
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
        let made = ToolDefinition::new(name, loaded, host);
        let (may, net) = made.as_ref().map_or((Vec::new(), false), |tool| {
            let wanted = &tool.request.capabilities;
            (words::capabilities(wanted), !wanted.net.is_none())
        });
        let preview = made.and_then(|tool| tool.preview(host));
        Ask {
            name: name.clone(),
            command: config.and_then(|tool| tool.command()).map(words::command),
            wasm: config.and_then(|tool| tool.wasm()).map(ToString::to_string),
            may,
            net,
            run: preview
                .as_ref()
                .map_or("never", |preview| words::run_mode(preview.run)),
            denied: preview.err().map(|error| error.to_string()),
        }
    })
    .chain(servers(loaded))
    .collect()
}

/// Says what is known of a tool of an MCP server before the server was asked: who decides that it runs.
fn of_server(name: &str, config: &ToolConfig) -> Option<Ask> {
    let ToolSource::Mcp { server, .. } = &config.source else {
        return None;
    };
    let run = config.run.map_or("ask", words::run_mode);
    Some(Ask {
        name: name.to_owned(),
        command: None,
        wasm: None,
        may: vec![format!("do what MCP server {server} does")],
        net: false,
        run,
        denied: None,
    })
}

/// When an MCP server runs.
const SERVER: &str = "when one of its tools is looked up or called";

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
            command: Some(reached),
            wasm: None,
            may: words::capabilities(&wanted),
            net: !wanted.net.is_none(),
            run: SERVER,
            denied: None,
        }
    })
}

fn page(asks: &[Ask], session: &Session) -> String {
    let root = session.workspace.root.display().to_string();
    let mut out = format!("You now trust {} as it is now.\n", text::escape(&root));
    if asks.is_empty() {
        out.push_str("It defines no tools.\n");
    }
    for ask in asks {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n  {}", text::one_line(&ask.name));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(out, "    {name:<8} {value}");
        };
        if let Some(command) = &ask.command {
            line("command", &text::escape(command).replace('\n', "\\n"));
        }
        if let Some(wasm) = &ask.wasm {
            line("wasm", &text::one_line(wasm));
        }
        if !ask.may.is_empty() {
            line("may", &ask.may.join("; "));
        }
        match &ask.denied {
            Some(denied) => line("but", &text::one_line(denied)),
            None => line("runs", asked(ask.run)),
        }
    }
    out
}

fn asked(run: &str) -> &str {
    match run {
        "unattended" => "without asking you",
        "ask" => "after asking you",
        "edit" => "after you could edit the arguments",
        SERVER => SERVER,
        _ => "never",
    }
}

fn warn(asks: &[Ask], session: &Session, ui: &Ui) {
    let host = &session.host;
    if asks.iter().any(|ask| ask.command.is_some()) {
        ui.say("");
        let support = host.launcher.as_ref().map(|launcher| launcher.support());
        match support {
            Some(Ok(())) => ui.warning(
                "commands of this workspace run on this machine, as your user. The system confines \
                 them to what is listed above: no other files of yours, no network unless granted, \
                 nothing left running.",
            ),
            _ if host.unconfined => ui.warning(
                "commands of this workspace run with the FULL AUTHORITY OF YOUR USER: the system \
                 cannot confine them, and your policy says `unconfined = true`.",
            ),
            Some(Err(error)) => {
                ui.warning(&format!("commands will be refused: {error}"));
            }
            None => ui.warning("commands will be refused: this program cannot confine them"),
        }
    }
    if asks.iter().any(|ask| ask.net && ask.denied.is_none()) {
        ui.warning("tools of this workspace may send what they read over the network.");
    }
    ui.hint("`jp trust --forget` takes it back; any change of its configuration does too");
}

//! `jp mcp add`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jp_llm::broker::McpError;
use serde_json::{Value, json};

use super::{
    check_name, file, secrets,
    wanted::{Wanted, Widened, written},
};
use crate::{
    commands::{JSON_VERSION, tool::install::listen},
    error::CliError,
    exit::Exit,
    places, prompt,
    session::{Session, block_on, sources},
    text,
    ui::Ui,
};

/// Arguments of `jp mcp add`.
#[derive(Debug, Args)]
#[command(after_help = "\
A program starts confined: it sees no network and no files of yours unless you
say so. Its tools are called NAME_TOOL, and each call passes your policy, like
that of any other tool. jp starts it once to learn what its tools are.

A value of --env or --header that looks like a secret is kept in the vault
(`jp secret list`); the file has a placeholder for it.

Examples:
  jp mcp add time -- mcp-server-time
  jp mcp add fetch --net -- uvx mcp-server-fetch
  jp mcp add docs --read ~/docs -- docs-server ~/docs
  jp mcp add notes --workspace read -- ./notes-server --root .
  jp mcp add forge --url https://forge.example.com/mcp \\
    --header \"Authorization: Bearer $FORGE_TOKEN\"")]
pub(crate) struct AddArgs {
    /// Its name: a-z, A-Z, 0-9, `-` and `_`
    name: String,
    /// The URL of a server that runs elsewhere
    #[arg(long, conflicts_with = "command", required_unless_present = "command")]
    url: Option<String>,
    /// A header of every request to the URL (may be repeated)
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,
    /// A variable of the program's environment; NAME alone hands yours on (may be repeated)
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with = "url")]
    env: Vec<String>,
    /// Let the program use the network
    #[arg(long, conflicts_with = "url")]
    net: bool,
    /// Let the program read a file or directory beside the workspace (may be repeated)
    #[arg(long, value_name = "PATH", conflicts_with = "url")]
    read: Vec<PathBuf>,
    /// What the program may do with the files of a workspace
    #[arg(long, value_enum, conflicts_with = "url")]
    workspace: Option<Access>,
    /// Write it into the configuration of this workspace, not your own
    #[arg(long)]
    project: bool,
    /// Let your policy allow what the server needs; ask nothing
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What a program may do with the files of a workspace.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Access {
    Read,
    ReadWrite,
}

impl Access {
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read-write",
        }
    }
}

/// Adds a server.
pub(crate) fn run(args: &AddArgs, ui: &Ui) -> Result<Exit, CliError> {
    let mut wanted = wanted(args)?;
    let workspace = places::workspace(ui)?;
    if !args.project {
        wanted.anchor(&workspace.cwd);
    }
    let loaded = jp_config::load(&sources(&workspace, ui))?;
    wanted.refuse_taken(&loaded)?;
    if args.project && !wanted.secrets.is_empty() {
        return Err(CliError::Usage {
            message: "a server of a workspace gets no secrets of yours".to_owned(),
            hint: Some("leave out `--project` to add it to your own configuration".to_owned()),
        });
    }
    secrets::refuse_others(&wanted.secrets)?;
    let policy = loaded.config.policy.clone().unwrap_or_default();
    let mut widened = Widened::default();
    widened.add(&wanted, &policy)?;
    if let Some(words) = widened.words()
        && !args.yes
        && !agreed(&wanted.name, &words, ui)?
    {
        ui.say("Nothing was changed.");
        return Ok(Exit::SaidNo);
    }
    let file = file(args.project, ui)?;
    secrets::keep(&wanted.secrets)?;
    widened.write(&policy)?;
    wanted.write(&file)?;
    ui.say(format_args!(
        "Added MCP server {} to {}.",
        wanted.name,
        written(&file)
    ));
    for kept in &wanted.secrets {
        ui.say(format_args!(
            "Its secret is in the vault, as `{}`.",
            kept.name
        ));
    }
    tell(&wanted, args.json, ui)
}

/// Asks whether the user's policy may allow more.
fn agreed(name: &str, words: &str, ui: &Ui) -> Result<bool, CliError> {
    if !ui.can_ask {
        return Err(CliError::Usage {
            message: format!("MCP server `{name}` needs more than your policy allows: {words}"),
            hint: Some("`--yes` lets your policy allow it".to_owned()),
        });
    }
    let interrupts = listen()?;
    ui.say(format_args!(
        "MCP server {name} needs what your policy does not allow yet. It would let tools whose own \
         grant says so:\n  {words}"
    ));
    Ok(prompt::yes("Allow it? [y/N] ", &interrupts.cancel))
}

/// Reads the command line.
fn wanted(args: &AddArgs) -> Result<Wanted, CliError> {
    check_name(&args.name)?;
    let mut words = args.command.iter();
    let mut wanted = Wanted {
        name: args.name.clone(),
        command: words.next().cloned(),
        arguments: words.cloned().collect(),
        url: args.url.clone(),
        net: args.net,
        workspace: args.workspace.map(Access::word),
        ..Wanted::default()
    };
    for path in &args.read {
        let real = path.canonicalize();
        let real = real.map_err(|source| CliError::at("cannot use", path, source))?;
        wanted.paths.push(real);
    }
    for word in &args.env {
        match word.split_once('=') {
            Some((name, value)) => wanted.set_variable(name, value),
            None => wanted.variables.push(word.clone()),
        }
    }
    for word in &args.header {
        let (name, value) = word.split_once(':').ok_or_else(|| {
            CliError::usage("invalid header: expected `NAME: VALUE`, such as `X-Team: docs`")
        })?;
        wanted.set_header(name.trim(), value.trim());
    }
    let control = |text: &String| text.chars().any(char::is_control);
    if args.command.iter().chain(&args.url).any(control) {
        return Err(CliError::usage(
            "invalid argument: expected no control characters",
        ));
    }
    for kept in &wanted.secrets {
        kept.check()?;
    }
    wanted.config()?;
    Ok(wanted)
}

/// Asks the server for its tools, and shows them.
pub(super) fn tell(wanted: &Wanted, is_json: bool, ui: &Ui) -> Result<Exit, CliError> {
    let told = ask(&wanted.name, ui)?;
    if is_json {
        ui.json(&json(wanted, &told))?;
        return Ok(if told.is_ok() {
            Exit::Done
        } else {
            Exit::SaidNo
        });
    }
    let tools = match told {
        Ok(tools) => tools,
        Err(error) => {
            let hint = match &error {
                McpError::Refused { .. } => "`jp mcp list` says what it needs".to_owned(),
                _ => silent(wanted)?,
            };
            ui.error(&format!("it does not work yet: {error}"), Some(&hint));
            return Ok(Exit::SaidNo);
        }
    };
    let rows: Vec<Vec<String>> = tools
        .iter()
        .map(|(name, summary)| {
            let name = format!("{}_{name}", wanted.name);
            vec![text::one_line(&name), text::short_line(summary, 100)]
        })
        .collect();
    ui.say(format_args!(
        "What it may do: {}. Its tools:",
        wanted.may()?
    ));
    ui.table(&["NAME", "SUMMARY"], &rows)?;
    if let Some((name, _)) = tools.first() {
        ui.hint(&format!(
            "`jp tool show {}_{name}` says what one takes",
            wanted.name
        ));
    }
    Ok(Exit::Done)
}

/// Says what a program that does not work may miss.
fn silent(wanted: &Wanted) -> Result<String, CliError> {
    let name = &wanted.name;
    Ok(match &wanted.command {
        None => format!("`jp mcp remove {name}` takes it out again"),
        Some(_) => format!(
            "it is confined (what it may do: {}); if it misses something, `jp mcp remove {name}` and add it \
             again with --net, --read, --workspace or --env",
            wanted.may()?
        ),
    })
}

/// Names and summaries of the tools of a server.
pub(super) type Told = Vec<(String, String)>;

/// Asks a server for its tools, and ends it.
pub(super) fn ask(name: &str, ui: &Ui) -> Result<Result<Told, McpError>, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let Some(mcp) = session.host().mcp() else {
        return Ok(Ok(Told::new()));
    };
    block_on(async {
        let told = mcp.list(name, &interrupts.cancel).await;
        session.stop_servers().await;
        told.map(|told| {
            let tools = told.tools.iter();
            let tools = tools.map(|tool| {
                let about = tool.description.as_ref().or(tool.title.as_ref());
                let line = about.and_then(|text| text.lines().next());
                (tool.name.clone(), line.unwrap_or_default().to_owned())
            });
            tools.collect()
        })
    })
}

/// Writes what was added for programs.
pub(super) fn json(wanted: &Wanted, told: &Result<Told, McpError>) -> Value {
    let tools = told.as_ref().ok().map(|tools| {
        let tools = tools.iter();
        let tools = tools.map(|(name, summary)| {
            json!({"name": format!("{}_{name}", wanted.name), "summary": summary})
        });
        tools.collect::<Vec<_>>()
    });
    let secrets: Vec<&str> = wanted
        .secrets
        .iter()
        .map(|kept| kept.name.as_str())
        .collect();
    json!({
        "version": JSON_VERSION,
        "name": wanted.name,
        "reached": wanted.reached(),
        "secrets": secrets,
        "tools": tools,
        "error": told.as_ref().err().map(ToString::to_string),
    })
}

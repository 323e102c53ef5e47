//! `jp serve install`: tells an agent or editor of jp's MCP server, in its own configuration file.

mod client;
mod edit;
mod entry;
mod error;
mod file;
mod find;
mod list;
pub(crate) mod read;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use self::{
    client::{Client, Machine},
    edit::{Change, Target},
    entry::Reach,
    error::InstallError,
    file::{Plan, Scope},
    report::Outcome,
};
use crate::{commands::JSON_VERSION, error::CliError, exit::Exit, places, ui::Ui};

/// Arguments of `jp serve install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without CLIENT it lists the clients that were found. The file is edited in
place: comments, order and indentation stay, and a copy of it as it was is kept
beside it. What follows `--` is handed to `jp serve`.

Examples:
  jp serve install                       which clients there are
  jp serve install claude-code           add jp, and show what was changed
  jp serve install codex --print         show it, change nothing
  jp serve install zed --workspace ~/src/app
  jp serve install vscode --project      in .vscode/mcp.json of this project
  jp serve install cursor --http http://127.0.0.1:7777/mcp
  jp serve install --all --remove        take jp out of every client")]
pub(crate) struct InstallArgs {
    /// The client to change
    #[arg(value_enum)]
    client: Option<Client>,
    /// Change every client that was found
    #[arg(long, conflicts_with = "client")]
    all: bool,
    /// Change the file of this project, not your own
    #[arg(long)]
    project: bool,
    /// Take jp out again
    #[arg(long)]
    remove: bool,
    /// Show what would be changed, change nothing
    #[arg(long)]
    print: bool,
    /// Replace or remove an entry of that name that does not start jp
    #[arg(long)]
    force: bool,
    /// The name of the entry
    #[arg(long, default_value = "jp")]
    name: String,
    /// Serve this workspace, wherever the client is started
    #[arg(long, value_name = "DIR", conflicts_with_all = ["http", "remove"])]
    workspace: Option<PathBuf>,
    /// Connect to a jp that runs; the token is read from the variable JP_TOKEN
    #[arg(long, value_name = "URL", conflicts_with_all = ["serve_args", "remove"])]
    http: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Arguments for `jp serve`
    #[arg(last = true, value_name = "ARGS", conflicts_with = "remove")]
    serve_args: Vec<String>,
}

impl InstallArgs {
    /// Says whether an option makes sense for a change alone.
    const fn asks_for_a_change(&self) -> bool {
        self.remove
            || self.print
            || self.force
            || self.project
            || self.workspace.is_some()
            || self.http.is_some()
            || !self.serve_args.is_empty()
    }
}

/// Changes the configuration of clients, or lists them.
pub(crate) fn run(args: &InstallArgs, ui: &Ui) -> Result<Exit, CliError> {
    check(args)?;
    let machine = Machine::of_process();
    let clients = match (args.client, args.all) {
        (Some(client), _) => vec![client],
        (None, true) => find::clients(&machine)
            .iter()
            .map(|found| found.client)
            .collect(),
        (None, false) if args.asks_for_a_change() => {
            let message = "missing CLIENT: expected one, or --all";
            return Err(InstallError::Usage(message.to_owned()).into());
        }
        (None, false) => return list::run(args, &machine, ui),
    };
    if clients.is_empty() {
        return Err(InstallError::NoneFound.into());
    }
    let root = match args.project {
        true => Some(places::workspace(ui)?.root),
        false => None,
    };
    let mut exit = Exit::Done;
    let mut all = Vec::new();
    for client in clients {
        match one(client, args, (&machine, root.as_deref()), ui) {
            Ok(done) => all.push(done),
            Err(error) if args.all => {
                ui.error(&error.to_string(), error.hint().as_deref());
                exit = error.exit();
            }
            Err(error) => return Err(error),
        }
    }
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "clients": all}))?;
    }
    Ok(exit)
}

/// Changes one client; returns what was done for programs.
fn one(
    client: Client,
    args: &InstallArgs,
    (machine, root): (&Machine, Option<&Path>),
    ui: &Ui,
) -> Result<Value, CliError> {
    let (path, scope) = match root {
        Some(root) => (client.project_file(root)?, Scope::Project(root.to_owned())),
        None => (client.user_file(machine)?, Scope::User),
    };
    let facts = client.facts();
    let target = Target {
        format: facts.format,
        section: facts.section,
        name: &args.name,
    };
    let reach = match args.remove {
        true => None,
        false => Some(reach(client, args)?),
    };
    let entry = reach
        .as_ref()
        .map(|reach| entry::entry(client, &args.name, reach));
    let entry = entry.transpose()?;
    let force = args.force;
    let change = match &entry {
        Some(entry) => Change::Add { entry, force },
        None => Change::Remove { force },
    };
    let plan = Plan::make(path, scope, &target, &change)?;
    let backup = match args.print {
        true => None,
        false => plan.write()?,
    };
    let outcome = Outcome {
        client,
        action: action(&plan, &target, &change),
        backup,
        is_print: args.print,
        entry: entry.as_ref(),
        typed: match (&reach, args.project) {
            (Some(reach), false) => entry::typed(client, &args.name, reach),
            _ => None,
        },
        plan: &plan,
    };
    if !args.json {
        outcome.show(reach.as_ref(), ui)?;
    }
    warn(client, args, ui);
    Ok(outcome.json())
}

fn action(plan: &Plan, target: &Target<'_>, change: &Change<'_>) -> &'static str {
    match (plan.after.is_some(), change) {
        (false, _) => "unchanged",
        (true, Change::Remove { .. }) => "removed",
        (true, Change::Add { .. }) if plan.had(target) => "updated",
        (true, Change::Add { .. }) => "added",
    }
}

/// Says how a client reaches jp.
fn reach(client: Client, args: &InstallArgs) -> Result<Reach, InstallError> {
    if let Some(url) = &args.http {
        return Ok(Reach::Http { url: url.clone() });
    }
    let mut words = vec!["serve".to_owned()];
    if let Some(dir) = &args.workspace {
        let invalid = |why: &str| {
            let shown = dir.display();
            InstallError::Usage(format!("invalid workspace {shown}: {why}"))
        };
        let real = dir
            .canonicalize()
            .map_err(|error| invalid(&error.to_string()))?;
        if !real.is_dir() {
            return Err(invalid("expected a directory"));
        }
        words.push("--directory".to_owned());
        words.push(find::text(&real)?);
    }
    words.extend(args.serve_args.iter().cloned());
    Ok(Reach::Program {
        program: find::program(client)?,
        args: words,
        has_workspace: args.workspace.is_some(),
    })
}

/// Refuses what cannot stand in a configuration, or should not.
fn check(args: &InstallArgs) -> Result<(), InstallError> {
    let usage = |message: &str| Err(InstallError::Usage(message.to_owned()));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if args.name.is_empty() || args.name.len() > 64 || !args.name.chars().all(plain) {
        return usage("invalid name: expected at most 64 of a-z, A-Z, 0-9, `-` and `_`");
    }
    if args
        .serve_args
        .iter()
        .any(|word| word.contains(char::is_control))
    {
        return usage("invalid argument: expected no control characters");
    }
    let Some(url) = &args.http else {
        return Ok(());
    };
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '$' | '{' | '}' | '"');
    match host {
        Some(host) if host.contains('@') => usage(
            "invalid URL: expected no user or password in it; the token is read from JP_TOKEN",
        ),
        Some(host) if !host.is_empty() && !url.contains(odd) => Ok(()),
        _ => usage("invalid URL: expected http://HOST/PATH or https://HOST/PATH"),
    }
}

fn warn(client: Client, args: &InstallArgs, ui: &Ui) {
    if args.remove {
        return;
    }
    match client {
        Client::ClaudeDesktop if args.workspace.is_none() => {
            ui.warning(
                "Claude Desktop starts jp outside of any project, where only tools that need no files run",
            );
            ui.hint("jp serve install claude-desktop --workspace DIR");
        }
        Client::Vscode | Client::CopilotCli if args.http.is_some() => ui.warning(
            "not every version of this client reads variables of the environment in headers; if jp \
             answers 401, let the client start jp instead",
        ),
        _ => {}
    }
}

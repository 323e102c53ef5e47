//! `jp mcp import`.

mod convert;

use std::{collections::BTreeMap, fmt::Write, path::Path};

use clap::Args;
use jp_config::PolicyConfig;
use serde_json::{Value, json};

use self::convert::{Converted, Unusable, convert};
use super::{
    add, file, secrets,
    wanted::{Widened, written},
};
use crate::{
    commands::{
        JSON_VERSION,
        serve::install::read::{Configured, clients, configured},
        tool::install::listen,
    },
    error::CliError,
    exit::Exit,
    places, prompt,
    session::sources,
    text,
    ui::Ui,
};

/// Arguments of `jp mcp import`.
#[derive(Debug, Args)]
#[command(after_help = "\
It reads .mcp.json and the other files of this project and of yours in which
Claude Code, Claude Desktop, Codex, Cursor, VS Code, Copilot CLI, Zed, Goose,
Gemini CLI and opencode keep their servers, shows what it would take, and asks.
Those files stay as they are.

Values that look like secrets go to the vault. A program runs confined here:
one that is fetched when it starts (npx, uvx) gets the network if you agree.

Examples:
  jp mcp import                         all that is found
  jp mcp import forge notes             these two
  jp mcp import --from cursor           what Cursor knows
  jp mcp import --yes --net             ask nothing, and allow the network")]
pub(crate) struct ImportArgs {
    /// The servers to take; all unless named
    names: Vec<String>,
    /// Read the files of this client alone (may be repeated)
    #[arg(long, value_name = "CLIENT")]
    from: Vec<String>,
    /// Let programs that are fetched when they start use the network
    #[arg(long)]
    net: bool,
    /// Take them without asking
    #[arg(long)]
    yes: bool,
    /// Show what would be taken, change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A server that was found.
struct Found {
    /// As jp would have it, or why it cannot.
    made: Result<Converted, Unusable>,
    name: String,
    title: &'static str,
    file: String,
}

/// Takes servers over.
pub(crate) fn run(args: &ImportArgs, ui: &Ui) -> Result<Exit, CliError> {
    let known = clients();
    if let Some(wrong) = args
        .from
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(CliError::usage(format!(
            "unknown client `{wrong}`: expected one of {}",
            known.join(", ")
        )));
    }
    let workspace = places::workspace(ui)?;
    let loaded = jp_config::load(&sources(&workspace, ui))?;
    let mut policy = loaded.config.policy.clone().unwrap_or_default();
    let files = configured(Some(&workspace.root), &args.from);
    for file in &files {
        if let Some(problem) = &file.problem {
            ui.warning(&format!("{}: {problem}", file.path.display()));
        }
    }
    let mut found = found(&files, args, (&loaded, &workspace.root));
    if let Some(missing) = args
        .names
        .iter()
        .find(|name| found.iter().all(|one| one.name != **name))
    {
        return Err(CliError::Usage {
            message: format!("no client has an MCP server `{missing}`"),
            hint: Some("`jp mcp import --dry-run` shows those that were found".to_owned()),
        });
    }
    if args.dry_run || (!args.json && !args.yes) || found.iter().any(|one| one.made.is_err()) {
        show(&found, ui)?;
    }
    let fetched = found
        .iter()
        .flat_map(|one| &one.made)
        .filter(|made| made.is_fetched);
    let fetched = fetched.count();
    let taken = found.iter().filter(|one| one.made.is_ok()).count();
    if args.dry_run || taken == 0 {
        if taken == 0 {
            ui.say("There is nothing to take.");
            ui.hint("`jp mcp add NAME -- COMMAND` adds a server of your own");
        }
        if args.json {
            ui.json(&json(&found, &BTreeMap::new()))?;
        }
        return Ok(Exit::Done);
    }
    let Some(net) = agreed(args, taken, fetched, ui)? else {
        ui.say("Nothing was changed.");
        return Ok(Exit::SaidNo);
    };
    for made in found.iter_mut().flat_map(|one| &mut one.made) {
        made.wanted.net = net && made.is_fetched;
    }
    take(&found, &mut policy, args, ui)
}

/// Writes the servers, and asks each for its tools.
fn take(
    found: &[Found],
    policy: &mut PolicyConfig,
    args: &ImportArgs,
    ui: &Ui,
) -> Result<Exit, CliError> {
    let file = file(false, ui)?;
    let made = || found.iter().flat_map(|one| &one.made);
    let mut widened = Widened::default();
    for one in made() {
        widened.add(&one.wanted, policy)?;
    }
    let kept: Vec<_> = made().flat_map(|one| one.wanted.secrets.clone()).collect();
    secrets::refuse_others(&kept)?;
    secrets::keep(&kept)?;
    widened.write(policy)?;
    for one in made() {
        one.wanted.write(&file)?;
    }
    let mut tools = BTreeMap::new();
    for one in made() {
        let wanted = &one.wanted;
        if !args.json {
            ui.say(format_args!(
                "\n{} added to {}.",
                wanted.name,
                written(&file)
            ));
            add::tell(wanted, false, ui)?;
            continue;
        }
        let told = add::ask(&wanted.name, ui)?;
        tools.insert(wanted.name.clone(), add::json(wanted, &told));
    }
    if args.json {
        ui.json(&json(found, &tools))?;
    }
    Ok(Exit::Done)
}

/// Asks whether servers are taken, and whether those that are fetched get the network.
fn agreed(
    args: &ImportArgs,
    taken: usize,
    fetched: usize,
    ui: &Ui,
) -> Result<Option<bool>, CliError> {
    if args.yes {
        return Ok(Some(args.net));
    }
    if !ui.can_ask {
        return Err(CliError::Usage {
            message: "nobody can be asked whether to take these servers".to_owned(),
            hint: Some("`--yes` takes them without asking".to_owned()),
        });
    }
    let interrupts = listen()?;
    let these = if taken == 1 {
        "this server"
    } else {
        "these servers"
    };
    if !prompt::yes(&format!("Take {these}? [y/N] "), &interrupts.cancel) {
        return Ok(None);
    }
    if fetched == 0 || args.net {
        return Ok(Some(args.net));
    }
    let question = format!(
        "{fetched} of them fetch their program when they start. Your policy would let programs use the \
         network where their own grant says so (policy.net = true).\nAllow that? [y/N] "
    );
    Ok(Some(prompt::yes(&question, &interrupts.cancel)))
}

/// Finds the servers that are meant. Of several with one name the first counts, which is the one that
/// clients would use.
fn found(
    files: &[Configured],
    args: &ImportArgs,
    (loaded, root): (&jp_config::Loaded, &Path),
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for file in files {
        for (name, entry) in &file.servers {
            if !args.names.is_empty() && !args.names.contains(name) {
                continue;
            }
            let made = convert(name, entry).and_then(|mut made| {
                made.wanted.anchor(root);
                made.wanted
                    .refuse_taken(loaded)
                    .map_err(|error| error.to_string())?;
                Ok(made)
            });
            let same = |other: &Found| match (&other.made, &made) {
                (Ok(other), Ok(made)) => other.wanted.name == made.wanted.name,
                _ => false,
            };
            let made = match found
                .iter()
                .find(|other| same(other))
                .map(|other| &other.made)
            {
                Some(Ok(other)) if made.as_ref().is_ok_and(|made| made.wanted == other.wanted) => {
                    continue;
                }
                Some(_) => {
                    Err("another one of that name is taken already; `--from` chooses".into())
                }
                None => made,
            };
            found.push(Found {
                made,
                name: name.clone(),
                title: file.title,
                file: written(&file.path),
            });
        }
    }
    found
}

/// Shows what was found.
fn show(found: &[Found], ui: &Ui) -> Result<(), CliError> {
    let mut out = String::new();
    let mut from = "";
    for one in found {
        if one.file != from {
            from = &one.file;
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{} ({})", one.title, one.file);
        }
        match &one.made {
            Err(reason) => {
                let name = text::one_line(&one.name);
                let _ = writeln!(
                    out,
                    "  {name}: not taken: {}",
                    text::one_line(&reason.to_string())
                );
            }
            Ok(made) => {
                let _ = writeln!(out, "  {}: {}", made.wanted.name, made.wanted.reached());
                for secret in &made.wanted.secrets {
                    let _ = writeln!(out, "    a secret goes to the vault, as `{}`", secret.name);
                }
                for note in &made.notes {
                    let _ = writeln!(out, "    note: {}", text::one_line(note));
                }
            }
        }
    }
    ui.write(&out);
    Ok(())
}

fn json(found: &[Found], tools: &BTreeMap<String, Value>) -> Value {
    let servers = found.iter().map(|one| {
        let mut shown = json!({"name": one.name, "client": one.title, "file": one.file});
        match &one.made {
            Err(reason) => shown["refused"] = json!(reason.to_string()),
            Ok(made) => {
                shown["reached"] = json!(made.wanted.reached());
                shown["notes"] = json!(made.notes);
                shown["added"] = tools.get(&made.wanted.name).cloned().unwrap_or_default();
            }
        }
        shown
    });
    json!({"version": JSON_VERSION, "servers": servers.collect::<Vec<_>>()})
}

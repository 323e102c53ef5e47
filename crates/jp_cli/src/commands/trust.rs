//! `jp trust`: lets a workspace ask for commands, the network and unattended runs, as it is now.

mod asks;
mod key;

use std::{collections::BTreeSet, fmt::Write};

use clap::Args;
use jp_llm::{Looked, TrustStore};
use serde_json::{Value, json};

use self::asks::{Ask, SERVER, requests};
use super::{JSON_VERSION, tool::install::listen};
use crate::{
    error::CliError,
    exit::Exit,
    places,
    session::{Session, block_on},
    text,
    ui::Ui,
};

/// Arguments of `jp trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
Trust holds for the configuration and the Wasm files as they are now. When one
of them changes, it is gone until you look again, and a Wasm file that comes
later is not trusted.

Examples:
  jp trust --dry-run  show what this workspace asks for, and change nothing
  jp trust            show it, and trust the workspace
  jp trust --list     the workspaces you trust
  jp trust --forget   stop trusting this one
  jp trust key        whose signatures count")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TrustArgs {
    /// List the trusted workspaces
    #[arg(long, conflicts_with_all = ["forget", "dry_run"])]
    list: bool,
    /// Stop trusting this workspace
    #[arg(long)]
    forget: bool,
    /// Show what would be trusted, change nothing
    #[arg(long, conflicts_with = "forget")]
    dry_run: bool,
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
    let mut store = TrustStore::open(&places::own().trust_file()?)?;
    if args.list {
        return list(&store, args, ui);
    }
    if args.forget {
        return forget(&mut store, args, ui);
    }
    let session = Session::open(ui)?;
    if session.loaded().workspace_digest.is_none() {
        let root = session.location().root.display();
        return Err(CliError::usage(format!(
            "there is nothing to trust: {root} has no configuration of its own (.jp/config.toml)"
        )));
    }
    let looked = if args.dry_run {
        Looked::at(&session.location().root, session.loaded())
    } else {
        store.trust(&session.location().root, session.loaded())?
    };
    let known = store.check(&session.location().root, session.loaded());
    // What it asks for is shown as it would be with the trust.
    let session = session.trusted_as(looked.trust());
    let asks = requests(session.loaded(), session.host(), &looked);
    if !args.dry_run {
        listed_once(ui)?;
    }
    if args.json {
        let tools: Vec<Value> = asks.iter().map(Ask::json).collect();
        ui.json(
            &json!({"version": JSON_VERSION, "workspace": session.location().root,
            "trusted": known.is_trusted(), "dry_run": args.dry_run, "tools": tools}),
        )?;
        return Ok(Exit::Done);
    }
    let root = session.location().root.display().to_string();
    let root = text::escape(&root);
    let (said, hint) = if args.dry_run {
        let said = format!("{root} would be trusted as it is now; nothing was changed.");
        (said, "`jp trust` trusts it")
    } else {
        let said = format!("You now trust {root} as it is now.");
        let hint = "`jp trust --forget` revokes that; so does any change of its configuration";
        (said, hint)
    };
    ui.bytes(page(&said, &asks).as_bytes())?;
    warn(&asks, &session, ui);
    ui.hint(hint);
    Ok(Exit::Done)
}

/// Asks the servers for their tools of which one entry configures all, where nobody knows yet which those
/// are: no front starts a server to list them.
fn listed_once(ui: &Ui) -> Result<(), CliError> {
    // Opened anew: servers of the workspace may be used from now on.
    let session = Session::open(ui)?;
    let Some(mcp) = session.host().mcp() else {
        return Ok(());
    };
    let families = session.loaded().config.conversation.tools.families();
    let untold: BTreeSet<&str> = families
        .map(|family| family.server)
        .filter(|server| mcp.told(server).is_none())
        .collect();
    if untold.is_empty() {
        return Ok(());
    }
    let interrupts = listen()?;
    let problems = block_on(async {
        let mut problems = Vec::new();
        for server in untold {
            problems.extend(mcp.list(server, &interrupts.cancel).await.err());
        }
        session.stop_servers().await;
        problems
    })?;
    for problem in problems {
        ui.warning(&problem.to_string());
    }
    Ok(())
}

fn forget(store: &mut TrustStore, args: &TrustArgs, ui: &Ui) -> Result<Exit, CliError> {
    // A broken configuration must not keep anybody from taking trust back.
    let root = places::workspace(ui)?.root;
    let known = store.forget(&root)?;
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "workspace": root, "forgotten": known}))?;
    } else if known {
        ui.say(format_args!("{} is no longer trusted.", root.display()));
    } else {
        ui.say(format_args!("{} was not trusted.", root.display()));
    }
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

fn page(said: &str, asks: &[Ask]) -> String {
    let mut out = format!("{said}\n");
    if asks.is_empty() {
        out.push_str("It defines no tools.\n");
    }
    for ask in asks {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n  {}", text::one_line(&ask.name));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(out, "    {name:<8} {value}");
        };
        if let Some(from) = &ask.signed {
            line("signed", &text::one_line(from));
        }
        if let Some(command) = &ask.command {
            line("command", &text::escape_line(command));
        }
        if let Some(wasm) = &ask.wasm {
            line("wasm", &text::one_line(wasm));
        }
        if let Some(unpinned) = &ask.unpinned {
            line("unpinned", &text::one_line(unpinned));
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
    let host = session.host();
    if asks.iter().any(|ask| ask.command.is_some()) {
        ui.say("");
        let support = host.launcher().map(|launcher| launcher.support());
        match support {
            Some(Ok(())) => ui.warning(
                "commands of this workspace run on this machine, as your user. The system confines \
                 them to what is listed above: no other files of yours, no network unless granted, \
                 nothing left running.",
            ),
            _ if host.unconfined() => ui.warning(
                "commands of this workspace run with the FULL AUTHORITY OF YOUR USER: the system \
                 cannot confine them, and your policy says `unconfined = true`.",
            ),
            Some(Err(error)) => {
                ui.warning(&format!("commands will be refused: {error}"));
            }
            None => ui.warning("commands will be refused: this program cannot confine them"),
        }
    }
    let unpinned = asks.iter().filter(|ask| ask.unpinned.is_some()).count();
    if unpinned > 0 {
        let files = if unpinned == 1 { "file" } else { "files" };
        ui.warning(&format!(
            "{unpinned} Wasm {files} could not be pinned: a file that is put there later gets nothing that trust \
             gives until you run `jp trust` again."
        ));
    }
    if asks.iter().any(|ask| ask.net && ask.denied.is_none()) {
        ui.warning("tools of this workspace may send what they read over the network.");
    }
}

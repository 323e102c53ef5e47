//! `jp tool search` and `jp tool outdated`: what registries offer.

use clap::Args;
use jp_registry::install::Mode;
use serde_json::{Value, json};

use super::install::{listen, warn};
use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    registry::{self, Accept},
    session::Session,
    table::table,
    text,
    ui::Ui,
};

/// Arguments of `jp tool search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jp tool search pdf
  jp tool search ''      everything there is")]
pub(crate) struct SearchArgs {
    /// A word of its name or description
    #[arg(value_name = "WORD")]
    word: String,
    /// Ask no registry: look at what they last said
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp tool outdated`.
#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 1 when there is something to do.

Examples:
  jp tool outdated
  jp tool outdated --json")]
pub(crate) struct OutdatedArgs {
    /// Ask no registry: look at what they last said
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const fn mode(offline: bool) -> Mode {
    if offline { Mode::Offline } else { Mode::Normal }
}

/// Lists the tools whose name or description has a word.
pub(crate) fn search(args: &SearchArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let mode = mode(args.offline);
    let installer = registry::installer(&session, mode, Accept::Ask, &interrupts.cancel, ui)?;
    if installer.registries.is_empty() {
        return Err(no_registries());
    }
    let hits = installer.search(&args.word).map_err(CliError::install)?;
    if args.json {
        let hits: Vec<Value> = hits
            .iter()
            .map(|hit| {
                json!({
                    "id": hit.id.as_str(),
                    "version": hit.newest.to_string(),
                    "registry": hit.registry,
                    "summary": hit.summary,
                    "deprecated": hit.deprecated,
                    "installed": hit.locked.as_ref().map(ToString::to_string),
                })
            })
            .collect();
        ui.json(&json!({"version": JSON_VERSION, "tools": hits}))?;
        return Ok(Exit::Done);
    }
    if hits.is_empty() {
        ui.say("No registry has such a tool.");
        return Ok(Exit::SaidNo);
    }
    let rows = hits.iter().map(|hit| {
        let mark = match (&hit.locked, &hit.deprecated) {
            (_, Some(_)) => "deprecated".to_owned(),
            (Some(version), None) => format!("has {version}"),
            (None, None) => String::new(),
        };
        vec![
            hit.id.to_string(),
            hit.newest.to_string(),
            text::one_line(&hit.registry),
            mark,
            text::shorten(&text::one_line(&hit.summary), 80).into_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let header = ["ID", "NEWEST", "REGISTRY", "HERE", "SUMMARY"];
    ui.bytes(table(&header, &rows).as_bytes())?;
    Ok(Exit::Done)
}

/// Lists the tools that are not what they could be.
pub(crate) fn outdated(args: &OutdatedArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let mode = mode(args.offline);
    let installer = registry::installer(&session, mode, Accept::Ask, &interrupts.cancel, ui)?;
    let (found, warnings) = installer.outdated().map_err(CliError::install)?;
    for warning in &warnings {
        warn(warning, ui);
    }
    let exit = if found.is_empty() {
        Exit::Done
    } else {
        Exit::SaidNo
    };
    if args.json {
        let tools: Vec<Value> = found
            .iter()
            .map(|one| {
                json!({
                    "name": one.tool.name.as_str(),
                    "version": one.tool.version.to_string(),
                    "newer": one.newer.as_ref().map(ToString::to_string),
                    "deprecated": one.deprecated,
                    "revoked": one.revoked,
                })
            })
            .collect();
        ui.json(&json!({"version": JSON_VERSION, "tools": tools}))?;
        return Ok(exit);
    }
    if found.is_empty() {
        ui.say("Everything is up to date.");
        return Ok(exit);
    }
    let rows = found.iter().map(|one| {
        let about = match (&one.revoked, &one.deprecated) {
            (Some(reason), _) => format!("revoked: {reason}"),
            (None, Some(reason)) => format!("deprecated: {reason}"),
            (None, None) => String::new(),
        };
        vec![
            one.tool.name.to_string(),
            one.tool.version.to_string(),
            one.newer
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            text::shorten(&text::one_line(&about), 100).into_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    ui.bytes(table(&["NAME", "HERE", "NEWEST", "ABOUT"], &rows).as_bytes())?;
    ui.hint("`jp tool update` brings the newest versions");
    Ok(exit)
}

fn no_registries() -> CliError {
    CliError::Usage {
        message: "your configuration names no registry".to_owned(),
        hint: Some(
            "add one to your own configuration: [registries.NAME] with a `url`, `dir` or `oci`, and its `key`"
                .to_owned(),
        ),
    }
}

//! `jp tool search` and `jp tool outdated`: what registries offer.

use clap::Args;
use jp_registry::{Mode, Outdated};
use semver::Version;
use serde_json::{Value, json};

use super::{install::listen, installed::warn};
use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    registry::{self, Accept},
    session::Session,
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
    /// Do not contact registries; use what they last said
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp tool outdated`.
#[derive(Debug, Args)]
#[command(after_help = "\
Lists the tools of jp.lock that have a newer version, are deprecated or were
revoked. WANTED is the newest version that fits what [tooling] asks for, and
where `jp tool update` goes; NEWEST is the newest there is. The exit code is 1
when there is something to do: a version that [tooling] keeps out is not. Tools
that come with the workspace are in no registry, and not listed.

Examples:
  jp tool outdated
  jp tool outdated --json | jq -r '.tools[].name'")]
pub(crate) struct OutdatedArgs {
    /// Do not contact registries; use what they last said
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
        return Err(registry::no_registries());
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
        ui.say("No registry has a matching tool. `jp tool search ''` lists all tools.");
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
    ui.table(&header, &rows)?;
    Ok(Exit::Done)
}

/// Lists the tools that are not what they could be.
pub(crate) fn outdated(args: &OutdatedArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let interrupts = listen()?;
    let mode = mode(args.offline);
    let installer = registry::installer(&session, mode, Accept::Ask, &interrupts.cancel, ui)?;
    if registry::has_locked(&session)? {
        registry::refuse_without(&installer)?;
    }
    let (found, warnings) = installer.outdated(None).map_err(CliError::install)?;
    for warning in &warnings {
        warn(warning, ui);
    }
    let due = found.iter().any(Outdated::is_due);
    let exit = if due { Exit::SaidNo } else { Exit::Done };
    if args.json {
        let tools: Vec<Value> = found
            .iter()
            .map(|one| {
                json!({
                    "name": one.tool.name.as_str(),
                    "version": one.tool.version.to_string(),
                    "fits": one.fits,
                    "newer": one.newer.as_ref().map(ToString::to_string),
                    "newest": one.newest.as_ref().map(ToString::to_string),
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
        for tool in registry::brought(session.loaded())? {
            ui.say(format_args!(
                "{} comes with the workspace: no registry has a newer one.",
                tool.name
            ));
        }
        return Ok(exit);
    }
    let rows = found.iter().map(|one| {
        let about = match (&one.revoked, &one.deprecated) {
            (Some(reason), _) => format!("revoked: {reason}"),
            (None, Some(reason)) => format!("deprecated: {reason}"),
            (None, None) if !one.fits => "does not fit [tooling]".to_owned(),
            (None, None) => String::new(),
        };
        let here = &one.tool.version;
        // Without another one, what is here is it; unless it may not be used.
        let good = one.revoked.is_none().then_some(here);
        let stays = good.filter(|_| one.fits);
        let version = |version: Option<&Version>| version.map(ToString::to_string);
        vec![
            one.tool.name.to_string(),
            here.to_string(),
            version(one.newer.as_ref().or(stays)).unwrap_or_else(|| "none".to_owned()),
            version(one.newest.as_ref().or(good)).unwrap_or_else(|| "none".to_owned()),
            text::shorten(&text::one_line(&about), 100).into_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    ui.table(&["NAME", "HERE", "WANTED", "NEWEST", "ABOUT"], &rows)?;
    if found.iter().any(|one| one.newer.is_some()) {
        ui.hint("`jp tool update` brings the newest versions that fit");
    } else if !due {
        ui.hint("what is newer does not fit [tooling]; `jp tool update` follows a change there");
    }
    // Nothing to move to: only the person can decide to do without.
    let stuck = |one: &&Outdated| one.revoked.is_some() || !one.fits;
    let mut stuck = found.iter().filter(stuck);
    if let Some(one) = stuck.find(|one| one.newer.is_none()) {
        let name = &one.tool.name;
        ui.hint(&format!(
            "where WANTED is none, the registry offers no version to move to; `jp tool remove {name}` removes it"
        ));
    }
    Ok(exit)
}

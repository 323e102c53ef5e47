//! `jp serve install` without a client: which are there, and what to type.

use serde_json::{Value, json};

use super::{
    InstallArgs,
    client::{Client, Machine},
    edit::{self, Target},
    find,
    report::shown,
};
use crate::{commands::JSON_VERSION, error::CliError, exit::Exit, ui::Ui};

/// Lists the clients that were found.
pub(super) fn run(args: &InstallArgs, machine: &Machine, ui: &Ui) -> Result<Exit, CliError> {
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for found in find::clients(machine) {
        let client = found.client;
        let file = client.user_file(machine)?;
        let has = has_jp(client, &file, &args.name);
        let state = match has {
            Some(true) => "yes",
            Some(false) => "no",
            None => "cannot be read",
        };
        rows.push(vec![client.id().to_owned(), state.to_owned(), shown(&file)]);
        all.push(
            json!({"client": client.id(), "title": client.facts().title, "file": file,
            "found": found.by, "installed": has}),
        );
    }
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "clients": Value::Array(all)}))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        ui.say("No client was found on this machine.");
        ui.hint(
            "`jp serve install CLIENT` adds jp to one that was never started; --help names them",
        );
        return Ok(Exit::Done);
    }
    ui.table(&["CLIENT", "HAS JP", "FILE"], &rows)?;
    ui.hint("`jp serve install CLIENT` adds jp to one of them, `jp serve install --all` to each");
    Ok(Exit::Done)
}

/// Says whether a client has an entry of the name that is jp's; nothing is said of a file that cannot be read.
fn has_jp(client: Client, file: &std::path::Path, name: &str) -> Option<bool> {
    let facts = client.facts();
    let target = Target {
        format: facts.format,
        section: facts.section,
        name,
    };
    let bytes = super::file::bytes(file).ok()?.unwrap_or_default();
    let entry = edit::entry(&String::from_utf8(bytes).ok()?, &target).ok()?;
    Some(entry.is_some_and(|entry| edit::merge::is_ours(&entry)))
}

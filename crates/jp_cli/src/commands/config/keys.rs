//! `jp config get`, `why`, `unset` and `edit`: one key, and the file itself.

use std::{fs, path::Path};

use clap::Args;
use jp_config::{Layer, Said, Sources, origins};
use serde_json::{Value, json};

use super::{JSON_VERSION, file, internal};
use crate::{
    commands::init::shown, edit as editor, error::CliError, exit::Exit, places, session::sources,
    text, ui::Ui,
};

/// Arguments of `jp config get`.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The key: words with dots between them
    key: String,
    /// Also show which layers set it, and where
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp config why`.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The key: words with dots between them
    key: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp config unset`.
#[derive(Debug, Args)]
pub(crate) struct UnsetArgs {
    /// The keys to remove
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    /// Change your own configuration, not the workspace's
    #[arg(long)]
    user: bool,
}

/// Arguments of `jp config edit`.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Edit your own configuration, not the workspace's
    #[arg(long)]
    user: bool,
}

/// Prints the value of a key.
pub(super) fn get(args: &GetArgs, ui: &Ui) -> Result<Exit, CliError> {
    let sources = sources(&places::workspace(ui)?, ui);
    let key = jp_config::key(&args.key)?;
    let loaded = jp_config::load(&sources)?;
    let config = serde_json::to_value(&loaded.config).map_err(|error| internal(&error))?;
    let value = key.iter().try_fold(&config, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    });
    let said = origins(&sources, &key)?;
    if args.json {
        ui.json(
            &json!({"version": JSON_VERSION, "key": args.key, "value": value,
            "layers": layers(&said)}),
        )?;
        return Ok(if value.is_some() {
            Exit::Done
        } else {
            Exit::SaidNo
        });
    }
    match value {
        Some(Value::String(text)) => ui.result(&format!("{text}\n"))?,
        Some(value) => ui.result(&format!("{value:#}\n"))?,
        None => {
            ui.say(format_args!("`{}` is not set.", text::one_line(&args.key)));
            return Ok(Exit::SaidNo);
        }
    }
    if args.verbose {
        tell(&said, ui);
    }
    Ok(Exit::Done)
}

/// Prints which layers set a key.
pub(super) fn why(args: &WhyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let sources = sources(&places::workspace(ui)?, ui);
    let said = origins(&sources, &jp_config::key(&args.key)?)?;
    if args.json {
        ui.json(&json!({"version": JSON_VERSION, "key": args.key, "layers": layers(&said)}))?;
    } else if said.is_empty() {
        let key = text::one_line(&args.key);
        ui.say(format_args!(
            "No layer sets `{key}`; what holds is the default."
        ));
    } else {
        let last = said.len().saturating_sub(1);
        let rows: Vec<Vec<String>> = said
            .iter()
            .enumerate()
            .map(|(at, one)| row(one, at == last))
            .collect();
        ui.table(&["", "LAYER", "PLACE", "VALUE"], &rows)?;
        ui.say("Lowest layer first; what the last one says wins, and is marked with *.");
    }
    Ok(if said.is_empty() {
        Exit::SaidNo
    } else {
        Exit::Done
    })
}

fn row(said: &Said, wins: bool) -> Vec<String> {
    let value = said.value.as_ref();
    let value = value.map_or_else(|| "unset".to_owned(), Value::to_string);
    vec![
        if wins { "*" } else { "" }.to_owned(),
        whose(said).to_owned(),
        place(said),
        text::short_line(&value, 200),
    ]
}

/// Says on standard error where a value comes from: standard output is the value.
fn tell(said: &[Said], ui: &Ui) {
    for one in said.iter().rev() {
        ui.say(format_args!("# {} ({})", place(one), whose(one)));
    }
    if said.is_empty() {
        ui.say("# the default");
    }
}

const fn whose(said: &Said) -> &'static str {
    match said.layer {
        Layer::User => "you",
        Layer::Workspace => "workspace",
    }
}

fn place(said: &Said) -> String {
    match (&said.place.origin, said.place.line) {
        (jp_config::Origin::File(path), Some(line)) => format!("{}:{line}", shown(path)),
        _ => text::one_line(&said.place.to_string()),
    }
}

fn layers(said: &[Said]) -> Value {
    let layers = said.iter().map(|said| {
        json!({"layer": whose(said), "place": said.place.to_string(), "line": said.place.line,
            "value": said.value})
    });
    layers.collect()
}

/// Removes keys from a file.
pub(super) fn unset(args: &UnsetArgs, ui: &Ui) -> Result<Exit, CliError> {
    let workspace = places::workspace(ui)?;
    let file = file(args.user, &workspace)?;
    let sources = sources(&workspace, ui);
    let mut exit = Exit::Done;
    for key in &args.keys {
        let path = jp_config::key(key)?;
        let shown_key = text::one_line(key);
        if jp_config::holds(&file, &path)? {
            jp_config::unset(&file, &path)?;
            ui.say(format_args!("Removed `{shown_key}` from {}.", shown(&file)));
            continue;
        }
        exit = Exit::SaidNo;
        ui.say(format_args!("{} does not set `{shown_key}`.", shown(&file)));
        if let Some(said) = origins(&sources, &path)?.last() {
            let user = match said.layer {
                Layer::User if !args.user => " --user",
                _ => "",
            };
            ui.hint(&format!(
                "{} sets it: `jp config unset{user} {key}`",
                place(said)
            ));
        }
    }
    warn(&sources, ui);
    Ok(exit)
}

/// Opens a file in the person's editor.
pub(super) fn edit(args: &EditArgs, ui: &Ui) -> Result<Exit, CliError> {
    let workspace = places::workspace(ui)?;
    let file = file(args.user, &workspace)?;
    let Some(program) = editor::editor() else {
        return Err(CliError::Usage {
            message: "no editor is chosen: neither VISUAL nor EDITOR is set".to_owned(),
            hint: Some(format!(
                "`EDITOR=nano jp config edit`, or open {} yourself",
                shown(&file)
            )),
        });
    };
    let before = read(&file)?;
    let failed = |source| CliError::at("cannot edit", &file, source);
    let written = editor::edit(&program, &before, ".toml").map_err(failed)?;
    if written == before {
        ui.say("Nothing was changed.");
        return Ok(Exit::Done);
    }
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(|source| CliError::at("cannot make", dir, source))?;
    }
    let held = jp_disk::Held::take(&file).map_err(failed)?;
    if read(&file)? != before {
        let changed = std::io::Error::other("another program changed it meanwhile");
        return Err(failed(changed));
    }
    held.replace(written.as_bytes()).map_err(failed)?;
    ui.say(format_args!("Changed {}.", shown(&file)));
    warn(&sources(&workspace, ui), ui);
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<String, CliError> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|source| CliError::at("cannot read", file, source)),
    }
}

/// Says so if the configuration cannot be read any more.
fn warn(sources: &Sources, ui: &Ui) {
    if let Err(error) = jp_config::load(sources) {
        ui.warning(&format!("the configuration is now invalid: {error}"));
        ui.hint("`jp config edit` opens the file again");
    }
}

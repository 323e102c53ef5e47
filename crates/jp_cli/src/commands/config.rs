//! `jp config`: the merged configuration, changes to it, and its schema.

mod keys;

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use jp_config::{ConfigError, Loaded, Problem, Sources};
use jp_host::Location;
use serde_json::json;

use super::JSON_VERSION;
use crate::{error::CliError, exit::Exit, places, session::sources, text, ui::Ui};

/// The verbs of `jp config`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the merged configuration, and the files it comes from
    #[command(after_help = "Examples:\n  jp config show\n  jp config show --json | jq .files")]
    Show(ShowArgs),
    /// Print the value of a key
    #[command(
        after_help = "Examples:\n  jp config get policy.net\n  jp config get -v conversation.tools.bash"
    )]
    Get(keys::GetArgs),
    /// Print which layers set a key, and in which line of which file
    #[command(after_help = "Examples:\n  jp config why policy.net")]
    Why(keys::WhyArgs),
    /// Remove a key from the workspace's configuration, or from your own
    #[command(after_help = "Examples:\n  jp config unset --user policy.net")]
    Unset(keys::UnsetArgs),
    /// Open the workspace's configuration, or your own, in your editor
    #[command(after_help = "Examples:\n  jp config edit --user")]
    Edit(keys::EditArgs),
    /// Set a key in the workspace's configuration, or in your own
    #[command(after_help = "\
Examples:
  jp config set conversation.tools.read.run=ask
  jp config set --user policy.workspace=read
  jp config set 'conversation.tools.x.limits:={\"time\": 500}'")]
    Set(SetArgs),
    /// Print the JSON Schema of configuration files, for editors
    #[command(after_help = "Examples:\n  jp config schema > jp.schema.json")]
    Schema,
}

/// Arguments of `jp config show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp config set`.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// key=value, key:=json, key+=value (adds to a list) or a JSON object
    #[arg(value_name = "KEY=VALUE", required = true)]
    assignments: Vec<String>,
    /// Change your own configuration, not the workspace's
    #[arg(long)]
    user: bool,
}

/// Runs a verb.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    match command {
        Command::Show(args) => show(args, ui),
        Command::Get(args) => keys::get(args, ui),
        Command::Why(args) => keys::why(args, ui),
        Command::Unset(args) => keys::unset(args, ui),
        Command::Edit(args) => keys::edit(args, ui),
        Command::Set(args) => set(args, ui),
        Command::Schema => {
            ui.line(format_args!("{:#}", jp_config::json_schema()))?;
            Ok(Exit::Done)
        }
    }
}

fn show(args: &ShowArgs, ui: &Ui) -> Result<Exit, CliError> {
    let workspace = places::workspace(ui)?;
    let loaded = jp_config::load(&sources(&workspace, ui))?;
    let Loaded {
        config,
        files,
        warnings,
        ..
    } = &loaded;
    for warning in warnings {
        ui.warning(&warning.to_string());
    }
    if args.json {
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let value = serde_json::to_value(config).map_err(|error| internal(&error))?;
        ui.json(
            &json!({"version": JSON_VERSION, "files": files, "warnings": warnings,
            "config": value}),
        )?;
        return Ok(Exit::Done);
    }
    let mut shown = String::new();
    for file in files {
        let path = file.display().to_string();
        shown.push_str(&format!("# from {}\n", text::one_line(&path)));
    }
    if files.is_empty() {
        shown.push_str("# no configuration files; these are the defaults\n");
    }
    let toml = toml::to_string_pretty(config).map_err(|error| internal(&error))?;
    if !toml.is_empty() {
        shown.push('\n');
        shown.push_str(&toml);
    }
    ui.result(&shown)?;
    Ok(Exit::Done)
}

fn internal(error: &dyn std::error::Error) -> CliError {
    CliError::System {
        what: "cannot print the configuration".to_owned(),
        source: std::io::Error::other(error.to_string()),
    }
}

fn set(args: &SetArgs, ui: &Ui) -> Result<Exit, CliError> {
    let workspace = places::workspace(ui)?;
    if !args.user {
        for assignment in &args.assignments {
            refuse_policy(assignment)?;
        }
    }
    let file = file(args.user, &workspace)?;
    refuse_invalid(&args.assignments, &sources(&workspace, ui))?;
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(|source| CliError::at("cannot make", dir, source))?;
    }
    for assignment in &args.assignments {
        jp_config::set(&file, assignment)?;
    }
    ui.say(format_args!("changed {}", file.display()));
    // The file by itself is right; together with the others it may not be.
    if let Err(error) = jp_config::load(&sources(&workspace, ui)) {
        ui.warning(&format!("the configuration is now invalid: {error}"));
    }
    Ok(Exit::Done)
}

/// Returns the file that is changed.
fn file(user: bool, workspace: &Location) -> Result<PathBuf, CliError> {
    match user {
        true => Ok(places::own().needed_config_dir()?.join("config.toml")),
        false => workspace_file(&workspace.root),
    }
}

/// Returns the file of a workspace that is changed.
pub(crate) fn workspace_file(root: &Path) -> Result<PathBuf, CliError> {
    let file = root.join(".jp").join("config.toml");
    refuse_link(root, &file)?;
    Ok(file)
}

/// Refuses a file that a link of the workspace leads to: it could be the user's own.
fn refuse_link(root: &Path, file: &Path) -> Result<(), CliError> {
    let is_link = |path: &Path| {
        path.symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
    };
    let linked = file
        .ancestors()
        .take_while(|above| *above != root)
        .find(|path| is_link(path));
    match linked {
        Some(link) => Err(CliError::usage(format!(
            "{} is a symbolic link; the configuration of a workspace is only changed in place",
            link.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses assignments, taken together, that would make a valid configuration invalid. They are tried as
/// those of a command line; one that is invalid already may need several commands to be valid again.
fn refuse_invalid(assignments: &[String], sources: &Sources) -> Result<(), CliError> {
    if jp_config::load(sources).is_err() {
        return Ok(());
    }
    let mut with = sources.clone();
    with.assignments.extend_from_slice(assignments);
    match jp_config::load(&with) {
        Ok(_) => Ok(()),
        // What only the user's own file may hold no command line may; for other files it is refused above.
        Err(ConfigError {
            problem: Problem::OutsideUser { .. },
            ..
        }) => Ok(()),
        Err(error) => Err(CliError::Usage {
            message: format!(
                "nothing was changed, because the configuration would be invalid: {error}"
            ),
            hint: Some(
                "set keys that need each other in one command: jp config set KEY=VALUE KEY=VALUE"
                    .to_owned(),
            ),
        }),
    }
}

/// Refuses a policy for the workspace's file. Read as an assignment of the command line, which may
/// not hold one either, so that no spelling of the key slips past.
fn refuse_policy(assignment: &str) -> Result<(), CliError> {
    let alone = Sources {
        cwd: PathBuf::from("/"),
        assignments: vec![assignment.to_owned()],
        ..Sources::default()
    };
    match jp_config::load(&alone) {
        Err(
            error @ ConfigError {
                problem: Problem::OutsideUser { .. },
                ..
            },
        ) => Err(error.into()),
        _ => Ok(()),
    }
}

//! `jp secret`: keys that tools use and never see.

use std::io::{self, IsTerminal, Read};

use clap::{Args, Subcommand};
use jp_llm::broker::{Audience, Secret, SecretInfo, SecretName, SecretStore, SecretValue};
use serde_json::json;

use super::JSON_VERSION;
use crate::{clock, error::CliError, exit::Exit, places, prompt, table::table, ui::Ui};

/// The largest value that is read.
const MAX_VALUE: u64 = 64 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep a secret; its value is read from the terminal without echo, or from standard input
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// List the names of the secrets, and who they are for
    #[command(after_help = "Examples:\n  jp secret list\n  jp secret list --json | jq .secrets")]
    List(ListArgs),
    /// Forget a secret
    #[command(after_help = "Examples:\n  jp secret rm forge")]
    Rm(RmArgs),
}

const SET_EXAMPLES: &str = "\
Examples:
  jp secret set github_pat --for https://api.github.com
  pass show forge | jp secret set forge --for https://forge.example.com/api

A tool that is granted `secrets.get.github_pat` gets a placeholder, which
`http.request` fills into a header for the addresses named by `--for` and for no
others. The value is never shown, unless you set `--reveal` and grant
`secrets.reveal.github_pat` besides.";

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name: a-z, 0-9, `_` and `-`
    name: String,
    /// An address it may be sent to, such as `https://host/path` (may be repeated)
    #[arg(long = "for", value_name = "URL", required = true)]
    audience: Vec<String>,
    /// Let tools see the value that are granted `secrets.reveal.NAME`
    #[arg(long)]
    reveal: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Its name
    name: String,
}

/// Runs one of the commands.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    let store = jp_llm::broker::open_secrets(&places::broker()?).map_err(CliError::broker)?;
    match command {
        Command::Set(args) => set(args, &store, ui),
        Command::List(args) => list(args, &store, ui),
        Command::Rm(args) => rm(args, &store, ui),
    }
}

fn set(args: &SetArgs, store: &SecretStore, ui: &Ui) -> Result<Exit, CliError> {
    let name = parse_name(&args.name)?;
    let audience: Result<Vec<Audience>, _> = args.audience.iter().map(|url| url.parse()).collect();
    let audience = audience.map_err(usage)?;
    for url in args
        .audience
        .iter()
        .filter(|url| !url.starts_with("https:"))
    {
        ui.warning(&format!(
            "{url}: whoever is on the way there can read the secret"
        ));
    }
    let value = read_value(&args.name)?;
    if value.iter().any(u8::is_ascii_control) {
        let message = "the value has control characters, and no header could carry it";
        return Err(CliError::usage(message));
    }
    let secret = Secret {
        name: name.clone(),
        value: SecretValue::new(value).map_err(usage)?,
        audience,
        reveal: args.reveal,
        created: clock::unix(),
    };
    store.set(&secret).map_err(CliError::broker)?;
    ui.say(format_args!("Kept `{}`.", name.as_str()));
    Ok(Exit::Done)
}

/// Reads the value from where no history and no list of processes shows it.
fn read_value(name: &str) -> Result<Vec<u8>, CliError> {
    let input = io::stdin();
    if input.is_terminal() {
        return prompt::hidden(&format!("Value of `{name}`: "));
    }
    let mut value = Vec::new();
    let read = input.lock().take(MAX_VALUE + 1).read_to_end(&mut value);
    read.map_err(|source| CliError::System {
        what: "cannot read the value".to_owned(),
        source,
    })?;
    if value.len() as u64 > MAX_VALUE {
        return Err(CliError::usage(format!(
            "the value has more than {MAX_VALUE} bytes"
        )));
    }
    // `echo` and editors end a line; no key does.
    if value.last() == Some(&b'\n') {
        value.pop();
        if value.last() == Some(&b'\r') {
            value.pop();
        }
    }
    Ok(value)
}

fn list(args: &ListArgs, store: &SecretStore, ui: &Ui) -> Result<Exit, CliError> {
    let secrets = store.list().map_err(CliError::broker)?;
    if args.json {
        let secrets: Vec<_> = secrets.iter().map(to_json).collect();
        ui.json(&json!({ "version": JSON_VERSION, "secrets": secrets }))?;
        return Ok(Exit::Done);
    }
    if secrets.is_empty() {
        ui.say("No secrets. `jp secret set NAME --for URL` keeps one.");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = secrets.iter().map(row).collect();
    let header = ["NAME", "FOR", "SHOWN", "SET"];
    ui.bytes(table(&header, &rows).as_bytes())?;
    Ok(Exit::Done)
}

fn row(info: &SecretInfo) -> Vec<String> {
    let shown = if info.reveal { "when granted" } else { "never" };
    let created = u64::try_from(info.created).unwrap_or_default();
    vec![
        info.name.as_str().to_owned(),
        addresses(info).join(", "),
        shown.to_owned(),
        clock::utc(created.saturating_mul(1000)),
    ]
}

fn to_json(info: &SecretInfo) -> serde_json::Value {
    json!({
        "name": info.name.as_str(),
        "for": addresses(info),
        "reveal": info.reveal,
        "created": info.created,
    })
}

fn addresses(info: &SecretInfo) -> Vec<String> {
    info.audience.iter().map(ToString::to_string).collect()
}

fn rm(args: &RmArgs, store: &SecretStore, ui: &Ui) -> Result<Exit, CliError> {
    let name = parse_name(&args.name)?;
    if store.remove(&name).map_err(CliError::broker)? {
        ui.say(format_args!("Forgot `{}`.", name.as_str()));
        return Ok(Exit::Done);
    }
    ui.say(format_args!("There is no secret `{}`.", name.as_str()));
    Ok(Exit::SaidNo)
}

fn parse_name(text: &str) -> Result<SecretName, CliError> {
    text.parse().map_err(usage)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
fn usage(error: impl ToString) -> CliError {
    CliError::usage(error.to_string())
}

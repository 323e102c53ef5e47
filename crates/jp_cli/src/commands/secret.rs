//! `jp secret`: keys that tools use and never see.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Read},
};

use clap::{Args, Subcommand, ValueEnum};
use jp_llm::broker::{
    Audience, BrokerPlaces, KeyPlace, Moved, Secret, SecretInfo, SecretName, SecretStore,
    SecretValue, open_secrets, open_vault,
};
use serde_json::json;

use super::{JSON_VERSION, tool::install::listen};
use crate::{clock, error::CliError, exit::Exit, places, prompt, table::table, ui::Ui};

/// The largest value that is read.
const MAX_VALUE: u64 = 64 * 1024;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Store a secret; its value is read from the terminal without echo, or from standard input
    #[command(after_help = SET_EXAMPLES)]
    Set(SetArgs),
    /// List the names of the secrets, and who they are for
    #[command(after_help = "Examples:\n  jp secret list\n  jp secret list --json | jq .secrets")]
    List(ListArgs),
    /// Delete a secret
    #[command(after_help = "Examples:\n  jp secret rm forge")]
    Rm(RmArgs),
    /// Move the key that opens the secrets to the keyring, or from there to a file
    #[command(after_help = MOVE_EXAMPLES)]
    MoveKey(MoveArgs),
}

const SET_EXAMPLES: &str = "\
Examples:
  jp secret set github_pat --for https://api.github.com
  pass show forge | jp secret set forge --for https://forge.example.com/api

A tool that is granted `secrets.get.github_pat` gets a placeholder, which
`http.request` fills into a header for the addresses named by `--for` and for no
others. The value is never shown, unless you set `--reveal` and grant
`secrets.reveal.github_pat` besides.";

const MOVE_EXAMPLES: &str = "\
Examples:
  jp secret move-key --to keyring
  jp secret move-key --to file      # for jobs that run without your desktop

The key is removed from the old place once it was read back from the new one. A
new key goes to the keyring of your desktop session, if there is one and
it is unlocked; JP_KEYRING=off keeps jp from asking it. `jp secret list` says
where the key is.";

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name: a-z, 0-9, `_` and `-`
    name: String,
    /// An address it may be sent to, such as `https://host/path`, or `mcp:SERVER` (may be repeated)
    #[arg(long = "for", value_name = "URL", required = true)]
    audience: Vec<String>,
    /// Let tools see the value that are granted `secrets.reveal.NAME`
    #[arg(long)]
    reveal: bool,
    /// What was meant as the value; accepted so that no message repeats it
    #[arg(hide = true, value_name = "VALUE")]
    misplaced: Vec<OsString>,
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

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Where to move the key
    #[arg(long, value_enum)]
    to: To,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum To {
    /// The keyring of the desktop session
    Keyring,
    /// A file in the configuration directory that only you can read
    File,
}

/// Runs one of the commands.
pub(crate) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    let places = places::own().broker()?;
    let store = open_secrets(&places).map_err(CliError::broker)?;
    match command {
        Command::Set(args) => set(args, &store, ui),
        Command::List(args) => list(args, &store, &places, ui),
        Command::Rm(args) => rm(args, &store, ui),
        Command::MoveKey(args) => move_key(args, &places, ui),
    }
}

fn set(args: &SetArgs, store: &SecretStore, ui: &Ui) -> Result<Exit, CliError> {
    let name = parse_name(&args.name)?;
    if !args.misplaced.is_empty() {
        return Err(CliError::Usage {
            message: "a value on the command line stays in the shell's history and is seen by \
                      others: it is read from standard input, or asked for on the terminal"
                .to_owned(),
            hint: Some("if it was a real one, take it out of the history".to_owned()),
        });
    }
    let audience: Result<Vec<Audience>, _> = args.audience.iter().map(|url| url.parse()).collect();
    let audience = audience.map_err(usage)?;
    for url in args
        .audience
        .iter()
        .filter(|url| !url.starts_with("https:") && !url.starts_with("mcp:"))
    {
        ui.warning(&format!(
            "{url}: the connection is not encrypted, so others on the network can read the secret"
        ));
    }
    let Some(value) = read_value(&args.name)? else {
        return Ok(Exit::Cancelled);
    };
    if value.trim_ascii().is_empty() {
        return Err(CliError::usage(match value.is_empty() {
            true => "missing value: it is read from standard input, or asked for on the terminal",
            false => "invalid value: it is only white space",
        }));
    }
    if value.iter().any(u8::is_ascii_control) {
        let message = "invalid value: control characters cannot be sent in a header";
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

/// Reads the value from where no history and no list of processes shows it; nothing after Ctrl-C.
fn read_value(name: &str) -> Result<Option<Vec<u8>>, CliError> {
    let input = io::stdin();
    if input.is_terminal() {
        let interrupts = listen()?;
        return prompt::hidden(&format!("Value of `{name}`: "), &interrupts.cancel);
    }
    let mut value = Vec::new();
    let read = input.lock().take(MAX_VALUE + 1).read_to_end(&mut value);
    read.map_err(|source| CliError::System {
        what: "cannot read the value".to_owned(),
        source,
    })?;
    if value.len() as u64 > MAX_VALUE {
        return Err(CliError::usage(format!(
            "value too long: expected at most {MAX_VALUE} bytes"
        )));
    }
    // `echo` and editors end a line; no key does.
    if value.last() == Some(&b'\n') {
        value.pop();
        if value.last() == Some(&b'\r') {
            value.pop();
        }
    }
    Ok(Some(value))
}

fn list(
    args: &ListArgs,
    store: &SecretStore,
    places: &BrokerPlaces,
    ui: &Ui,
) -> Result<Exit, CliError> {
    let secrets = store.list().map_err(CliError::broker)?;
    let key = open_vault(places).and_then(|vault| vault.key_place());
    let key = key.map_err(CliError::broker)?;
    if args.json {
        let secrets: Vec<_> = secrets.iter().map(to_json).collect();
        let key = key.map(|place| match place {
            KeyPlace::File => "file",
            KeyPlace::Keyring => "keyring",
        });
        ui.json(&json!({ "version": JSON_VERSION, "secrets": secrets, "key": key }))?;
        return Ok(Exit::Done);
    }
    if let Some(place) = key {
        ui.say(format_args!("The key is in {}.", name_place(place, places)));
    }
    if secrets.is_empty() {
        ui.say("No secrets. `jp secret set NAME --for URL` stores one.");
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

fn move_key(args: &MoveArgs, places: &BrokerPlaces, ui: &Ui) -> Result<Exit, CliError> {
    let to = match args.to {
        To::Keyring => KeyPlace::Keyring,
        To::File => KeyPlace::File,
    };
    let place = name_place(to, places);
    // A key on its way arrives: one Ctrl-C waits for it.
    let _interrupts = listen()?;
    let moved = open_vault(places).and_then(|vault| vault.move_key(to));
    match moved.map_err(CliError::broker)? {
        Moved::Moved => ui.say(format_args!("The key is in {place} now.")),
        Moved::CopyLeft { problem } => {
            ui.say(format_args!("The key is in {place} now."));
            ui.warning(&format!(
                "the keyring still has a copy of it, since {problem}; delete `jp: the key of its \
                 secrets` in the keyring's own program"
            ));
        }
        Moved::AlreadyThere => ui.say(format_args!("The key is in {place} already.")),
        Moved::NoKey => {
            ui.say("There is no key yet: it is made with the first secret.");
            return Ok(Exit::SaidNo);
        }
    }
    Ok(Exit::Done)
}

fn name_place(place: KeyPlace, places: &BrokerPlaces) -> String {
    match place {
        KeyPlace::File => places.secrets.key.display().to_string(),
        KeyPlace::Keyring => "the keyring".to_owned(),
    }
}

fn parse_name(text: &str) -> Result<SecretName, CliError> {
    text.parse().map_err(usage)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
fn usage(error: impl ToString) -> CliError {
    CliError::usage(error.to_string())
}

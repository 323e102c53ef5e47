//! `jp serve token`: who else may use a server over HTTP.

use std::{path::Path, time::Duration};

use clap::{Args, Subcommand};
use jp_config::PolicyConfig;
use jp_serve::{Holder, Tokens, TokensError};
use serde_json::{Value, json};

use crate::{
    clock,
    commands::{JSON_VERSION, grants},
    error::CliError,
    exit::Exit,
    places,
    ui::Ui,
};

/// The largest policy that is read.
const MAX_POLICY: u64 = 1024 * 1024;

/// The longest life of a token that can be asked for.
const MAX_DAYS: u64 = 36_500;

/// The verbs of `jp serve token`.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Let somebody in, with a token that is shown once
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArgs),
    /// List who has tokens
    #[command(after_help = "Examples:\n  jp serve token list\n  jp serve token list --json")]
    List(ListArgs),
    /// Make a new token for somebody; the one before is good for a while yet
    #[command(after_help = ROTATE_EXAMPLES)]
    Rotate(RotateArgs),
    /// Let somebody in no longer
    #[command(after_help = "Examples:\n  jp serve token rm ci")]
    Rm(RmArgs),
}

const ADD_EXAMPLES: &str = "\
Examples:
  jp serve token add ci --policy read-only --expires 30d
  jp serve token add phone --policy ~/.config/jp/phone.toml

The file holds what the holder may do at most, in the keys of `[policy]` of
your own configuration. Nobody gets more than your own `[policy]` allows. A
holder has tasks, results, rows and audit records of its own. Running servers
follow at once.";

const ROTATE_EXAMPLES: &str = "\
Examples:
  jp serve token rotate ci                  the old one is good for another day
  jp serve token rotate ci --grace 0s       the old one ends now
  jp serve token rotate ci --expires 30d";

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// The name that tasks, results, rows and audit records belong to
    name: String,
    /// What the holder may do at most: `read-only`, or a file with the keys of `[policy]`; without it,
    /// what your own `[policy]` allows
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// When the token ends, such as `30d` or `12h`; never unless set
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires: Option<Duration>,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RotateArgs {
    /// Whose token it is
    name: String,
    /// How long the token before stays good
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1d")]
    grace: Duration,
    /// When the new token ends, such as `30d` or `12h`; never unless set
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires: Option<Duration>,
}

#[derive(Debug, Args)]
pub(super) struct RmArgs {
    /// Whose tokens are removed
    name: String,
}

/// Runs one of the verbs.
pub(super) fn run(command: &Command, ui: &Ui) -> Result<Exit, CliError> {
    let tokens = Tokens::at(&places::own().serve_tokens()?);
    match command {
        Command::Add(args) => add(&tokens, args, ui),
        Command::List(args) => list(&tokens, args, ui),
        Command::Rotate(args) => {
            let made = tokens.rotate(&args.name, args.grace, args.expires);
            shown(&made.map_err(failed)?, ui)
        }
        Command::Rm(args) => {
            tokens.remove(&args.name).map_err(failed)?;
            ui.say(format_args!("`{}` is let in no longer.", args.name));
            start_with_nothing(&args.name, ui)?;
            Ok(Exit::Done)
        }
    }
}

fn add(tokens: &Tokens, args: &AddArgs, ui: &Ui) -> Result<Exit, CliError> {
    if args.name == jp_host::principal() {
        let message = format!(
            "invalid name `{}`: that is you; your own token is printed when a server starts",
            args.name
        );
        return Err(CliError::usage(message));
    }
    let policy = args.policy.as_deref().map(policy).transpose()?;
    let made = tokens.add(&args.name, policy, args.expires);
    let made = made.map_err(failed)?;
    start_with_nothing(&args.name, ui)?;
    shown(&made, ui)
}

/// Forgets what was decided about a holder, so that nobody who gets the name later has it.
fn start_with_nothing(name: &str, ui: &Ui) -> Result<(), CliError> {
    match grants::forget(name)? {
        0 => {}
        count => ui.say(format_args!(
            "{count} of your decisions about calls of `{name}` were taken back."
        )),
    }
    Ok(())
}

/// Prints a token alone on standard output, so that it can be piped to where it is kept.
fn shown(token: &str, ui: &Ui) -> Result<Exit, CliError> {
    ui.line(token)?;
    ui.say("The token is shown only now. Clients send it as `Authorization: Bearer TOKEN`.");
    Ok(Exit::Done)
}

fn list(tokens: &Tokens, args: &ListArgs, ui: &Ui) -> Result<Exit, CliError> {
    let holders = tokens.list().map_err(failed)?;
    if args.json {
        let holders: Vec<Value> = holders.iter().map(to_json).collect();
        ui.json(&json!({"version": JSON_VERSION, "tokens": holders}))?;
        return Ok(Exit::Done);
    }
    if holders.is_empty() {
        ui.say("Nobody but you has a token.");
        ui.hint("`jp serve token add NAME` makes one");
        return Ok(Exit::Done);
    }
    let now = clock::now();
    let mut rows = Vec::new();
    for holder in &holders {
        let policy = match holder.policy {
            Some(_) => "its own",
            None => "yours",
        };
        for (made, ends) in &holder.tokens {
            let ends = match ends {
                None => "never".to_owned(),
                Some(ends) if *ends <= now => format!("{} (ended)", clock::utc(*ends)),
                Some(ends) => clock::utc(*ends),
            };
            rows.push(vec![
                holder.name.clone(),
                policy.to_owned(),
                clock::utc(*made),
                ends,
            ]);
        }
    }
    ui.table(&["NAME", "POLICY", "MADE (UTC)", "ENDS (UTC)"], &rows)?;
    Ok(Exit::Done)
}

fn to_json(holder: &Holder) -> Value {
    let tokens = holder.tokens.iter();
    let tokens: Vec<Value> = tokens
        .map(|(made, ends)| json!({"made_ms": made, "ends_ms": ends}))
        .collect();
    json!({"name": holder.name, "policy": holder.policy, "tokens": tokens})
}

/// Reads what somebody may do: a file with the keys of `[policy]`, at its top or below `[policy]`.
fn policy(named: &str) -> Result<PolicyConfig, CliError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        policy: PolicyConfig,
    }
    if named == "read-only" {
        let text = "workspace = 'read'\nsubprocess = false\ncalls = []\nselected = 'read'";
        return toml::from_str(text).map_err(|error| CliError::usage(error.to_string()));
    }
    let invalid = |reason: String| CliError::Usage {
        message: format!("invalid policy {named}: {}", reason.trim_end()),
        hint: Some("write the keys of `[policy]`, such as `workspace = \"read\"`".to_owned()),
    };
    let read = jp_disk::read(Path::new(named), MAX_POLICY);
    let bytes = read.map_err(|source| CliError::System {
        what: format!("cannot read the policy {named}"),
        source,
    })?;
    let bytes = bytes.ok_or_else(|| invalid("there is no such file".to_owned()))?;
    let text = String::from_utf8(bytes).map_err(|_| invalid("expected UTF-8".to_owned()))?;
    let tree: toml::Table = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    match tree.contains_key("policy") {
        true => toml::from_str::<Table>(&text).map(|table| table.policy),
        false => toml::from_str(&text),
    }
    .map_err(|error| invalid(error.to_string()))
}

/// Reads a length of time: a number and `s`, `m`, `h` or `d`.
fn time(text: &str) -> Result<Duration, InvalidTime> {
    let unit = |(at, _): (usize, char)| text.split_at_checked(at);
    let (number, unit) = text
        .char_indices()
        .next_back()
        .and_then(unit)
        .ok_or(InvalidTime)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(InvalidTime),
    };
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| plain).ok_or(InvalidTime)?;
    let seconds = number.checked_mul(seconds).ok_or(InvalidTime)?;
    match seconds <= MAX_DAYS * 86_400 {
        true => Ok(Duration::from_secs(seconds)),
        false => Err(InvalidTime),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("expected a number and `s`, `m`, `h` or `d`, such as `30d`")]
struct InvalidTime;

fn failed(error: TokensError) -> CliError {
    let hint = match &error {
        TokensError::Taken { name } => Some(format!(
            "`jp serve token rotate {name}` makes a new one, `jp serve token rm {name}` removes it"
        )),
        TokensError::Unknown { .. } => Some("`jp serve token list` has the names".to_owned()),
        TokensError::Exposed { path, .. } => Some(format!(
            "look at who changed {}, or remove it",
            path.display()
        )),
        _ => None,
    };
    CliError::Usage {
        message: error.to_string(),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_with_a_unit() {
        for (text, seconds) in [
            ("0s", 0),
            ("90s", 90),
            ("45m", 2_700),
            ("12h", 43_200),
            ("30d", 2_592_000),
        ] {
            assert_eq!(time(text).unwrap().as_secs(), seconds);
        }
        for text in [
            "",
            "d",
            "30",
            "-1d",
            "+1d",
            "1.5h",
            "30 d",
            "99999999999999999999d",
            "36501d",
            "1ä",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}

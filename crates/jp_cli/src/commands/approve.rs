//! `jp approve`: decides about calls that wait for a person, and about what a denial withheld.

mod decide;
mod show;

use clap::{Args, Subcommand};
use jp_host::{
    Approvals,
    approvals::{Request, Standing},
};
use serde_json::{Value, json};

use super::JSON_VERSION;
use crate::{clock, error::CliError, exit::Exit, places, text, ui::Ui};

/// As many digits of an id are shown in a list, and at least so many are wanted.
pub(super) const SHORT: usize = 8;

/// Arguments of `jp approve`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
An agent whose call needs your approval names an id. `jp approve ID` shows what
would run, with which arguments and authority, and asks. Approving needs a
terminal: a program cannot do it for you.

Without --run or --always a call is allowed once, for an hour. `jp grants` lists
what you decided for longer, and `jp revoke` takes it back.

Examples:
  jp approve                         what waits for you
  jp approve 3f2a91c0                show one, and decide
  jp approve show 3f2a91c0           only show it
  jp approve allow 3f2a91c0          this call, once
  jp approve allow 3f2a91c0 --run    the same call, until its server ends
  jp approve allow 3f2a91c0 --always --args 'path=src/*'
  jp approve allow 3f2a91c0 --always --args '*' --until 8h
  jp approve deny 3f2a91c0           not this call
  jp approve deny 3f2a91c0 --never   no call of this tool in this workspace"
)]
pub(crate) struct ApproveArgs {
    /// Show this request and ask what to do with it (the first digits are enough)
    id: Option<String>,
    /// Also list what was decided lately
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what waits for you
    List(ListArgs),
    /// Show what a request would do
    Show(ShowArgs),
    /// Allow a call
    Allow(decide::AllowArgs),
    /// Refuse a call
    Deny(decide::DenyArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Also list what was decided lately
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The request (the first digits are enough)
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists, shows and decides.
pub(crate) fn run(args: &ApproveArgs, ui: &Ui) -> Result<Exit, CliError> {
    match (&args.command, &args.id) {
        (Some(Command::List(args)), _) => list(args.all, args.json, ui),
        (Some(Command::Show(args)), _) => {
            let found = find(&approvals()?, &args.id)?;
            show::one(&found, args.json, ui)
        }
        (Some(Command::Allow(args)), _) => decide::allow(args, ui),
        (Some(Command::Deny(args)), _) => decide::deny(args, ui),
        (None, Some(id)) => {
            let approvals = approvals()?;
            let found = find(&approvals, id)?;
            show::one(&found, args.json, ui)?;
            let asks = found.standing == Standing::Waiting && ui.can_ask && !args.json;
            match asks {
                true => decide::ask(&approvals, &found, ui),
                false => Ok(Exit::Done),
            }
        }
        (None, None) => list(args.all, args.json, ui),
    }
}

/// Returns the approvals of the user.
pub(super) fn approvals() -> Result<Approvals, CliError> {
    Approvals::at(&places::own().approvals_store()?).map_err(failed)
}

/// Finds a request by the first digits of its id.
fn find(approvals: &Approvals, id: &str) -> Result<Request, CliError> {
    let all = approvals.requests(clock::now()).map_err(failed)?;
    only(
        all,
        id,
        |request| request.id.as_str(),
        "request",
        "jp approve --all",
    )
}

/// Finds the one thing whose id starts with some digits.
pub(super) fn only<T>(
    all: Vec<T>,
    id: &str,
    of: impl Fn(&T) -> &str,
    what: &str,
    lists: &str,
) -> Result<T, CliError> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if id.len() < SHORT || !id.bytes().all(is_digit) {
        return Err(CliError::Usage {
            message: format!(
                "invalid id `{}`: expected at least {SHORT} digits of 0-9 and a-f",
                text::shorten(id, 60)
            ),
            hint: Some(format!("`{lists}` lists them")),
        });
    }
    let mut found = all.into_iter().filter(|one| of(one).starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(CliError::usage(format!(
            "more than one {what} starts with `{id}`; type more of it"
        ))),
        (None, _) => Err(CliError::Usage {
            message: format!("unknown {what} `{id}`"),
            hint: Some(format!("`{lists}` lists them")),
        }),
    }
}

fn list(all: bool, json: bool, ui: &Ui) -> Result<Exit, CliError> {
    let approvals = approvals()?;
    // What is over for a day is of no use to anybody.
    approvals.sweep(clock::now()).map_err(failed)?;
    let requests = approvals.requests(clock::now()).map_err(failed)?;
    let wanted = |request: &&Request| all || request.standing == Standing::Waiting;
    let shown: Vec<&Request> = requests.iter().filter(wanted).collect();
    if json {
        let shown: Vec<Value> = shown.into_iter().map(show::json).collect();
        ui.json(&json!({"version": JSON_VERSION, "requests": shown}))?;
        return Ok(Exit::Done);
    }
    if shown.is_empty() {
        ui.say("Nothing waits for you.");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = shown.iter().map(|request| show::row(request)).collect();
    ui.table(
        &["ID", "SINCE (UTC)", "WHO", "STATE", "TOOL AND ARGUMENTS"],
        &rows,
    )?;
    ui.hint("`jp approve ID` shows one, and asks");
    Ok(Exit::Done)
}

/// Says that the store of approvals failed.
pub(super) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> CliError {
    CliError::System {
        what: "cannot use your approvals".to_owned(),
        source: std::io::Error::other(error),
    }
}

//! `jp grants` and `jp revoke`: what you decided about calls and is remembered.

use clap::Args;
use jp_host::approvals::{Answer, Arguments, Effect, Grant, Standing};
use serde_json::{Value, json};

use super::{
    JSON_VERSION,
    approve::{SHORT, approvals, failed, only},
};
use crate::{clock, error::CliError, exit::Exit, text, ui::Ui};

/// Arguments of `jp grants`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jp grants             what holds
  jp grants --json      the same for programs
  jp revoke 3f2a91c0    take one back")]
pub(crate) struct GrantsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `jp revoke`.
#[derive(Debug, Args)]
#[command(after_help = "\
It holds from the next call on, in every server that runs.

Examples:
  jp revoke 3f2a91c0    take back one of `jp grants`
  jp revoke --all       take back all of them")]
pub(crate) struct RevokeArgs {
    /// What to take back: a decision, or a permission that no call has used yet
    /// (the first digits are enough)
    #[arg(required_unless_present = "all")]
    id: Option<String>,
    /// Take back all that is allowed; what you refused stays refused
    #[arg(long, conflicts_with = "id")]
    all: bool,
}

/// Lists what is remembered.
pub(crate) fn run(args: &GrantsArgs, ui: &Ui) -> Result<Exit, CliError> {
    let grants = approvals()?.grants(clock::now()).map_err(failed)?;
    if args.json {
        let grants: Vec<Value> = grants.iter().map(one).collect();
        ui.json(&json!({"version": JSON_VERSION, "grants": grants}))?;
        return Ok(Exit::Done);
    }
    if grants.is_empty() {
        ui.say("You decided nothing that is remembered.");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = grants.iter().map(row).collect();
    ui.table(
        &["ID", "EFFECT", "TOOL", "WHO", "UNTIL (UTC)", "FOR"],
        &rows,
    )?;
    Ok(Exit::Done)
}

/// Takes back what was decided.
pub(crate) fn revoke(args: &RevokeArgs, ui: &Ui) -> Result<Exit, CliError> {
    let approvals = approvals()?;
    let now = clock::now();
    let mut known: Vec<(String, bool)> = approvals
        .grants(now)
        .map_err(failed)?
        .iter()
        .map(|grant| (grant.id.to_string(), grant.effect != Effect::Never))
        .collect();
    let requests = approvals.requests(now).map_err(failed)?;
    let unused = requests
        .iter()
        .filter(|one| one.standing == Standing::Allowed);
    known.extend(unused.map(|one| (one.id.to_string(), true)));
    let wanted = match &args.id {
        Some(id) => vec![only(known, id, |(id, _)| id, "grant", "jp grants")?.0],
        None => {
            let allowed = known.into_iter().filter(|(_, allows)| *allows);
            allowed.map(|(id, _)| id).collect()
        }
    };
    let mut count = 0;
    for id in &wanted {
        count += usize::from(approvals.revoke(id, now).map_err(failed)?);
    }
    match (count, args.all) {
        (0, false) => return Err(CliError::usage("it was taken back or used before")),
        (count, true) => ui.say(format_args!("{count} taken back.")),
        _ => ui.say("Taken back: no call runs by it from now on."),
    }
    Ok(Exit::Done)
}

/// Takes back all that was decided about the calls of a principal, and refuses what waits of theirs: who gets
/// the name next starts with nothing. Returns how much that was.
pub(crate) fn forget(principal: &str) -> Result<usize, CliError> {
    let approvals = approvals()?;
    let now = clock::now();
    let mut count = 0;
    for request in approvals.requests(now).map_err(failed)? {
        if request.principal != principal {
            continue;
        }
        if request.standing == Standing::Waiting {
            let author = "jp serve token";
            let decided = approvals.decide(&request, &Answer::Deny, author, now);
            decided.map_err(|error| CliError::usage(error.to_string()))?;
            count += 1;
        } else if request.standing == Standing::Allowed {
            count += usize::from(approvals.revoke(request.id.as_str(), now).map_err(failed)?);
        }
    }
    for grant in approvals.grants(now).map_err(failed)? {
        if grant.principal.as_deref() == Some(principal) {
            count += usize::from(approvals.revoke(grant.id.as_str(), now).map_err(failed)?);
        }
    }
    Ok(count)
}

fn row(grant: &Grant) -> Vec<String> {
    let cell = |of: &str| text::escape_line(&text::shorten(of, 40)).into_owned();
    let id = grant.id.as_str();
    vec![
        id.get(..SHORT).unwrap_or(id).to_owned(),
        grant.effect.as_str().to_owned(),
        cell(&grant.tool),
        grant
            .principal
            .as_deref()
            .map_or_else(|| "everybody".to_owned(), cell),
        grant.expires.map_or_else(|| "–".to_owned(), clock::utc),
        scope(grant),
    ]
}

/// Says what a decision is about, in one line.
fn scope(grant: &Grant) -> String {
    let mut said = vec![match &grant.arguments {
        Arguments::Any => "any arguments".to_owned(),
        Arguments::Exact(_) => "the same arguments".to_owned(),
        Arguments::Pattern(pattern) => {
            format!(
                "arguments {}",
                text::escape_line(&text::shorten(pattern, 80))
            )
        }
    }];
    if let Some(workspace) = &grant.workspace {
        said.push(format!("in {}", text::escape_line(workspace)));
    }
    if grant.configuration.is_some() {
        said.push("as it is configured now".to_owned());
    }
    if grant.run.is_some() {
        said.push("until its server ends".to_owned());
    }
    said.join(", ")
}

fn one(grant: &Grant) -> Value {
    json!({
        "id": grant.id.as_str(),
        "effect": grant.effect.as_str(),
        "tool": grant.tool,
        "principal": grant.principal,
        "workspace": grant.workspace,
        "configuration": grant.configuration,
        "run": grant.run,
        "arguments": match &grant.arguments {
            Arguments::Any => json!("any"),
            Arguments::Exact(_) => json!("same"),
            Arguments::Pattern(pattern) => json!({ "pattern": pattern }),
        },
        "decided_by": grant.author,
        "created": grant.created,
        "expires": grant.expires,
    })
}

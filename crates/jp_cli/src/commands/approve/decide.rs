//! Decisions about requests. To allow something takes a terminal, so that no program of an agent can do it.

use clap::Args;
use jp_host::{
    Approvals,
    approvals::{Answer, AnswerError, Decided, GrantId, Matching, Request, Standing},
};

use super::{approvals, failed, find, show};
use crate::{
    clock,
    commands::tool::install::listen,
    error::CliError,
    exit::Exit,
    prompt::{self, Typed},
    session::block_on,
    text,
    ui::{Style, Ui},
};

/// Arguments of `jp approve allow`.
#[derive(Debug, Args)]
pub(super) struct AllowArgs {
    /// The request (the first digits are enough)
    id: String,
    /// Allow this call once (what happens unless you say something else)
    #[arg(long, conflicts_with_all = ["run", "always"])]
    once: bool,
    /// Allow such calls until the server that asked ends
    #[arg(long, conflicts_with = "always")]
    run: bool,
    /// Allow such calls from now on, until the tool changes
    #[arg(long)]
    always: bool,
    /// Allow other arguments too: `*` for any, NAME=PATTERN for those of this call
    /// but one whose text fits; `*` stands for any text without control characters
    /// and the signs of a shell (may be repeated)
    #[arg(long, value_name = "PATTERN", conflicts_with = "once")]
    args: Vec<String>,
    /// Allow it to somebody else, or to everybody with `*`
    #[arg(long = "for", value_name = "PRINCIPAL", requires = "always")]
    principal: Option<String>,
    /// Allow it for so long: 30m, 8h, 7d
    #[arg(long, value_name = "TIME", requires = "always")]
    until: Option<String>,
}

/// Arguments of `jp approve deny`.
#[derive(Debug, Args)]
pub(super) struct DenyArgs {
    /// The request (the first digits are enough)
    id: String,
    /// Refuse all calls of the tool in this workspace from now on
    #[arg(long)]
    never: bool,
}

pub(super) fn allow(args: &AllowArgs, ui: &Ui) -> Result<Exit, CliError> {
    if !ui.can_ask {
        return Err(CliError::Usage {
            message: "cannot approve without a terminal: an approval is what a person types"
                .to_owned(),
            hint: Some("run it in a terminal of your own".to_owned()),
        });
    }
    let approvals = approvals()?;
    let request = find(&approvals, &args.id)?;
    let matching = matching(&args.args)?;
    let answer = match (args.run, args.always) {
        (true, _) => Answer::Run(matching),
        (_, true) => Answer::Always {
            matching,
            principal: args.principal.as_ref().map(|name| match name.as_str() {
                "*" => None,
                name => Some(name.to_owned()),
            }),
            until: args.until.as_deref().map(until).transpose()?,
        },
        _ if matching != Matching::Same => {
            return Err(CliError::usage(
                "`--args` needs `--always` or `--run`: once is for the arguments of this call",
            ));
        }
        _ => Answer::Once,
    };
    show::one(&request, false, ui)?;
    decide(&approvals, &request, &answer, ui)
}

pub(super) fn deny(args: &DenyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let approvals = approvals()?;
    let request = find(&approvals, &args.id)?;
    let answer = match args.never {
        true => Answer::Never,
        false => Answer::Deny,
    };
    decide(&approvals, &request, &answer, ui)
}

/// Asks the person at the terminal.
pub(super) fn ask(approvals: &Approvals, request: &Request, ui: &Ui) -> Result<Exit, CliError> {
    let interrupts = listen()?;
    prompt::forget_typed();
    ui.say("  answers:   y once; r until its server ends; w in this workspace, until its");
    ui.say("             configuration changes; n not this call; never");
    loop {
        ui.write(&ui.paint(Style::Strong, "Allow it? [y/N/r/w/never] "));
        let answer = match block_on(prompt::line(&interrupts.cancel))? {
            Typed::Line(line) => match line.trim().to_lowercase().as_str() {
                "y" | "yes" => Answer::Once,
                "r" | "run" => Answer::Run(Matching::Same),
                "w" | "workspace" => Answer::Workspace,
                "n" | "no" => Answer::Deny,
                "never" => Answer::Never,
                "" => {
                    ui.say("Nothing was decided.");
                    return Ok(Exit::Done);
                }
                _ => {
                    ui.say("Please type y, n, r, w or never.");
                    continue;
                }
            },
            Typed::Ended | Typed::TimedOut | Typed::Cancelled => {
                ui.say("");
                ui.say("Nothing was decided.");
                return Ok(Exit::Cancelled);
            }
        };
        return decide(approvals, request, &answer, ui);
    }
}

fn decide(
    approvals: &Approvals,
    request: &Request,
    answer: &Answer,
    ui: &Ui,
) -> Result<Exit, CliError> {
    let author = format!("{}, with jp approve", jp_host::principal());
    let decided = approvals.decide(request, answer, &author, clock::now());
    let decided = decided.map_err(|error| match error {
        AnswerError::Store(error) => failed(error),
        other => CliError::usage(other.to_string()),
    })?;
    match decided {
        Decided::Made { grants } => {
            said(answer, &grants, ui);
            Ok(Exit::Done)
        }
        Decided::Before { standing, author } => {
            let by = author.unwrap_or_default();
            let by = text::escape_line(&by);
            let message = match standing {
                Standing::Denied => format!("it was denied before, by {by}"),
                Standing::Expired => {
                    "its time is over: the same call has to be made again".to_owned()
                }
                _ => format!("it was allowed before, by {by}"),
            };
            Err(CliError::Usage {
                message: format!("cannot decide about this request: {message}"),
                hint: None,
            })
        }
        Decided::Unknown => Err(CliError::usage("unknown request: it was removed meanwhile")),
    }
}

/// Says what was decided, and how to take it back.
fn said(answer: &Answer, grants: &[GrantId], ui: &Ui) {
    ui.say(match answer {
        Answer::Once => {
            "Allowed once: a call that waits runs now, or else the same call within an hour."
        }
        Answer::Run(_) => "Allowed until the server that asked ends.",
        Answer::Workspace => {
            "Allowed in this workspace, until its configuration or the tool changes."
        }
        Answer::Always { .. } => "Allowed from now on, until the tool changes.",
        Answer::Deny => "Denied.",
        Answer::Never => "Denied, and so are all calls of the tool in this workspace from now on.",
    });
    for id in grants.iter().take(1) {
        ui.hint(&format!("`jp revoke {id}` takes it back"));
    }
}

fn matching(args: &[String]) -> Result<Matching, CliError> {
    if args.iter().any(|one| one == "*") {
        return match args.len() {
            1 => Ok(Matching::Any),
            _ => Err(CliError::usage("invalid `--args`: `*` stands alone")),
        };
    }
    let patterns = args.iter().map(|one| match one.split_once('=') {
        Some((name, pattern)) if !name.is_empty() => Ok((name.to_owned(), pattern.to_owned())),
        _ => Err(CliError::usage(format!(
            "invalid `--args` `{}`: expected `*` or NAME=PATTERN",
            text::shorten(one, 60)
        ))),
    });
    let patterns: Vec<_> = patterns.collect::<Result<_, _>>()?;
    Ok(match patterns.is_empty() {
        true => Matching::Same,
        false => Matching::Patterns(patterns),
    })
}

/// Reads how long something holds, and returns until when.
fn until(time: &str) -> Result<u64, CliError> {
    let wrong = || {
        CliError::usage(format!(
            "invalid time `{}`: expected a number and m, h or d, such as 8h",
            text::shorten(time, 40)
        ))
    };
    let (number, unit) = time
        .split_at_checked(time.len().saturating_sub(1))
        .ok_or_else(wrong)?;
    let minutes: u64 = match unit {
        "m" => 1,
        "h" => 60,
        "d" => 24 * 60,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let wanted = number
        .checked_mul(minutes * 60_000)
        .filter(|wanted| *wanted > 0);
    let until = wanted.and_then(|wanted| clock::now().checked_add(wanted));
    until.ok_or_else(wrong)
}

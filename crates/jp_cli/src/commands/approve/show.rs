//! Requests as people and programs read them. Arguments and reasons are words of strangers: escaped, and
//! labelled as theirs.

use jp_host::approvals::{About, Missing, Request, Standing};
use serde_json::{Value, json};

use super::SHORT;
use crate::{
    clock,
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    text,
    ui::{Style, Ui},
};

/// As many characters of arguments are shown in a list.
const SHOWN: usize = 60;

/// Returns a line of a list.
pub(super) fn row(request: &Request) -> Vec<String> {
    let about = About::of(request);
    let arguments = about.map_or_else(String::new, |about| about.arguments);
    let arguments = text::shorten(&arguments, SHOWN).into_owned();
    let id = request.id.as_str();
    vec![
        id.get(..SHORT).unwrap_or(id).to_owned(),
        clock::utc(request.created),
        cell(&request.principal),
        request.standing.as_str().to_owned(),
        format!("{} {}", cell(&request.tool), text::escape_line(&arguments)),
    ]
}

fn cell(of_stranger: &str) -> String {
    text::escape_line(&text::shorten(of_stranger, 40)).into_owned()
}

/// Shows a request whole.
pub(super) fn one(request: &Request, json: bool, ui: &Ui) -> Result<Exit, CliError> {
    if json {
        ui.json(&json!({"version": JSON_VERSION, "request": self::json(request)}))?;
        return Ok(Exit::Done);
    }
    for line in lines(request, ui) {
        ui.line(line)?;
    }
    Ok(Exit::Done)
}

fn lines(request: &Request, ui: &Ui) -> Vec<String> {
    let tool = ui.paint(Style::Strong, text::escape_line(&request.tool));
    let principal = text::escape_line(&request.principal);
    let about = About::of(request);
    let source = about.as_ref().map_or("", |about| about.source.as_str());
    let source = text::escape_line(source);
    let mut lines = vec![format!("{tool} ({source}) wants to run for {principal}.")];
    let mut add = |name: &str, said: &str| lines.push(format!("  {name:<11}{said}"));
    if let Some(about) = &about {
        let mut name = "arguments:";
        for line in text::escape(&about.arguments).lines() {
            add(name, line);
            name = "";
        }
        if about.left_out > 0 {
            add("", &format!("… and {} more bytes", about.left_out));
        }
        let may = match about.may.is_empty() {
            true => jp_policy::NOTHING.to_owned(),
            false => about.may.join("; "),
        };
        add("it may:", &text::escape_line(&may));
    }
    add("workspace:", &text::escape_line(&request.workspace));
    if let Some(missing) = Missing::of(request) {
        let words = missing.words.join("; ");
        add("it lacks:", &text::escape_line(&words));
        for line in &missing.lines {
            add(
                "",
                &format!("your policy has no `{}`", text::escape_line(line)),
            );
        }
    }
    if let Some(reason) = &request.reason {
        // Nobody but the model vouches for this.
        add("it says:", &format!("\"{}\"", text::escape_line(reason)));
    }
    if about.as_ref().is_some_and(|about| about.unconfined) {
        let warning =
            "where the system cannot confine it, it runs with the full authority of your user";
        add("", &ui.paint(Style::Bad, warning));
    }
    add("state:", &standing(request));
    add("id:", request.id.as_str());
    lines
}

fn standing(request: &Request) -> String {
    let by = || {
        let author = request.author.as_deref().unwrap_or_default();
        text::escape_line(author).into_owned()
    };
    match request.standing {
        Standing::Waiting => format!("waiting since {} (UTC)", clock::utc(request.created)),
        Standing::Allowed => format!(
            "allowed by {}, until {} (UTC)",
            by(),
            clock::utc(request.expires)
        ),
        Standing::Denied => format!("denied by {}", by()),
        Standing::Spent => format!("allowed by {}, and used", by()),
        Standing::Revoked => format!("allowed by {}, and taken back", by()),
        Standing::Expired => "expired".to_owned(),
    }
}

/// Returns a request for programs.
pub(super) fn json(request: &Request) -> Value {
    let about = About::of(request);
    let missing = Missing::of(request);
    json!({
        "id": request.id.as_str(),
        "kind": request.kind.as_str(),
        "state": request.standing.as_str(),
        "tool": request.tool,
        "principal": request.principal,
        "workspace": request.workspace,
        "arguments": about.as_ref().map(|about| &about.arguments),
        "arguments_left_out": about.as_ref().map(|about| about.left_out),
        "may": about.as_ref().map(|about| &about.may),
        "unconfined": about.as_ref().map(|about| about.unconfined),
        "missing": missing.map(|missing| missing.lines),
        "reason": request.reason,
        "created": request.created,
        "expires": request.expires,
        "decided": request.decided,
        "decided_by": request.author,
        "grant": request.grant.as_ref().map(|id| id.as_str()),
    })
}

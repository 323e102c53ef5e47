//! `jp why`: the proof of what a tool gets, and of what clients are told of it.

mod json;

use std::{fmt::Write, path::Path};

use clap::Args;
use jp_config::{Layer, Origin, Place};
use jp_llm::{Fact, Facts, PreparedTool, Said, Side, Weighed, Why};
use jp_policy::NOTHING;

use crate::{
    error::CliError,
    exit::Exit,
    session::{Session, block_on},
    text,
    ui::Ui,
    words,
};

/// As many capabilities fit a screen.
const SHOWN: usize = 4;

/// As many reasons for a fact are named.
const REASONS: usize = 2;

/// Arguments of `jp why`.
#[derive(Debug, Args)]
#[command(after_help = "\
A call gets what its tool asks for, your own policy allows, and the workspace
may use; where one of them withholds something, no call is made. For each thing
that the tool asks for, `>` marks whose word decides, with the line of the file
that says it. Where nobody wrote a line, the default is named.

What clients of `jp serve` are told of the tool follows from the grant alone.

Examples:
  jp why bash
  jp why read --json | jq -r '.capabilities[] | select(.granted | not)'")]
pub(crate) struct WhyArgs {
    /// The tool
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Explains what a tool gets.
pub(crate) fn run(args: &WhyArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let tool = block_on(session.told_tool(&args.name))??;
    let why = tool.why(session.loaded(), session.host());
    let explained = Explained {
        tool: &tool,
        why: &why,
        session: &session,
    };
    if args.json {
        ui.json(&explained.json())?;
    } else {
        ui.bytes(explained.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// A tool, and why it gets what it gets.
struct Explained<'a> {
    tool: &'a PreparedTool,
    why: &'a Why,
    session: &'a Session,
}

impl Explained<'_> {
    fn text(&self) -> String {
        let mut page = String::new();
        let mut line = |text: &str| {
            page.push_str(&text::escape(text));
            page.push('\n');
        };
        line(&self.head());
        match &self.why.preview {
            Ok(preview) => line(&format!("a call is allowed; {}", words::runs(preview.run))),
            Err(error) => {
                line(&error.to_string());
                if let Some(hint) = error.hint() {
                    line(&format!("hint: {hint}"));
                }
            }
        }
        let mut weighed: Vec<&Weighed> = self.why.weighed.iter().collect();
        // What keeps the tool from running is looked for first.
        weighed.sort_by_key(|one| one.is_granted());
        if weighed.is_empty() {
            line(&format!("It asks for {NOTHING}."));
        }
        for one in weighed.iter().take(SHOWN) {
            self.weighed(one, &mut line);
        }
        if let Some(more) = weighed.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let name = text::escape_line(&self.tool.name);
            line(&format!("and {more} more: `jp why {name} --json`"));
        }
        if let Some(facts) = self.why.facts() {
            line("");
            line("clients are told");
            facts_of(&facts, &mut line);
        }
        page
    }

    fn head(&self) -> String {
        let by = match self.tool.defined_by {
            Layer::User => "",
            Layer::Workspace => ", defined by this workspace",
        };
        let name = text::escape_line(&self.tool.name);
        format!("{name}: {} tool{by}", self.tool.source)
    }

    fn weighed(&self, one: &Weighed, line: &mut impl FnMut(&str)) {
        let result = match one.is_granted() {
            true => "granted",
            false => "denied",
        };
        let when = one.when.as_deref();
        let when = when.map(|when| format!(", when {} is a file", text::escape_line(when)));
        let capability = one.capability.words();
        line(&format!(
            "{result:<8} {capability}{}",
            when.unwrap_or_default()
        ));
        for (side, name) in SIDES {
            let mark = match one.decided_by() == side {
                true => '>',
                false => ' ',
            };
            let said = self.said(one.said_by(side));
            line(&format!("  {mark} {name:<10} {said}"));
        }
    }

    /// Says what one side says: where it was written, under which key, and what it means.
    fn said(&self, said: &Said) -> String {
        let mut line = String::new();
        if let Some(place) = &said.place {
            line.push_str(&self.place(place));
            line.push(' ');
        }
        if let Some(key) = &said.key {
            // Writing to a string cannot fail.
            let _ = write!(line, "{}: ", text::escape_line(key));
        }
        line.push_str(&text::escape_line(&said.words));
        line
    }

    /// Writes a place as short as it can still be found.
    fn place(&self, place: &Place) -> String {
        let root = &self.session.location().root;
        let shown = match &place.origin {
            Origin::File(path) => below(path, root),
            _ => return text::escape_line(&place.to_string()).into_owned(),
        };
        let shown = text::escape_line(&shown).into_owned();
        match place.line {
            Some(line) => format!("{shown}:{line}"),
            None => shown,
        }
    }
}

/// The sides, in the order in which they are shown.
const SIDES: [(Side, &str); 3] = [
    (Side::Tool, "tool"),
    (Side::User, "you"),
    (Side::Workspace, "workspace"),
];

fn below(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.display().to_string()
}

fn facts_of(facts: &Facts, line: &mut impl FnMut(&str)) {
    let mut say = |name: &str, holds: bool, why: &str| {
        line(&format!("  {name:<16} {holds:<6} {why}"));
    };
    let read_only = facts.read_only.holds;
    let why = reasons(&facts.read_only, "nothing it gets outlives a call");
    say("readOnlyHint", read_only, &why);
    if !read_only {
        let why = "nothing proves that its changes can be undone";
        say("destructiveHint", true, why);
    }
    let nothing = "nothing it gets reaches beyond this machine";
    let why = reasons(&facts.open_world, nothing);
    say("openWorldHint", facts.open_world.holds, &why);
}

/// Says what of a grant proves a fact.
fn reasons(fact: &Fact, nothing: &str) -> String {
    if fact.because.is_empty() {
        return nothing.to_owned();
    }
    let first = fact.because.iter().take(REASONS);
    let first: Vec<String> = first.map(|one| one.words()).collect();
    let more = fact.because.len().saturating_sub(REASONS);
    let more = match more {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("it may {}{more}", first.join(", "))
}

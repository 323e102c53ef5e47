//! `jp __complete`: what can be typed next, for the scripts of `jp completions`. It starts no server, runs no
//! tool and prints nothing where nothing is known.

use std::path::PathBuf;

use clap::Args;
use jp_llm::ToolDefinition;
use serde_json::Value;

use crate::{error::CliError, exit::Exit, session::Session, ui::Ui};

/// More words help nobody who types.
const MAX_WORDS: usize = 500;

/// Arguments of `jp __complete`.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// Which of the words is being typed, from 0
    at: usize,
    /// The command line, `jp` included
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Prints what can stand where something is being typed, one to a line.
pub(crate) fn run(args: &CompleteArgs, ui: &Ui) -> Result<Exit, CliError> {
    let line = Line::read(args);
    let Some(wanted) = line.wanted() else {
        return Ok(Exit::Done);
    };
    let mut ui = ui.clone();
    ui.global.dir = line.dir.clone();
    // A configuration that cannot be read has no names; the command itself says why.
    let Ok(session) = Session::open_quietly(&ui) else {
        return Ok(Exit::Done);
    };
    let mut found = wanted.find(&session);
    found.retain(|word| word.starts_with(&line.typed) && is_plain(word));
    found.sort();
    found.truncate(MAX_WORDS);
    if !found.is_empty() {
        ui.line(found.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// Tells whether a shell reads a word as it is.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-=/:@+".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

/// A command line up to where something is being typed.
struct Line {
    /// The words without options, `jp` and what is being typed.
    before: Vec<String>,
    typed: String,
    /// The argument of a tool whose value is being typed.
    value_of: Option<String>,
    /// Whether the value is typed behind its name in one word.
    joined: bool,
    dir: Option<PathBuf>,
}

impl Line {
    fn read(args: &CompleteArgs) -> Self {
        let before = args.words.get(1..args.at).unwrap_or_default();
        let mut typed = args.words.get(args.at).cloned().unwrap_or_default();
        let (mut words, mut dir, mut value_of, mut joined) = (Vec::new(), None, None, false);
        let mut left = before.iter();
        while let Some(word) = left.next() {
            match word.as_str() {
                "-C" | "--directory" => dir = left.next().map(PathBuf::from),
                "--cfg" | "--config" | "--answer" | "--file" => {
                    left.next();
                }
                // bash splits words at `=`.
                "=" => value_of = words.pop(),
                option if option.starts_with('-') && option.len() > 1 => {}
                _ => {
                    value_of = None;
                    words.push(word.clone());
                }
            }
        }
        if typed == "=" {
            value_of = words.pop();
            typed.clear();
        } else if let Some((name, _)) = typed.split_once('=') {
            value_of = Some(name.to_owned());
            joined = true;
        }
        Self {
            before: words,
            typed,
            value_of,
            joined,
            dir,
        }
    }

    fn wanted(&self) -> Option<Wanted> {
        let words: Vec<&str> = self.before.iter().map(String::as_str).collect();
        if self.typed.starts_with('-') {
            return None;
        }
        match (words.as_slice(), &self.value_of) {
            (["tool", "run" | "show" | "format"], None) => Some(Wanted::Tools),
            (["tool", "run" | "format", tool, ..], Some(name)) => Some(Wanted::Values {
                tool: (*tool).to_owned(),
                name: name.clone(),
                joined: self.joined,
            }),
            (["tool", "run" | "format", tool, ..], None) => {
                Some(Wanted::Arguments((*tool).to_owned()))
            }
            (["mcp", "remove"], None) => Some(Wanted::Servers),
            _ => None,
        }
    }
}

/// What can stand in a place.
enum Wanted {
    Tools,
    Arguments(String),
    Values {
        tool: String,
        name: String,
        joined: bool,
    },
    Servers,
}

impl Wanted {
    fn find(&self, session: &Session) -> Vec<String> {
        let config = &session.loaded().config;
        match self {
            Self::Tools => ToolDefinition::names(session.loaded(), session.host()),
            Self::Servers => config.providers.mcp.keys().cloned().collect(),
            Self::Arguments(tool) => {
                let schema = schema(tool, session);
                let properties = schema.as_ref().and_then(|schema| schema.get("properties"));
                let properties = properties.and_then(Value::as_object).into_iter().flatten();
                properties.map(|(name, _)| format!("{name}=")).collect()
            }
            Self::Values { tool, name, joined } => {
                let values = match (tool.as_str(), name.as_str()) {
                    ("learn", "topic") => config.kb.topics.keys().cloned().collect(),
                    _ => values(tool, name, session),
                };
                let start = if *joined {
                    format!("{name}=")
                } else {
                    String::new()
                };
                values
                    .iter()
                    .map(|value| format!("{start}{value}"))
                    .collect()
            }
        }
    }
}

fn schema(tool: &str, session: &Session) -> Option<Value> {
    let tool = ToolDefinition::new(tool, session.loaded(), session.host()).ok()?;
    Some(tool.known_schema().clone())
}

/// Returns the values an argument can have, where its schema lists them.
fn values(tool: &str, name: &str, session: &Session) -> Vec<String> {
    let schema = schema(tool, session);
    let part = schema
        .as_ref()
        .and_then(|schema| schema.get("properties")?.get(name));
    let listed = part.and_then(|part| part.get("enum")?.as_array());
    if part.is_some_and(|part| part.get("type").is_some_and(|kind| kind == "boolean")) {
        return vec!["true".to_owned(), "false".to_owned()];
    }
    let listed = listed.into_iter().flatten();
    listed
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(words: &[&str]) -> &'static str {
        let args = CompleteArgs {
            at: words.len() - 1,
            words: words.iter().map(|&word| word.to_owned()).collect(),
        };
        match Line::read(&args).wanted() {
            Some(Wanted::Tools) => "tools",
            Some(Wanted::Arguments(_)) => "arguments",
            Some(Wanted::Values { joined: true, .. }) => "values behind the name",
            Some(Wanted::Values { .. }) => "values",
            Some(Wanted::Servers) => "servers",
            None => "nothing",
        }
    }

    #[test]
    fn what_is_typed_says_what_can_follow() {
        for (words, expected) in [
            (&["jp", ""][..], "nothing"),
            (&["jp", "tool", "r"], "nothing"),
            (&["jp", "tool", "run", ""], "tools"),
            (&["jp", "-C", "/x", "tool", "show", "le"], "tools"),
            (&["jp", "tool", "run", "--yes", "le"], "tools"),
            (&["jp", "tool", "run", "--y"], "nothing"),
            (&["jp", "tool", "run", "learn", ""], "arguments"),
            (&["jp", "tool", "run", "learn", "topic", "="], "values"),
            (
                &["jp", "tool", "run", "learn", "topic", "=", "sk"],
                "values",
            ),
            (
                &["jp", "tool", "run", "learn", "topic=sk"],
                "values behind the name",
            ),
            (
                &["jp", "tool", "run", "learn", "topic", "=", "skills", "su"],
                "arguments",
            ),
            (&["jp", "mcp", "remove", ""], "servers"),
        ] {
            assert_eq!(wanted(words), expected, "{words:?}");
        }
        let args = CompleteArgs {
            at: 7,
            words: vec!["jp".to_owned()],
        };
        assert!(Line::read(&args).wanted().is_none());
    }
}

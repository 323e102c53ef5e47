//! Fills the arguments of a call into the words of a command line.
//!
//! Each word is filled in by itself, after the line was split, so no argument can become two words
//! and none can become a command of its own. Only `shell = true` hands text to a shell. There no
//! argument becomes part of that text at all: the shell is given the values as its positional
//! parameters, and the text refers to them. Quoting would not do: a value quoted for an empty place
//! is not quoted inside the quotes that the author of the line put around it.

use std::sync::{Arc, Mutex, PoisonError};

use jp_config::tool::CommandConfig;
use jp_tool::Action;
use minijinja::{
    AutoEscape, Environment, Output, State, UndefinedBehavior, Value as Template, value::Serde,
};
use serde_json::json;

use super::{Invocation, Words};

/// Why a template of a command could not be filled in.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The template is invalid, or a value cannot go where it says.
    #[error(transparent)]
    Unfilled(#[from] minijinja::Error),
    /// The command has the character that stands around values.
    #[error("the command contains a reserved character")]
    Reserved,
    /// The template has variables.
    #[error("`set` is not available in a command")]
    Set,
    /// A word cannot be passed to a program.
    #[error("a word of the command would contain a NUL")]
    Nul,
    /// A word is too long.
    #[error(
        "a word of the command would be too long: expected at most {MAX_WORD} bytes, found {bytes}"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

/// The longest word after filling in: more than this no system passes on.
const MAX_WORD: usize = 128 * 1024;

/// Work one template may do.
const FUEL: u64 = 100_000;

/// Fills in a command.
pub(super) fn fill_in(
    command: &CommandConfig,
    name: &str,
    invocation: &Invocation<'_>,
) -> Result<Words, TemplateError> {
    let context = json!({
        "tool": {
            "name": name,
            "arguments": invocation.arguments,
            "answers": invocation.answers,
            "options": invocation.tool.options,
        },
        "context": {
            "action": match invocation.call.action {
                Action::Run => "run",
                Action::FormatArguments => "format_arguments",
            },
            "root": invocation.host.root().to_string_lossy(),
        },
    });
    let context = Template::from(Serde(&context));
    if command.shell {
        return shell(command, &context);
    }
    let plain = environment(Ok);
    let mut args = Vec::with_capacity(command.args.len());
    for arg in &command.args {
        args.push(fill(&plain, arg, &context)?.into());
    }
    Ok(Words {
        program: fill(&plain, &command.program, &context)?.into(),
        args,
    })
}

/// Stands around the number of a value in the text for a shell: a character that Unicode reserves
/// for use inside programs.
const MARK: char = '\u{fdd0}';

/// Makes the words that run a line in a shell.
fn shell(command: &CommandConfig, context: &Template) -> Result<Words, TemplateError> {
    let values = Arc::new(Mutex::new(Vec::new()));
    let keep = {
        let values = Arc::clone(&values);
        move |text: String| {
            if text.contains(MARK) {
                let problem =
                    "a value for the shell contains a character that jp reserves for itself";
                return Err(bad_value(problem));
            }
            let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
            values.push(text);
            Ok(format!("{MARK}{}{MARK}", values.len()))
        }
    };
    if command.program.contains(MARK) {
        return Err(TemplateError::Reserved);
    }
    let mut line = fill(&environment(keep), &command.program, context)?;
    let mut values = std::mem::take(&mut *values.lock().unwrap_or_else(PoisonError::into_inner));
    let plain = environment(Ok);
    for arg in &command.args {
        values.push(fill(&plain, arg, context)?);
        line.push_str(&format!(" {MARK}{}{MARK}", values.len()));
    }
    let mut args = vec!["-c".into(), refer(&line).into(), "sh".into()];
    for value in values {
        args.push(passable(value)?.into());
    }
    let program = "/bin/sh".into();
    Ok(Words { program, args })
}

/// Turns marked numbers into references to positional parameters that stay one word, whatever
/// quotes they stand in. Where this loses count of the quotes a value may be split into words or
/// left out, but never becomes code.
fn refer(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            MARK => {
                let number: String = chars.by_ref().take_while(|char| *char != MARK).collect();
                text.push_str(&match quote {
                    Some('"') => format!("${{{number}}}"),
                    Some(_) => format!("'\"${{{number}}}\"'"),
                    None => format!("\"${{{number}}}\""),
                });
                continue;
            }
            // A value needs no escape.
            '\\' if chars.peek() == Some(&MARK) => continue,
            '\\' if quote != Some('\'') => {
                text.push(char);
                text.extend(chars.next());
                continue;
            }
            '"' | '\'' if quote == Some(char) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(char),
            _ => {}
        }
        text.push(char);
    }
    text
}

/// Makes a place for templates; `place` says what is written for each value.
fn environment(
    place: impl Fn(String) -> Result<String, minijinja::Error> + Send + Sync + 'static,
) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(
        move |out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Template| {
            let text = place(show(value)?)?;
            out.write_str(&text).map_err(minijinja::Error::from)
        },
    );
    environment
}

fn bad_value(error: impl ToString) -> minijinja::Error {
    minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string())
}

/// Scalars as they are, lists and tables as JSON, nothing as `null`.
fn show(value: &Template) -> Result<String, minijinja::Error> {
    if value.is_undefined() || value.is_none() {
        return Ok("null".to_owned());
    }
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => serde_json::to_string(value).map_err(bad_value),
    }
}

fn fill(
    environment: &Environment<'_>,
    word: &str,
    context: &Template,
) -> Result<String, TemplateError> {
    refuse_set(word)?;
    passable(environment.render_str(word, context)?)
}

/// Refuses variables: a text that is joined to itself in a loop doubles with every turn, and the
/// fuel of a template counts turns, not bytes.
fn refuse_set(word: &str) -> Result<(), TemplateError> {
    let sets = |statement: &str| {
        let statement = statement.trim_start_matches(['-', '+']).trim_start();
        statement
            .strip_prefix("set")
            .is_some_and(|rest| rest.starts_with(char::is_whitespace))
    };
    if word.split("{%").skip(1).any(sets) {
        return Err(TemplateError::Set);
    }
    Ok(())
}

/// Lets words pass that can be handed to a program.
fn passable(filled: String) -> Result<String, TemplateError> {
    if filled.contains('\0') {
        return Err(TemplateError::Nul);
    }
    if filled.len() > MAX_WORD {
        let bytes = filled.len();
        return Err(TemplateError::TooLong { bytes });
    }
    Ok(filled)
}

//! Fills the arguments of a call into the words of a command line.
//!
//! Each word is filled in by itself, after the line was split, so no argument can become two words
//! and none can become a command of its own. Only `shell = true` hands text to a shell, and there
//! every argument is quoted.

use jp_config::tool::CommandConfig;
use jp_tool::Action;
use minijinja::{
    AutoEscape, Environment, Output, State, UndefinedBehavior, Value as Template, value::Serde,
};
use serde_json::json;

use super::{Invocation, Words};
use crate::ToolError;

/// The longest word after filling in: more than this no system passes on.
const MAX_WORD: usize = 128 * 1024;

/// Work one template may do.
const FUEL: u64 = 100_000;

/// Fills in a command.
pub(super) fn fill_in(
    command: &CommandConfig,
    name: &str,
    invocation: &Invocation<'_>,
) -> Result<Words, ToolError> {
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
            "root": invocation.host.root.to_string_lossy(),
        },
    });
    let context = Template::from(Serde(&context));
    let plain = environment(Quoting::None);
    let mut args = Vec::with_capacity(command.args.len() + 2);
    if command.shell {
        let mut line = fill(&environment(Quoting::Shell), &command.program, &context)?;
        for arg in &command.args {
            let arg = fill(&plain, arg, &context)?;
            let quoted =
                shlex::try_quote(&arg).map_err(|error| ToolError::Template(error.to_string()))?;
            line.push(' ');
            line.push_str(&quoted);
        }
        args.extend(["-c".into(), line.into()]);
        return Ok(Words {
            program: "/bin/sh".into(),
            args,
        });
    }
    for arg in &command.args {
        args.push(fill(&plain, arg, &context)?.into());
    }
    Ok(Words {
        program: fill(&plain, &command.program, &context)?.into(),
        args,
    })
}

/// Whether filled-in values are quoted for a shell.
#[derive(Clone, Copy)]
enum Quoting {
    None,
    Shell,
}

fn environment(quoting: Quoting) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_fuel(Some(FUEL));
    environment.set_formatter(
        move |out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Template| {
            let text = show(value)?;
            let text = match quoting {
                Quoting::None => text,
                Quoting::Shell => shlex::try_quote(&text).map_err(bad_value)?.into_owned(),
            };
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
) -> Result<String, ToolError> {
    let filled = environment
        .render_str(word, context)
        .map_err(|error| ToolError::Template(error.to_string()))?;
    if filled.contains('\0') {
        return Err(ToolError::Template(
            "a word of the command would contain a NUL".to_owned(),
        ));
    }
    if filled.len() > MAX_WORD {
        let text = format!(
            "a word of the command would have {} bytes, at most {MAX_WORD} are allowed",
            filled.len()
        );
        return Err(ToolError::Template(text));
    }
    Ok(filled)
}

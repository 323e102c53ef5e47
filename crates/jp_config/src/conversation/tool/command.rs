//! The command of a tool: a line that is split into words, or a table.
//!
//! Words are split when the file is read and templates are filled in later, so that an argument
//! with spaces cannot become two.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{scalar::describe, value::ValueError};

/// The command of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct CommandConfig {
    /// The program.
    pub program: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Whether `program` is a line for `sh -c`.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub shell: bool,
}

/// The table form.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CommandTable {
    /// The program.
    program: String,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Whether `program` is a line for `sh -c`.
    #[serde(default)]
    shell: bool,
}

impl TryFrom<Value> for CommandConfig {
    type Error = ValueError;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::String(line) => Self::from_line(&line),
            table @ Value::Object(_) => {
                let table = CommandTable::deserialize(table)?;
                Self {
                    program: table.program,
                    args: table.args,
                    shell: table.shell,
                }
                .checked()
            }
            other => Err(ValueError::form(
                "a command line or a table with `program`",
                &other,
            )),
        }
    }
}

impl CommandConfig {
    /// Splits a line into words as a shell would, without running anything. A template is part of its
    /// word, spaces included.
    ///
    /// # Errors
    ///
    /// When a quote is not closed or there is no word.
    pub(crate) fn from_line(line: &str) -> Result<Self, ValueError> {
        let words = split(line).ok_or_else(|| ValueError::UnclosedQuote {
            line: describe(&line.into()),
        })?;
        let mut words = words.into_iter();
        let program = words.next().ok_or(ValueError::EmptyCommand)?;
        let args = words.collect();
        Self {
            program,
            args,
            shell: false,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, ValueError> {
        if self.program.trim().is_empty() {
            return Err(ValueError::EmptyCommand);
        }
        let nul = |text: &String| text.contains('\0');
        if nul(&self.program) || self.args.iter().any(nul) {
            return Err(ValueError::NulInCommand);
        }
        Ok(self)
    }
}

/// Stands for a template while words are split: a character that Unicode reserves for use inside
/// programs.
const TEMPLATE: char = '\u{fdd1}';

/// Splits a line into words; nothing if a quote is open.
fn split(line: &str) -> Option<Vec<String>> {
    if line.contains(TEMPLATE) {
        return shlex::split(line);
    }
    let (mut templates, mut plain) = (Vec::new(), String::with_capacity(line.len()));
    let (mut rest, mut quote) = (line, None);
    while let Some(char) = rest.chars().next() {
        // Within quotes a template is one word anyway, and a shell's escapes are not ours to keep.
        if let Some((template, after)) = template(rest).filter(|_| quote.is_none()) {
            plain.push(TEMPLATE);
            templates.push(template);
            rest = after;
            continue;
        }
        let mut taken = char.len_utf8();
        match char {
            '\\' if quote != Some('\'') => {
                taken += rest.chars().nth(1).map_or(0, char::len_utf8);
            }
            '"' | '\'' if quote == Some(char) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(char),
            _ => {}
        }
        let (piece, after) = rest.split_at_checked(taken)?;
        plain.push_str(piece);
        rest = after;
    }
    let mut templates = templates.into_iter();
    let words = shlex::split(&plain)?.into_iter().map(|word| {
        let mut parts = word.split(TEMPLATE);
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            whole.push_str(templates.next().unwrap_or_default());
            whole.push_str(part);
        }
        whole
    });
    Some(words.collect())
}

/// Takes a whole template off the start of a text.
fn template(text: &str) -> Option<(&str, &str)> {
    let ends = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
    let (_, end) = ends
        .into_iter()
        .find(|(start, _)| text.starts_with(start))?;
    let length = text.get(2..)?.find(end)?;
    text.split_at_checked(length + 4)
}

impl JsonSchema for CommandConfig {
    fn schema_name() -> Cow<'static, str> {
        "CommandConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<CommandTable>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let command = CommandConfig::from_line(line).unwrap();
        [vec![command.program], command.args].concat()
    }

    #[test]
    fn a_template_is_part_of_its_word_however_it_is_spaced() {
        for (line, expected) in [
            (
                "wc -l {{tool.arguments.path}}",
                vec!["wc", "-l", "{{tool.arguments.path}}"],
            ),
            ("echo {{ a }} {{ b }}", vec!["echo", "{{ a }}", "{{ b }}"]),
            (
                "echo --n={{ a | default('x y') }}.txt z",
                vec!["echo", "--n={{ a | default('x y') }}.txt", "z"],
            ),
            (
                "echo '{{ a }} b' \"{{ c }}\" d\\ e",
                vec!["echo", "{{ a }} b", "{{ c }}", "d e"],
            ),
            (
                "echo {% if a %}b{% endif %} {# c d #}",
                vec!["echo", "{% if a %}b{% endif %}", "{# c d #}"],
            ),
            (
                "echo '{{' a '}}' {{ b",
                vec!["echo", "{{", "a", "}}", "{{", "b"],
            ),
            (
                "echo \u{fdd1} {{ a }}",
                vec!["echo", "\u{fdd1}", "{{", "a", "}}"],
            ),
            ("echo \\'{{ a }}", vec!["echo", "'{{ a }}"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
        assert!(CommandConfig::from_line("echo '{{ a }}").is_err());
    }
}

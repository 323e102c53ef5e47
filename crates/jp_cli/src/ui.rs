//! The terminal, or what is there in its place: data to standard output, the rest to standard error.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use serde_json::Value;

use crate::{cli::Global, error::CliError, table, text};

/// Where output goes, what may be done there, and what holds for every command.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    /// The options every command understands.
    pub(crate) global: Global,
    /// Whether standard output is a terminal.
    pub(crate) out_is_terminal: bool,
    /// Whether standard error is a terminal: progress is shown there.
    pub(crate) err_is_terminal: bool,
    /// Whether a person can be asked.
    pub(crate) can_ask: bool,
    colour: bool,
}

/// How a piece of text on standard error looks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Bad,
    Note,
    Strong,
    Faint,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Bad => "\u{1b}[1;31m",
            Self::Note => "\u{1b}[33m",
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
        }
    }
}

impl Ui {
    /// Looks at the streams of this process.
    pub(crate) fn of_process() -> Self {
        let err_is_terminal = io::stderr().is_terminal();
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            global: Global::default(),
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal,
            can_ask: err_is_terminal && io::stdin().is_terminal(),
            colour: err_is_terminal && !dumb && !set("NO_COLOR"),
        }
    }

    /// Writes bytes to standard output as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            // The reader has read enough; that is not a failure of ours.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|source| CliError::System {
                what: "cannot write the result".to_owned(),
                source,
            }),
        }
    }

    /// Writes a table to standard output; on a terminal each row is one line.
    pub(crate) fn table(&self, header: &[&str], rows: &[Vec<String>]) -> Result<(), CliError> {
        self.bytes(table::fitted(header, rows, self.columns()).as_bytes())
    }

    /// Returns how wide the terminal of standard output is, if it is one and says so.
    fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        let columns = size.filter(|_| self.out_is_terminal)?.ws_col;
        (columns > 0).then_some(usize::from(columns))
    }

    /// Writes text of ours to standard output, with a newline.
    pub(crate) fn line(&self, line: impl Display) -> Result<(), CliError> {
        self.bytes(format!("{line}\n").as_bytes())
    }

    /// Writes the result of a tool to standard output: unchanged to a program, escaped to a
    /// terminal.
    pub(crate) fn result(&self, content: &str) -> Result<(), CliError> {
        if self.out_is_terminal {
            return self.ended(&text::escape(content));
        }
        self.bytes(content.as_bytes())
    }

    /// Writes a result that is JSON. It ends with a newline for programs too, as text files do: the
    /// newline is not part of the document.
    pub(crate) fn json_result(&self, content: &str) -> Result<(), CliError> {
        if self.out_is_terminal {
            return self.result(content);
        }
        self.ended(content)
    }

    /// Writes text that ends with a newline, unless there is none.
    fn ended(&self, text: &str) -> Result<(), CliError> {
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        self.bytes(format!("{text}{end}").as_bytes())
    }

    /// Writes a JSON document to standard output.
    pub(crate) fn json(&self, value: &Value) -> Result<(), CliError> {
        let text = if self.out_is_terminal {
            // JSON escapes C0; the rest of what a terminal obeys is escaped in JSON's own way.
            text::json_escape(&format!("{value:#}"))
        } else {
            format!("{value}")
        };
        self.line(text)
    }

    /// Puts text into a style, where colours are wanted.
    pub(crate) fn paint(&self, style: Style, text: impl Display) -> String {
        if self.colour {
            format!("{}{text}\u{1b}[0m", style.code())
        } else {
            text.to_string()
        }
    }

    /// Writes to standard error; text of strangers must be escaped before.
    pub(crate) fn say(&self, line: impl Display) {
        // Nobody is left to tell that standard error is closed.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Writes to standard error without a newline.
    pub(crate) fn write(&self, text: &str) {
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Reports an error, escaped, with the way out.
    pub(crate) fn error(&self, message: &str, hint: Option<&str>) {
        let label = self.paint(Style::Bad, "error:");
        self.say(format_args!(
            "{label} {}",
            text::message(message.trim_end())
        ));
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Says what to do next.
    pub(crate) fn hint(&self, hint: &str) {
        let label = self.paint(Style::Note, "hint:");
        self.say(format_args!("{label} {}", text::message(hint)));
    }

    /// Reports something that is not as it may seem.
    pub(crate) fn warning(&self, message: &str) {
        let label = self.paint(Style::Note, "warning:");
        self.say(format_args!("{label} {}", text::message(message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_for_a_terminal_stays_json() {
        let value = Value::from("a\u{202e}b\u{9b}\u{e0041}\u{1b}\n");
        let shown = text::json_escape(&value.to_string());
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}

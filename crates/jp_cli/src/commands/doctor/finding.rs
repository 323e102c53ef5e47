//! What the doctor finds: a fact, how bad it is, and how to fix it. Knows nothing of the checks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::text;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Good to know; nothing has to be done.
    Note,
    /// Something will go wrong, or could not be checked.
    Warning,
    /// Something is wrong.
    Error,
}

impl Severity {
    /// Returns its name in output.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a finding is about; output is grouped by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Workspace,
    Tools,
    Files,
    Clock,
    System,
}

impl Family {
    /// All of them, in the order in which they are shown.
    pub(crate) const ALL: [Self; 5] = [
        Self::Workspace,
        Self::Tools,
        Self::Files,
        Self::Clock,
        Self::System,
    ];

    /// Returns its name in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Tools => "tools",
            Self::Files => "files",
            Self::Clock => "clock",
            Self::System => "system",
        }
    }

    /// Returns its heading.
    pub(crate) const fn heading(self) -> &'static str {
        match self {
            Self::Workspace => "Workspace",
            Self::Tools => "Tools",
            Self::Files => "Files and directories",
            Self::Clock => "Clock",
            Self::System => "System",
        }
    }
}

/// One problem. Its texts may come from strangers: they are escaped when shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) family: Family,
    pub(crate) severity: Severity,
    /// The tool, file or part of the system it is about.
    pub(crate) subject: String,
    pub(crate) problem: String,
    /// The command that fixes it, or else the line to write.
    pub(crate) fix: String,
}

impl Finding {
    /// Returns the finding as JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "family": self.family.as_str(),
            "severity": self.severity.as_str(),
            "subject": self.subject,
            "problem": self.problem,
            "fix": self.fix,
        })
    }
}

/// Puts a text on one line of a terminal, all of it: half a command would be another one.
pub(crate) fn whole_line(text: &str) -> String {
    text::escape_line(text.trim()).into_owned()
}

/// Writes a path the way a shell reads it back.
pub(crate) fn quoted(path: &Path) -> String {
    word(&path.display().to_string())
}

/// Writes a name the way a shell reads it back: it may be a stranger's, and fixes are run.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes the command that moves what is there of these out of the way, to names nothing has.
pub(crate) fn aside(paths: &[&Path]) -> String {
    let mut moves = Vec::new();
    for path in paths.iter().filter(|path| path.symlink_metadata().is_ok()) {
        let named = |end: String| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let numbered = (2..1000).map(|n| format!(".old-{n}"));
        let mut free = std::iter::once(".old".to_owned())
            .chain(numbered)
            .map(named);
        let free = free.find(|to| to.symlink_metadata().is_err());
        // `-n`: a name that was taken meanwhile stays as it is.
        let to = free.unwrap_or_else(|| named(".old".to_owned()));
        moves.push(format!("mv -n {} {}", quoted(path), quoted(&to)));
    }
    moves.join(" && ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_shell() {
        for (path, word) in [
            ("/home/a/.local/share/jp", "/home/a/.local/share/jp"),
            ("/a b/it's", r"'/a b/it'\''s'"),
            ("/a;rm -rf $HOME", "'/a;rm -rf $HOME'"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn names_are_words_of_a_shell() {
        for (name, written) in [("ocr", "ocr"), ("t;id", "'t;id'"), ("", "''")] {
            assert_eq!(word(name), written);
        }
        assert_eq!(word("[a.b';id;']"), r"'[a.b'\'';id;'\'']'");
    }

    #[test]
    fn no_part_of_a_line_is_lost_or_obeyed() {
        assert_eq!(
            whole_line("chmod 700 '/a\nb\u{1b}[2J'\n"),
            "chmod 700 '/a\\nb\\u{1b}[2J'"
        );
    }
}

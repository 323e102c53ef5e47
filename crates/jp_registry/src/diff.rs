//! What changed between two versions of a tool, as a person must see it before accepting it.
//!
//! Both sides are strangers' texts: every character that a terminal would obey or not show is
//! written out. What is accepted, and by whom, is not decided here.

use std::fmt;

use serde_json::Value;

mod custom;
mod manifests;
mod values;

pub(crate) use manifests::Side;

/// More lines are not shown; the last one says so, and the change is still one to be accepted.
const MAX_LINES: usize = 5_000;

/// Longer texts are shortened, with their length and sha256, so that two never look alike.
const MAX_TEXT: usize = 16 * 1024;

/// The differences between two versions of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    lines: Vec<Line>,
    left_out: usize,
    /// Why a person must accept the change; none if nobody has to.
    pub reasons: Vec<Reason>,
}

/// One line of a [`Diff`].
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// What the line says happened.
    sign: Sign,
    /// One line of text, safe to show.
    text: String,
}

/// What happened to the text of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// Why a person must accept a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The model would see another name, description or schema.
    Shown,
    /// The tool asks for more than before.
    Wider,
    /// The tool asks for higher limits than before.
    Limits,
    /// Another key signed it.
    Key,
    /// Its version is lower than the one before, and nobody typed it.
    Older,
    /// What was accepted is not on this machine, so nobody can say what is more than before.
    Unknown,
}

impl Diff {
    /// Compares what a model sees of a tool before and after: of an MCP server's, for instance.
    #[must_use]
    pub(crate) fn of_shown(old: &Value, new: &Value) -> Self {
        let mut diff = Self::default();
        diff.values("", old, new, Some(Reason::Shown));
        diff
    }

    /// Tells whether nothing differs.
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.left_out == 0
    }

    /// Compares two values field by field, under a name.
    pub(crate) fn values(&mut self, name: &str, old: &Value, new: &Value, why: Option<Reason>) {
        if old == new {
            return;
        }
        values::compare(name, old, new, self);
        self.because(why);
    }

    /// Compares two lists of lines, each of which stands for itself.
    pub(crate) fn lists(&mut self, name: &str, old: &[String], new: &[String]) {
        for gone in old.iter().filter(|line| !new.contains(line)) {
            self.push(Sign::Removed, &format!("{name}: {gone}"));
        }
        for added in new.iter().filter(|line| !old.contains(line)) {
            self.push(Sign::Added, &format!("{name}: {added}"));
        }
    }

    /// Adds a reason to ask a person.
    pub(crate) fn because(&mut self, why: Option<Reason>) {
        if let Some(why) = why.filter(|why| !self.reasons.contains(why)) {
            self.reasons.push(why);
        }
    }

    fn push(&mut self, sign: Sign, text: &str) {
        if self.lines.len() >= MAX_LINES {
            self.left_out += 1;
            return;
        }
        let text = jp_text::escape_line(text).into_owned();
        self.lines.push(Line { sign, text });
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{} {}", line.sign, line.text)?;
        }
        match self.left_out {
            0 => Ok(()),
            more => writeln!(f, "! {more} more differences are not shown"),
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "+",
            Self::Removed => "-",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shown => "the model would see something else",
            Self::Wider => "it asks for more than before",
            Self::Limits => "it asks for higher limits than before",
            Self::Key => "another key signed it",
            Self::Older => "it would go back to an older version",
            Self::Unknown => "what was accepted before is not known on this machine",
        })
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;

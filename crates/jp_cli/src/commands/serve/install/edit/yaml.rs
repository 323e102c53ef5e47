//! Edits a mapping in a YAML file: only the lines of the entry are touched.
//!
//! No reader of YAML keeps comments, so the lines are read as far as an edit needs, and whatever could be
//! misread is refused.

mod lines;
mod section;
mod value;

use serde_json::Value;

use self::{
    lines::{Kind, Line},
    section::{Section, section},
};
use super::{super::read::object, Change, Format, Target, error::EditError, merge};

/// Stands above a section that jp made, which goes again with the last entry.
const MADE: &str = "# added by jp serve install";

/// Returns the entry that a file has; null stands for one that is written in an unusual way.
pub(super) fn entry(text: &str, target: &Target<'_>) -> Result<Option<Value>, EditError> {
    let lines = lines::read(text)?;
    let section = section(text, &lines, target)?;
    Ok(section.and_then(|section| read(&lines, &section, target)))
}

/// Returns what a section of a file says; null stands for an entry that is written in an unusual way.
pub(super) fn document(text: &str, name: &str) -> Result<Value, EditError> {
    let lines = lines::read(text)?;
    let target = |name| Target {
        format: Format::Yaml,
        section: name,
        name: "",
    };
    let Some(found) = section(text, &lines, &target(name))? else {
        return Ok(Value::Null);
    };
    let entries = found.entries.iter().map(|(entry, ..)| {
        let target = Target {
            name: entry,
            ..target(name)
        };
        let value = read(&lines, &found, &target).unwrap_or_default();
        ((*entry).to_owned(), value)
    });
    Ok(object(name, entries.collect()))
}

fn read(lines: &[Line<'_>], section: &Section<'_>, target: &Target<'_>) -> Option<Value> {
    let (start, end) = section.entry(target.name)?;
    let first = lines.get(start)?;
    let value = match first.kind {
        Kind::Key(_, "") => value::read(lines.get(start + 1..end)?, first.indent),
        _ => None,
    };
    Some(value.unwrap_or_default())
}

/// Makes the change; nothing is returned where there is nothing to do.
pub(super) fn edit(
    text: &str,
    target: &Target<'_>,
    change: &Change<'_>,
) -> Result<Option<String>, EditError> {
    let lines = lines::read(text)?;
    let section = section(text, &lines, target)?;
    let old = section
        .as_ref()
        .and_then(|section| read(&lines, section, target));
    let wanted = match merge::wanted(old, target.name, change)? {
        merge::Wanted::Nothing => return Ok(None),
        merge::Wanted::Entry(entry) => Some(entry),
        merge::Wanted::Removed => None,
    };
    let file = File {
        text,
        lines: &lines,
    };
    let new = match (&section, &wanted) {
        (None, Some(wanted)) => file.with_section(target, wanted),
        (Some(section), Some(wanted)) => file.with_entry(section, target, wanted),
        (Some(section), None) => file.without_entry(section, target),
        (None, None) => return Ok(None),
    };
    verify(text, &new, target, wanted.as_ref())?;
    Ok(Some(new))
}

/// A text and its lines.
struct File<'a> {
    text: &'a str,
    lines: &'a [Line<'a>],
}

impl File<'_> {
    fn start(&self, line: usize) -> usize {
        self.lines
            .get(line)
            .map_or(self.text.len(), |line| line.start)
    }

    fn part(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn newline(&self) -> &'static str {
        let first = self.text.split_inclusive('\n').next().unwrap_or_default();
        if first.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Puts lines between two others. A file that ends without a line end goes on to do so.
    fn put(&self, before: &str, lines: &[String], after: &str) -> String {
        let newline = self.newline();
        let lines = lines.join(newline);
        match before.is_empty() || before.ends_with('\n') {
            true => format!("{before}{lines}{newline}{after}"),
            false => format!("{before}{newline}{lines}"),
        }
    }

    fn with_section(&self, target: &Target<'_>, wanted: &Value) -> String {
        let mut lines = vec![
            MADE.to_owned(),
            format!("{}:", target.section),
            format!("  {}:", target.name),
        ];
        value::write(wanted, 4, &mut lines);
        self.put(self.text, &lines, "")
    }

    fn with_entry(&self, section: &Section<'_>, target: &Target<'_>, wanted: &Value) -> String {
        let first = section
            .entries
            .first()
            .and_then(|(_, start, _)| self.lines.get(*start));
        let indent = first.map_or(2, |line| line.indent);
        let mut new = vec![format!("{}{}:", " ".repeat(indent), target.name)];
        value::write(wanted, indent + 2, &mut new);
        let last = section
            .entries
            .last()
            .map_or(section.key + 1, |(_, _, end)| *end);
        let (from, to) = section.entry(target.name).unwrap_or((last, last));
        let (from, to) = (self.start(from), self.start(to));
        let head = self.part(0, from);
        let head = match section.value {
            // The key of an empty section ends its line before its first entry comes.
            "{}" => {
                let key = self.part(0, self.start(section.key)).len();
                let (before, line) = head.split_at(key);
                let line = line.replacen(" {}", "", 1);
                format!("{before}{line}")
            }
            _ => head.to_owned(),
        };
        self.put(&head, &new, self.part(to, self.text.len()))
    }

    fn without_entry(&self, section: &Section<'_>, target: &Target<'_>) -> String {
        let Some((from, to)) = section.entry(target.name) else {
            return self.text.to_owned();
        };
        let after = self.part(self.start(to), self.text.len());
        let made = section.key.checked_sub(1).filter(|above| {
            let line = self.part(self.start(*above), self.start(section.key));
            let is_whole = section.key + 1 == from && section.entries.len() == 1;
            is_whole && line.trim_end() == MADE
        });
        let before = match made {
            Some(above) => self.part(0, self.start(above)).to_owned(),
            None if section.entries.len() == 1 => {
                let key = self.start(section.key) + target.section.len();
                let (key, rest) = self.part(0, self.start(from)).split_at(key + 1);
                format!("{key} {{}}{rest}")
            }
            None => self.part(0, self.start(from)).to_owned(),
        };
        if after.is_empty() && !self.text.ends_with('\n') {
            let before = before.strip_suffix('\n').unwrap_or(&before);
            return before.strip_suffix('\r').unwrap_or(before).to_owned();
        }
        format!("{before}{after}")
    }
}

/// Checks that the entry reads back as meant and that all else is as it was.
fn verify(
    old: &str,
    new: &str,
    target: &Target<'_>,
    wanted: Option<&Value>,
) -> Result<(), EditError> {
    if entry(new, target)?.as_ref() != wanted || rest(old, target)? != rest(new, target)? {
        return Err(EditError::Unverified);
    }
    Ok(())
}

/// Returns the lines of a file that are neither the section's key nor of the entry.
fn rest<'a>(text: &'a str, target: &Target<'_>) -> Result<Vec<&'a str>, EditError> {
    let lines = lines::read(text)?;
    let section = section(text, &lines, target)?;
    let entry = section
        .as_ref()
        .and_then(|section| section.entry(target.name));
    let is_of = |number: usize| {
        let is_key = section
            .as_ref()
            .is_some_and(|section| section.key == number);
        is_key || entry.is_some_and(|(start, end)| (start..end).contains(&number))
    };
    let others = lines
        .iter()
        .enumerate()
        .filter(|(number, _)| !is_of(*number));
    let texts = others.map(|(_, line)| text.get(line.start..line.end).unwrap_or_default());
    let texts = texts.map(str::trim_end);
    Ok(texts
        .filter(|line| *line != MADE && !line.is_empty())
        .collect())
}

//! Finds the section of a file and its entries.

use std::collections::BTreeSet;

use super::{
    super::{
        Target,
        error::{EditError, Place},
    },
    lines::{Kind, Line},
};

/// The section of a file, as numbers of lines.
pub(super) struct Section<'a> {
    pub(super) key: usize,
    /// What follows the key on its line.
    pub(super) value: &'a str,
    /// The names of the entries, and where each starts and ends.
    pub(super) entries: Vec<(&'a str, usize, usize)>,
}

impl Section<'_> {
    /// Returns where an entry starts and ends.
    pub(super) fn entry(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.entries.iter().find(|(entry, ..)| *entry == name);
        found.map(|(_, start, end)| (*start, *end))
    }
}

/// Finds the section and its entries.
pub(super) fn section<'a>(
    text: &str,
    lines: &[Line<'a>],
    target: &Target<'_>,
) -> Result<Option<Section<'a>>, EditError> {
    let mut known = BTreeSet::new();
    let mut found = None;
    for (number, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.indent == 0)
    {
        match line.kind {
            Kind::Key(key, _) if !known.insert(key) => return Err(duplicate(number, key)),
            Kind::Key(key, value) if key == target.section => found = Some((number, value)),
            Kind::Key(..) => {}
            Kind::Item(_) if !known.is_empty() => {}
            Kind::Item(_) | Kind::More | Kind::Text => {
                let what = "a file that is not a mapping of keys";
                return Err(unusual(number, what));
            }
            Kind::Blank | Kind::Comment | Kind::Start => {}
        }
    }
    let first = lines
        .iter()
        .position(|line| line.is_value() && line.kind != Kind::Start);
    if let Some(first) = first.filter(|first| lines.get(*first).is_some_and(|line| line.indent > 0))
    {
        return Err(unusual(first, "a file that starts with an indented line"));
    }
    let Some((key, value)) = found else {
        return Ok(None);
    };
    let start = lines.get(key).map_or(0, |line| line.start);
    let rest = text
        .get(start..)
        .and_then(|line| line.strip_prefix(target.section));
    let is_plain = rest.is_some_and(|rest| rest.starts_with(':'));
    if !is_plain || !matches!(value, "" | "{}") {
        return Err(unusual(key, "a section that is not a block"));
    }
    let ends = |line: &&Line<'_>| line.indent == 0 && matches!(line.kind, Kind::Key(..));
    let below = lines.get(key + 1..).unwrap_or_default();
    let end = key + 1 + below.iter().take_while(|line| !ends(line)).count();
    Ok(Some(Section {
        key,
        value,
        entries: entries(lines, key, end)?,
    }))
}

fn entries<'a>(
    lines: &[Line<'a>],
    key: usize,
    end: usize,
) -> Result<Vec<(&'a str, usize, usize)>, EditError> {
    let mut all: Vec<(&str, usize, usize)> = Vec::new();
    let mut known = BTreeSet::new();
    let mut own = None;
    for (number, line) in lines.iter().enumerate().take(end).skip(key + 1) {
        if !line.is_value() {
            continue;
        }
        let own = *own.get_or_insert(line.indent);
        match (line.kind, all.last_mut()) {
            (Kind::Key(name, _), _) if line.indent == own && own > 0 => {
                if !known.insert(name) {
                    return Err(duplicate(number, name));
                }
                all.push((name, number, number + 1));
            }
            (_, Some((_, _, end))) if line.indent > own => *end = number + 1,
            (Kind::Item(_), Some((_, _, end))) if line.indent == own && own > 0 => {
                *end = number + 1
            }
            _ => return Err(unusual(number, "a section that is not a mapping of names")),
        }
    }
    Ok(all)
}

fn duplicate(line: usize, key: &str) -> EditError {
    EditError::Duplicate {
        place: Place::line(line),
        key: key.to_owned(),
    }
}

const fn unusual(line: usize, what: &'static str) -> EditError {
    EditError::Unusual {
        place: Place::line(line),
        what,
    }
}

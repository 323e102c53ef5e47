//! Edits a table in a TOML file: only the lines of the entry are touched.

mod lines;
mod value;

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table};

use self::{
    lines::{block, line_end, line_start, span, spliced, with_blank_line},
    value::{value_of, written},
};
use super::{
    Change, Target,
    error::{EditError, Place},
    merge,
};

/// Returns the entry that a file has.
pub(super) fn entry(text: &str, target: &Target<'_>) -> Result<Option<Value>, EditError> {
    let document = parse(text)?;
    let item = find(document.as_table(), target)?;
    Ok(item.map(value_of))
}

/// Returns all that a file says.
pub(super) fn document(text: &str) -> Result<Value, EditError> {
    Ok(value_of(parse(text)?.as_item()))
}

/// Makes the change; nothing is returned where there is nothing to do.
pub(super) fn edit(
    text: &str,
    target: &Target<'_>,
    change: &Change<'_>,
) -> Result<Option<String>, EditError> {
    let document = parse(text)?;
    let old = find(document.as_table(), target)?;
    let wanted = match merge::wanted(old.map(value_of), target.name, change)? {
        merge::Wanted::Nothing => return Ok(None),
        merge::Wanted::Entry(entry) => Some(entry),
        merge::Wanted::Removed => None,
    };
    let new = match (old, &wanted) {
        (None, Some(wanted)) => added(text, target, wanted),
        (Some(old), Some(wanted)) => updated(text, old, wanted)?,
        (Some(old), None) => removed(text, header(text, old)?)?,
        (None, None) => return Ok(None),
    };
    verify(text, &new, target, wanted.as_ref())?;
    Ok(Some(new))
}

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| EditError::Toml {
        place: Place::of(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })
}

fn find<'a>(root: &'a Table, target: &Target<'_>) -> Result<Option<&'a Item>, EditError> {
    let Some(section) = root.get(target.section) else {
        return Ok(None);
    };
    let section = section.as_table_like().ok_or_else(|| EditError::Kind {
        key: target.section.to_owned(),
        found: section.type_name(),
    })?;
    Ok(section.get(target.name))
}

/// Returns the table of an entry that has a header of its own.
fn header<'a>(text: &str, item: &'a Item) -> Result<&'a Table, EditError> {
    let table = item
        .as_table()
        .filter(|table| !table.is_dotted() && !table.is_implicit());
    table.ok_or_else(|| EditError::Unusual {
        place: Place::of(text, item.span().map_or(0, |span| span.start)),
        what: "an entry without a header of its own",
    })
}

fn newline(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    }
}

/// Puts the entry at the end, behind an empty line. It ends as the file did.
fn added(text: &str, target: &Target<'_>, wanted: &Value) -> String {
    let newline = newline(text);
    let mut lines = vec![format!("[{}.{}]", target.section, target.name)];
    for (key, value) in wanted.as_object().into_iter().flatten() {
        lines.push(format!("{key} = {}", written(value)));
    }
    let block = lines.join(newline);
    match text {
        "" => format!("{block}{newline}"),
        _ if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        _ => format!("{text}{newline}{newline}{block}"),
    }
}

/// Changes the values that differ, and only their lines.
fn updated(text: &str, old: &Item, wanted: &Value) -> Result<String, EditError> {
    let table = header(text, old)?;
    let newline = newline(text);
    let before = value_of(old);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut new = String::new();
    for (key, value) in wanted.as_object().into_iter().flatten() {
        match (before.get(key), span(table, key)) {
            (Some(same), _) if same == value => {}
            (_, Some((_, old))) => edits.push((old, written(value))),
            (Some(_), None) => return Err(unusual(text, old)),
            (None, None) => new.push_str(&format!("{key} = {}{newline}", written(value))),
        }
    }
    let gone = before.as_object().into_iter().flatten();
    for (key, _) in gone.filter(|(key, _)| wanted.get(*key).is_none()) {
        let (key, value) = span(table, key).ok_or_else(|| unusual(text, old))?;
        edits.push((
            line_start(text, key.start)..line_end(text, value.end),
            String::new(),
        ));
    }
    let end = block(text, table).end;
    if !new.is_empty() {
        if !text.get(..end).is_some_and(|before| before.ends_with('\n')) {
            new = format!("{newline}{}", new.trim_end());
        }
        edits.push((end..end, new));
    }
    Ok(spliced(text, edits))
}

fn unusual(text: &str, item: &Item) -> EditError {
    EditError::Unusual {
        place: Place::of(text, item.span().map_or(0, |span| span.start)),
        what: "a key that is a table of its own",
    }
}

/// Takes the lines of a table and of those below it out.
fn removed(text: &str, table: &Table) -> Result<String, EditError> {
    let mut blocks = vec![block(text, table)];
    let mut left: Vec<&Table> = vec![table];
    while let Some(table) = left.pop() {
        for (_, item) in table.iter() {
            match item {
                Item::ArrayOfTables(_) => return Err(unusual(text, item)),
                Item::Table(below) => {
                    if !below.is_dotted() && !below.is_implicit() {
                        blocks.push(block(text, below));
                    }
                    left.push(below);
                }
                _ => {}
            }
        }
    }
    let blocks = blocks.into_iter();
    let edits = blocks.map(|block| (with_blank_line(text, block), String::new()));
    Ok(spliced(text, edits.collect()))
}

/// Checks that the entry reads back as meant and that all else is as it was.
fn verify(
    old: &str,
    new: &str,
    target: &Target<'_>,
    wanted: Option<&Value>,
) -> Result<(), EditError> {
    let rest = |text: &str| -> Result<Value, EditError> {
        let mut all = value_of(parse(text)?.as_item());
        let section = all.get_mut(target.section).and_then(Value::as_object_mut);
        let is_empty = section.is_some_and(|section| {
            section.shift_remove(target.name);
            section.is_empty()
        });
        if let Some(all) = all.as_object_mut().filter(|_| is_empty) {
            all.shift_remove(target.section);
        }
        Ok(all)
    };
    let same = entry(new, target)?.as_ref() == wanted && rest(old)? == rest(new)?;
    if same {
        Ok(())
    } else {
        Err(EditError::Unverified)
    }
}

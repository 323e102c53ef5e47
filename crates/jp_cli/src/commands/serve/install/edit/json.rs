//! Edits an object in a JSON file.

mod node;
mod parse;
mod write;

use serde_json::{Map, Value};

use self::{
    node::{Kind, Member, Node, slice},
    write::{Shape, Style},
};
use super::{Change, Target, error::EditError, merge};

/// Returns the entry that a file has.
pub(super) fn entry(text: &str, target: &Target<'_>) -> Result<Option<Value>, EditError> {
    let root = target.parse(text)?;
    let section = section(text, root.as_ref(), target)?;
    let member = section.and_then(|section| section.value.member(target.name));
    Ok(member.map(|member| member.value.value(text)))
}

/// Returns all that a file says.
pub(super) fn document(text: &str, comments: bool) -> Result<Value, EditError> {
    let root = parse::parse(text, comments)?;
    Ok(root.map_or(Value::Null, |root| root.value(text)))
}

/// Makes the change; nothing is returned where there is nothing to do.
pub(super) fn edit(
    text: &str,
    target: &Target<'_>,
    change: &Change<'_>,
) -> Result<Option<String>, EditError> {
    let root = target.parse(text)?;
    let section = section(text, root.as_ref(), target)?;
    let old = section.and_then(|section| section.value.member(target.name));
    let wanted = match merge::wanted(old.map(|old| old.value.value(text)), target.name, change)? {
        merge::Wanted::Nothing => return Ok(None),
        merge::Wanted::Entry(entry) => Some(entry),
        merge::Wanted::Removed => None,
    };
    let new = match (&root, section, old, &wanted) {
        (None, ..) => added_to_nothing(text, target, wanted.as_ref()),
        (Some(root), None, _, Some(wanted)) => {
            let value = Value::Object(Map::from_iter([(target.name.to_owned(), wanted.clone())]));
            let member = (target.section, &value);
            Style::of(text, Some(root)).insert(text, root, member, Shape::Lines)
        }
        (Some(root), Some(section), None, Some(wanted)) => {
            let style = Style::of(text, Some(root));
            let shape = shape_in(text, &section.value);
            style.insert(text, &section.value, (target.name, wanted), shape)
        }
        (Some(_), Some(_), Some(old), Some(wanted)) => {
            updated(text, target, &old.value.value(text), wanted)?
        }
        (Some(root), Some(section), Some(old), None) => removed(text, root, section, old),
        (Some(_), _, None, None) | (Some(_), None, Some(_), None) => return Ok(None),
    };
    verify(text, &new, target, wanted.as_ref())?;
    Ok(Some(new))
}

impl Target<'_> {
    fn parse(&self, text: &str) -> Result<Option<Node>, EditError> {
        parse::parse(text, self.format.has_comments())
    }
}

/// Finds the object that holds the entries.
fn section<'a>(
    text: &str,
    root: Option<&'a Node>,
    target: &Target<'_>,
) -> Result<Option<&'a Member>, EditError> {
    let Some(root) = root else {
        return Ok(None);
    };
    let object = |node: &Node, key: &str| match node.kind {
        Kind::Object(_) => Ok(()),
        _ => Err(EditError::Kind {
            key: key.to_owned(),
            found: node.word(text),
        }),
    };
    object(root, "the file")?;
    let section = root.member(target.section);
    section.map_or(Ok(()), |section| object(&section.value, target.section))?;
    Ok(section)
}

/// A file of white space and comments keeps them.
fn added_to_nothing(text: &str, target: &Target<'_>, wanted: Option<&Value>) -> String {
    let Some(wanted) = wanted else {
        return text.to_owned();
    };
    let value = Value::Object(Map::from_iter([(target.name.to_owned(), wanted.clone())]));
    let document = Style::of(text, None).document(target.section, &value);
    match text.trim().is_empty() {
        true => document,
        false => format!("{}\n{document}", text.trim_end()),
    }
}

/// An entry is written on as many lines as those around it.
fn shape_in(text: &str, section: &Node) -> Shape {
    let is_empty = section.members().is_none_or(<[Member]>::is_empty);
    match slice(text, &section.span).contains('\n') && !is_empty {
        true => Shape::Lines,
        false => Shape::Line,
    }
}

/// Changes only the keys that differ, so that comments between them stay.
fn updated(
    text: &str,
    target: &Target<'_>,
    old: &Value,
    wanted: &Value,
) -> Result<String, EditError> {
    let pairs = old.as_object().zip(wanted.as_object());
    // Of somebody else's entry nothing stays, and it may have any number of keys.
    let Some((old, wanted)) = pairs.filter(|_| merge::is_ours(old)) else {
        return step(text, target, |style, text, entry| {
            style.replace(text, entry, wanted)
        });
    };
    let mut text = text.to_owned();
    for (key, value) in wanted {
        if old.get(key) == Some(value) {
            continue;
        }
        text = step(&text, target, |style, text, entry| {
            match entry.member(key) {
                Some(member) => style.replace(text, &member.value, value),
                None => {
                    let shape = match slice(text, &entry.span).contains('\n') {
                        true => Shape::Lines,
                        false => Shape::Line,
                    };
                    style.insert(text, entry, (key, value), shape)
                }
            }
        })?;
    }
    for key in old.keys().filter(|key| !wanted.contains_key(*key)) {
        text = step(&text, target, |_, text, entry| {
            write::remove(text, entry, key)
        })?;
    }
    Ok(text)
}

/// Does one step of a change to the entry that is there.
fn step(
    text: &str,
    target: &Target<'_>,
    edit: impl FnOnce(&Style, &str, &Node) -> String,
) -> Result<String, EditError> {
    let root = target.parse(text)?;
    let section = section(text, root.as_ref(), target)?;
    let entry = section.and_then(|section| section.value.member(target.name));
    let entry = entry.ok_or(EditError::Unverified)?;
    Ok(edit(&Style::of(text, root.as_ref()), text, &entry.value))
}

fn removed(text: &str, root: &Node, section: &Member, entry: &Member) -> String {
    // What jp made for the entry goes with it.
    let inside = slice(text, &entry.value.span).trim_start_matches('{');
    let is_on_lines = inside
        .trim_start_matches([' ', '\t', '\r'])
        .starts_with('\n');
    if is_on_lines && write::is_only(text, &section.value, entry) {
        return write::remove(text, root, &section.key);
    }
    write::remove(text, &section.value, &entry.key)
}

/// Checks that the entry reads back as meant and that all else is as it was.
fn verify(
    old: &str,
    new: &str,
    target: &Target<'_>,
    wanted: Option<&Value>,
) -> Result<(), EditError> {
    if entry(new, target)?.as_ref() != wanted {
        return Err(EditError::Unverified);
    }
    let (before, after) = (target.parse(old)?, target.parse(new)?);
    match rest(old, before.as_ref(), target) == rest(new, after.as_ref(), target) {
        true => Ok(()),
        false => Err(EditError::Unverified),
    }
}

/// Returns all values of a file but the entry, as they are written, with where they are.
fn rest<'a>(
    text: &'a str,
    root: Option<&Node>,
    target: &Target<'_>,
) -> Vec<(Vec<String>, &'a str)> {
    let mut all = Vec::new();
    let mut left: Vec<(Vec<String>, &Node)> = Vec::new();
    let top = root.and_then(Node::members).unwrap_or_default();
    for member in top {
        if member.key != target.section {
            left.push((vec![member.key.clone()], &member.value));
            continue;
        }
        let entries = member.value.members().unwrap_or_default();
        let others = entries.iter().filter(|entry| entry.key != target.name);
        left.extend(others.map(|one| (vec![member.key.clone(), one.key.clone()], &one.value)));
    }
    for (path, node) in left {
        // As it is written: comments inside of it count too.
        all.push((path, slice(text, &node.span)));
    }
    all
}

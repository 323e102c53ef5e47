//! Puts members into JSON objects and takes them out, and leaves every other byte as it is.
//!
//! What is put in can be taken out again without a trace. An object that is there and empty is filled in the
//! same way as one that jp makes, so the entry itself tells them apart: in the former it is on one line.

use std::ops::Range;

use serde_json::Value;

use super::node::{Member, Node, slice};

/// How the lines of a file end and how far they are indented.
#[derive(Debug, Clone)]
pub(super) struct Style {
    newline: &'static str,
    unit: String,
}

/// Where a value is put: on one line, or as many as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Line,
    Lines,
}

impl Style {
    /// Looks how a file is written.
    pub(super) fn of(text: &str, root: Option<&Node>) -> Self {
        let first = text.split_inclusive('\n').next().unwrap_or_default();
        let newline = if first.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let members = root.and_then(Node::members).unwrap_or_default();
        let base = root.map_or("", |root| indent(text, root.span.start));
        let unit = members.iter().find_map(|member| {
            let own = own_line(text, member.start)?;
            let own = slice(text, &(own + newline_len(text, own)..member.start));
            own.strip_prefix(base).filter(|unit| !unit.is_empty())
        });
        Self {
            newline,
            unit: unit.unwrap_or("  ").to_owned(),
        }
    }

    /// Writes a whole document.
    pub(super) fn document(&self, key: &str, value: &Value) -> String {
        let (newline, unit) = (self.newline, &self.unit);
        let member = self.member(key, value, unit, Shape::Lines);
        format!("{{{newline}{unit}{member}{newline}}}{newline}")
    }

    fn member(&self, key: &str, value: &Value, indent: &str, shape: Shape) -> String {
        let key = Value::from(key);
        format!("{key}: {}", self.value(value, indent, shape))
    }

    /// Writes a value; lists stay on one line.
    fn value(&self, value: &Value, indent: &str, shape: Shape) -> String {
        match (value, shape) {
            (Value::Object(members), Shape::Lines) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit);
                let lines = members.iter();
                let lines = lines.map(|(key, value)| self.member(key, value, &inner, shape));
                let newline = self.newline;
                let between = format!(",{newline}{inner}");
                let lines = lines.collect::<Vec<_>>().join(&between);
                format!("{{{newline}{inner}{lines}{newline}{indent}}}")
            }
            (Value::Object(members), _) => {
                let members = members.iter();
                let members = members.map(|(key, value)| self.member(key, value, "", Shape::Line));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            (Value::Array(items), _) => {
                let items = items.iter().map(|item| self.value(item, "", Shape::Line));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            (scalar, _) => scalar.to_string(),
        }
    }

    /// Puts a member behind the last one of an object.
    pub(super) fn insert(
        &self,
        text: &str,
        object: &Node,
        (key, value): (&str, &Value),
        shape: Shape,
    ) -> String {
        let base = indent(text, object.span.start);
        let Some(last) = object.members().and_then(<[Member]>::last) else {
            return self.insert_first(text, object, (key, value), shape);
        };
        let own = own_line(text, last.start);
        let own = own.map(|own| slice(text, &(own + newline_len(text, own)..last.start)));
        let before = match own {
            Some(own) => format!("{}{own}", self.newline),
            None => " ".to_owned(),
        };
        // A comment on the line of the last member stays with it.
        let behind = |end: usize| match own {
            Some(_) => same_line(text, end),
            None => end,
        };
        let member = self.member(key, value, own.unwrap_or(base), shape);
        match last.comma {
            Some(comma) => {
                let at = behind(comma + 1);
                splice(text, at..at, &format!("{before}{member},"))
            }
            None => {
                let end = last.value.span.end;
                let at = behind(end);
                let text = splice(text, at..at, &format!("{before}{member}"));
                splice(&text, end..end, ",")
            }
        }
    }

    /// Puts a member into an object that has none.
    fn insert_first(
        &self,
        text: &str,
        object: &Node,
        (key, value): (&str, &Value),
        shape: Shape,
    ) -> String {
        let base = indent(text, object.span.start);
        let newline = self.newline;
        let child = format!("{base}{}", self.unit);
        let member = self.member(key, value, &child, shape);
        let inside = object.span.start + 1..object.span.end - 1;
        match slice(text, &inside) {
            "" => {
                let lines = format!("{newline}{child}{member}{newline}{base}");
                splice(text, inside, &lines)
            }
            // Nothing but white space, which shows afterwards that it was there before.
            blank if blank.trim().is_empty() => {
                let hugging = self.member(key, value, base, shape);
                splice(text, inside.start..inside.start, &hugging)
            }
            comment => {
                let at = inside.start + comment.trim_end().len();
                splice(text, at..at, &format!("{newline}{child}{member}"))
            }
        }
    }

    /// Writes another value in the place of one.
    pub(super) fn replace(&self, text: &str, old: &Node, value: &Value) -> String {
        let shape = match slice(text, &old.span).contains('\n') {
            true => Shape::Lines,
            false => Shape::Line,
        };
        let value = self.value(value, indent(text, old.span.start), shape);
        splice(text, old.span.clone(), &value)
    }
}

/// Takes a member out of an object.
pub(super) fn remove(text: &str, object: &Node, key: &str) -> String {
    let members = object.members().unwrap_or_default();
    let Some(index) = members.iter().position(|member| member.key == key) else {
        return text.to_owned();
    };
    let Some(member) = members.get(index) else {
        return text.to_owned();
    };
    let own = own_line(text, member.start);
    let before = index.checked_sub(1).and_then(|index| members.get(index));
    let is_last = index + 1 == members.len();
    match before {
        None if is_last => remove_only(text, object, member, own),
        Some(before) if is_last => {
            let from = own.unwrap_or_else(|| {
                let between = before.end()..member.start;
                match slice(text, &between).trim().is_empty() {
                    true => between.start,
                    false => member.start,
                }
            });
            let left = splice(text, from..member.end(), "");
            match (member.comma, before.comma) {
                (None, Some(comma)) => splice(&left, comma..comma + 1, ""),
                _ => left,
            }
        }
        _ => {
            let end = member.end();
            let rest = text.get(end..).unwrap_or_default();
            let blank = rest.len() - rest.trim_start_matches(' ').len();
            match own {
                Some(own) => splice(text, own..end, ""),
                None => splice(text, member.start..end + blank, ""),
            }
        }
    }
}

fn remove_only(text: &str, object: &Node, member: &Member, own: Option<usize>) -> String {
    let inside = object.span.start + 1..object.span.end - 1;
    let before = slice(text, &(inside.start..member.start));
    if before.contains('\n') && is_only(text, object, member) {
        return splice(text, inside, "");
    }
    splice(text, own.unwrap_or(member.start)..member.end(), "")
}

/// Says whether an object holds nothing but a member, not even a comment.
pub(super) fn is_only(text: &str, object: &Node, member: &Member) -> bool {
    let before = object.span.start + 1..member.start;
    let after = member.end()..object.span.end - 1;
    let blank = |span: &Range<usize>| slice(text, span).trim().is_empty();
    object.members().map_or(0, <[Member]>::len) == 1 && blank(&before) && blank(&after)
}

fn splice(text: &str, span: Range<usize>, new: &str) -> String {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    [before, new, after].concat()
}

/// Returns the white space that the line of a byte starts with.
fn indent(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// Returns where the line before ends, if nothing but white space is between that and a byte.
fn own_line(text: &str, at: usize) -> Option<usize> {
    let before = text.get(..at)?.trim_end_matches([' ', '\t']);
    let line = before.strip_suffix('\n')?;
    Some(line.strip_suffix('\r').unwrap_or(line).len())
}

fn newline_len(text: &str, at: usize) -> usize {
    match text.as_bytes().get(at) {
        Some(b'\r') => 2,
        _ => 1,
    }
}

/// Returns where the comments end that follow a byte on its line.
fn same_line(text: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let blank = rest.trim_start_matches([' ', '\t']);
        let at = end + rest.len() - blank.len();
        if blank.starts_with("//") {
            let line = blank.split('\n').next().unwrap_or_default();
            return at + line.strip_suffix('\r').unwrap_or(line).len();
        }
        let Some((comment, _)) = blank
            .strip_prefix("/*")
            .and_then(|in_it| in_it.split_once("*/"))
        else {
            return end;
        };
        end = at + comment.len() + 4;
        if comment.contains('\n') {
            return end;
        }
    }
}

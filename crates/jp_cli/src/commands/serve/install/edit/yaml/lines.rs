//! Reads the lines of a YAML file as far as an edit needs, and refuses what it might misread.

use super::super::error::{EditError, Place};

/// A line of a file.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) start: usize,
    /// Where it ends, with its line end.
    pub(super) end: usize,
    pub(super) indent: usize,
    pub(super) kind: Kind<'a>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Blank,
    Comment,
    /// `---` before everything else.
    Start,
    /// A line of a text that `|` or `>` began.
    Text,
    /// A key and what follows on its line, without a comment.
    Key(&'a str, &'a str),
    /// An item of a list.
    Item(&'a str),
    /// A line that goes on with a value.
    More,
}

impl Line<'_> {
    /// Says whether the line holds something of a value.
    pub(super) const fn is_value(&self) -> bool {
        !matches!(self.kind, Kind::Blank | Kind::Comment)
    }
}

/// Reads all lines.
pub(super) fn read(text: &str) -> Result<Vec<Line<'_>>, EditError> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut start = 0;
    // How far the line is indented that began a text.
    let mut inside: Option<usize> = None;
    for (number, raw) in text.split_inclusive('\n').enumerate() {
        let body = raw.trim_end_matches(['\n', '\r']);
        let rest = body.trim_start_matches(' ');
        let indent = body.len() - rest.len();
        let is_blank = rest.trim().is_empty();
        if !is_blank && inside.is_some_and(|above| indent <= above) {
            inside = None;
        }
        let unusual = |what| EditError::Unusual {
            place: Place::line(number),
            what,
        };
        let kind = match rest {
            _ if inside.is_some() && is_blank => Kind::Blank,
            _ if inside.is_some() => Kind::Text,
            _ if is_blank => Kind::Blank,
            _ if rest.starts_with('\t') => return Err(unusual("a line that starts with a tab")),
            _ if rest.starts_with('#') => Kind::Comment,
            "---" if !lines.iter().any(Line::is_value) => Kind::Start,
            _ if indent == 0
                && ["---", "...", "%"]
                    .iter()
                    .any(|mark| rest.starts_with(mark)) =>
            {
                return Err(unusual("several documents"));
            }
            _ => {
                let (kind, begins_text) = structure(rest).map_err(unusual)?;
                inside = begins_text.then_some(indent);
                let above = lines.iter().rev().find(|line| line.is_value());
                if above.is_some_and(|above| !may_follow(above, indent, kind)) {
                    return Err(unusual("a line below a value that has ended"));
                }
                kind
            }
        };
        lines.push(Line {
            start,
            end: start + raw.len(),
            indent,
            kind,
        });
        start += raw.len();
    }
    if inside.is_some() && !text.ends_with('\n') {
        return Err(EditError::Unusual {
            place: Place::line(lines.len().saturating_sub(1)),
            what: "a text that ends without a line end",
        });
    }
    Ok(lines)
}

/// Says whether a line can stand below another one.
fn may_follow(above: &Line<'_>, indent: usize, kind: Kind<'_>) -> bool {
    match above.kind {
        Kind::Key(_, value) if indent > above.indent && !value.is_empty() => {
            let is_text = value.starts_with(['|', '>']);
            let has_ended = value.starts_with(['"', '\'', '[', '{']);
            is_text || !has_ended && !matches!(kind, Kind::Key(..))
        }
        _ => true,
    }
}

/// Reads a line that is neither blank nor a comment; and whether it begins a text of several lines.
fn structure(line: &str) -> Result<(Kind<'_>, bool), &'static str> {
    let mut item = None;
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix("- ") {
        rest = inner.trim_start_matches(' ');
        item.get_or_insert(rest);
    }
    if rest == "-" {
        return Ok((Kind::Item(""), false));
    }
    let (key, value) = match key(rest)? {
        Some((key, value)) => (Some(key), value),
        None => (None, rest),
    };
    let (value, begins_text) = checked(value)?;
    Ok(match (item, key) {
        (Some(_), Some(_)) => (Kind::Item(rest), begins_text),
        (Some(_), None) => (Kind::Item(value), begins_text),
        (None, Some(key)) => (Kind::Key(key, value), begins_text),
        (None, None) => (Kind::More, begins_text),
    })
}

/// Splits a line into its key and what follows.
fn key(line: &str) -> Result<Option<(&str, &str)>, &'static str> {
    let first = line.chars().next().unwrap_or_default();
    if matches!(first, '&' | '*' | '!') {
        return Err("an anchor, an alias or a tag");
    }
    if line.starts_with("? ") || line.starts_with("<<:") {
        return Err("a merge or a complex key");
    }
    if matches!(first, '"' | '\'') {
        let end = quoted(line).ok_or("a quoted text of several lines")?;
        let inner = line.get(1..end - 1).unwrap_or_default();
        let Some(value) = line.get(end..).and_then(|rest| rest.strip_prefix(':')) else {
            return Ok(None);
        };
        if inner.contains(['\\', '\'']) {
            return Err("a key with escapes");
        }
        return Ok(Some((inner, value)));
    }
    if matches!(first, '[' | '{') {
        return Ok(None);
    }
    let ends = |(at, _): &(usize, &str)| {
        let next = line.get(at + 1..).unwrap_or_default();
        next.is_empty() || next.starts_with([' ', '\t'])
    };
    let colon = line.match_indices(':').find(ends);
    let comment = line.find(" #").unwrap_or(line.len());
    Ok(colon.filter(|(at, _)| *at < comment).map(|(at, _)| {
        let (key, value) = line.split_at(at);
        (key.trim_end(), value.get(1..).unwrap_or_default())
    }))
}

/// Checks that a value ends on its line, or is a text that `|` or `>` begins; returns it without a comment.
fn checked(value: &str) -> Result<(&str, bool), &'static str> {
    let value = value.trim();
    if value.starts_with('#') {
        return Ok(("", false));
    }
    let (end, is_text) = match value.chars().next() {
        Some('&' | '*' | '!') => return Err("an anchor, an alias or a tag"),
        Some('"' | '\'') => (
            quoted(value).ok_or("a quoted text of several lines")?,
            false,
        ),
        Some('[' | '{') => (
            flow(value).ok_or("a list or mapping in brackets of several lines")?,
            false,
        ),
        Some('|' | '>') => {
            let header = value.split(" #").next().unwrap_or_default();
            if header.contains('+') {
                return Err("a text that keeps the empty lines behind it");
            }
            (header.len(), true)
        }
        _ => {
            let end = value.find(" #").unwrap_or(value.len());
            let plain = value.get(..end).unwrap_or_default().trim_end();
            let is_odd =
                plain == "-" || plain.starts_with("- ") || plain.starts_with(['@', '`', '%']);
            if is_odd || plain.contains(": ") || plain.ends_with(':') {
                return Err("a value that needs quotes");
            }
            (end, false)
        }
    };
    let (value, rest) = value.split_at_checked(end).unwrap_or((value, ""));
    let rest = rest.trim_start();
    match rest.is_empty() || rest.starts_with('#') {
        true => Ok((value.trim_end(), is_text)),
        false => Err("text behind a value"),
    }
}

/// Returns where a quoted text ends that a value starts with.
fn quoted(value: &str) -> Option<usize> {
    let quote = value.chars().next()?;
    let mut escaped = false;
    let mut chars = value.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
                continue;
            }
            return Some(at + 1);
        }
    }
    None
}

/// Returns where a list or mapping in brackets ends that a value starts with.
fn flow(value: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = value.get(at..) {
        let c = rest.chars().next()?;
        match c {
            '"' | '\'' => {
                at += quoted(rest)?;
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += c.len_utf8();
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

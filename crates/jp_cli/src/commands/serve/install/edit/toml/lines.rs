//! Finds the lines of a table.

use std::ops::Range;

use toml_edit::{Item, Table, TableLike};

/// Returns where a key and its value are.
pub(super) fn span(table: &Table, key: &str) -> Option<(Range<usize>, Range<usize>)> {
    let value = table.get(key)?.as_value()?;
    Some((table.key(key)?.span()?, value.span()?))
}

/// Adds the empty line before a table, and what ends the line before that where the file ends with the
/// table and without a line end.
pub(super) fn with_blank_line(text: &str, block: Range<usize>) -> Range<usize> {
    let before = text.get(..block.start).unwrap_or_default();
    let shorter = |line: &str| {
        let line = line.strip_suffix('\n')?;
        Some(line.strip_suffix('\r').unwrap_or(line).len())
    };
    let mut start = block.start;
    if let Some(end) = shorter(before)
        && (end == 0
            || before
                .get(..end)
                .is_some_and(|before| before.ends_with('\n')))
    {
        start = end;
    }
    let ends = text
        .get(block.clone())
        .is_some_and(|block| block.ends_with('\n'));
    if block.end == text.len() && !ends {
        start = text.get(..start).and_then(shorter).unwrap_or(start);
    }
    start..block.end
}

/// Returns the lines of a table: its header and its values, without the tables below it.
pub(super) fn block(text: &str, table: &Table) -> Range<usize> {
    let header = table.span().unwrap_or(0..0);
    let mut end = header.end;
    let mut left: Vec<&dyn TableLike> = vec![table];
    while let Some(table) = left.pop() {
        for (_, item) in table.iter() {
            match item {
                Item::Value(value) => end = end.max(value.span().map_or(0, |span| span.end)),
                Item::Table(below) if below.is_dotted() => left.push(below),
                _ => {}
            }
        }
    }
    line_start(text, header.start)..line_end(text, end)
}

/// Returns where the line of a byte starts.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Returns where the line of a byte ends, with its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Writes other texts in the place of parts of a text; of parts that overlap the later one begins later.
pub(super) fn spliced(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut made = String::with_capacity(text.len());
    let mut done = 0;
    for (span, new) in edits {
        made.push_str(text.get(done..span.start).unwrap_or_default());
        made.push_str(&new);
        done = done.max(span.end);
    }
    made.push_str(text.get(done..).unwrap_or_default());
    made
}

//! Columns of text.

use std::fmt::Write;

use crate::text;

/// The last column keeps at least so much, however narrow the terminal is.
const LEAST: usize = 20;

/// Lays out rows for a terminal of so many columns: the last cells are shortened where a row would go
/// on in a second line, and say so with an ellipsis.
pub(crate) fn fitted(header: &[&str], rows: &[Vec<String>], columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return table(header, rows);
    };
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(header.get(column).map_or(0, |cell| cell.len()))
    };
    let last = header.len().saturating_sub(1);
    let before: usize = (0..last).map(|column| width(column) + 2).sum();
    let left = columns.saturating_sub(before).max(LEAST);
    let mut rows = rows.to_vec();
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(last)) {
        *cell = text::shorten(cell, left).into_owned();
    }
    table(header, &rows)
}

/// Lays out rows: every column but the last is as wide as its widest cell. Cells must be escaped.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let header = (!header.is_empty()).then_some(header);
    let all = || header.iter().chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = all().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_line_of_the_terminal_and_whole_for_programs() {
        let rows = [vec!["a".to_owned(), "word ".repeat(20)]];
        let narrow = fitted(&["NAME", "SUMMARY"], &rows, Some(40));
        let longest = narrow.lines().map(|line| line.chars().count()).max();
        assert_eq!(longest, Some(40), "{narrow}");
        assert!(narrow.ends_with("…\n"), "{narrow}");
        let whole = fitted(&["NAME", "SUMMARY"], &rows, None);
        assert!(whole.contains("word ".repeat(20).trim_end()), "{whole}");
    }
}
